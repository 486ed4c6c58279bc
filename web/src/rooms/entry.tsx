import { Link, setQuery, to } from "../route";
import { Attachments } from "../ui/attachments";
import { Body } from "../ui/body";
import { Person } from "../ui/person";
import { Line } from "../ui/text";
import { Age, Time } from "../ui/time";
import type { Message } from "../wire";

// What a message of a room is, besides words.
interface Sort {
  word: string;
  look: string;
}

const sorts: Record<string, Sort> = {
  task: { word: "task", look: "accent" },
  task_request: { word: "task", look: "accent" },
  task_result: { word: "result", look: "good" },
  artifact: { word: "artifact", look: "accent" },
  handoff: { word: "hand-over", look: "warn" },
};

function sortOf(message: Message): Sort | undefined {
  if (message.metadata["decision"]) return { word: "decision", look: "good" };
  if (message.metadata["artifact"]) return sorts["artifact"];
  if (message.metadata["handoff"]) return sorts["handoff"];
  if (message.metadata["run"]) return { word: "run", look: "accent" };
  if (message.metadata["task_completed"]) return { word: "done", look: "good" };
  return sorts[message.kind];
}

export const replyTo = (message: Message) => setQuery({ reply: `${message.id}`, thread: message.thread_id ?? "" });

interface EntryProps {
  message: Message;
  same: boolean; // it follows one of the same agent and shows no name
  found?: boolean; // the address names it
  past?: boolean; // it is shown as it was, and leads nowhere
}

// Entry is one message.
export function Entry({ message, same, found = false, past = false }: EntryProps) {
  const sort = sortOf(message);
  const direct = message.to_agent !== null;
  const look = ["said", same && "same", direct && "direct", sort && `sort-${sort.look}`, message.authority === "operator" && "own", found && "found"];
  return (
    <li class={look.filter(Boolean).join(" ")} data-id={message.id} data-row="" tabIndex={-1} aria-current={found ? "true" : undefined}>
      <div class="said-head">
        {!same && <Person id={message.from_agent} authority={message.authority} />}
        {direct && message.to_agent && (
          <>
            <span class="badge badge-warn" title="Only its sender, its recipient and you see it.">
              direct
            </span>
            <span class="soft">to</span> <Person id={message.to_agent} />
          </>
        )}
        {sort && (
          <span class={`badge badge-${sort.look}`}>
            {sort.word}
            {message.kind.startsWith("task") && message.kind !== "task_result" && ` #${message.id}`}
          </span>
        )}
        {message.reply_to !== null && past && <span class="soft">answers #{message.reply_to}</span>}
        {message.reply_to !== null && !past && (
          <Link class="soft" to={`?at=${message.reply_to}`}>
            answers #{message.reply_to}
          </Link>
        )}
        {message.thread_id && past && (
          <span class="soft small">
            ⤷ <Line>{message.thread_id}</Line>
          </span>
        )}
        {message.thread_id && !past && (
          <button type="button" data-look class="quiet small" data-open onClick={() => setQuery({ thread: message.thread_id ?? "", reply: "" })}>
            ⤷ <Line>{message.thread_id}</Line>
          </button>
        )}
        {past ? (
          <span class="end said-at soft" title={`message ${message.id}`}>
            <Time at={message.ts} />
          </span>
        ) : (
          <Doors message={message} />
        )}
      </div>
      <Body text={message.body} />
      <Attachments of={message.attachments} />
    </li>
  );
}

// Doors are the ways on from a message: to answer it, to the room as it was then, and to the
// message itself.
const Doors = ({ message }: { message: Message }) => (
  <span class="end said-at">
    <button type="button" data-look class="quiet small reply" onClick={() => replyTo(message)}>
      Reply
    </button>
    {message.room_id && (
      <Link to={to("rooms", message.room_id, "at", message.ts)} class="soft small reply" title="the room at this moment">
        Then
      </Link>
    )}
    <Link to={`?at=${message.id}`} class="soft" title={`message ${message.id}`}>
      <Time at={message.ts} />
    </Link>
  </span>
);

export interface Event {
  at: string;
  agent: string;
  words: string;
}

// Happening is a line of the timeline that no message tells of.
export const Happening = ({ event }: { event: Event }) => (
  <li class="happening">
    <span aria-hidden="true">·</span> {event.agent && <Person id={event.agent} />} <Line>{event.words}</Line>{" "}
    <span class="soft">
      <Age at={event.at} /> ago
    </span>
  </li>
);

const dayOf = new Intl.DateTimeFormat(undefined, { weekday: "long", year: "numeric", month: "long", day: "numeric" });

export const Day = ({ at }: { at: string }) => (
  <li class="day">
    <span>{dayOf.format(new Date(at))}</span>
  </li>
);
