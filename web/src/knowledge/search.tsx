import { useEffect, useState } from "preact/hooks";
import { whole } from "../api";
import { connected } from "../live";
import { useRead } from "../read";
import { Link, place, setQuery, to } from "../route";
import { Attachments } from "../ui/attachments";
import { Heading } from "../ui/heading";
import { Person } from "../ui/person";
import { RoomName, Then } from "../ui/places";
import { Row } from "../ui/rows";
import { Empty, Pending } from "../ui/said";
import { Line, Marked, Text } from "../ui/text";
import { Age, Time } from "../ui/time";
import type { Message } from "../wire";
import { By } from "./decisions";
import type { Found, FoundType } from "./types";

const types: readonly FoundType[] = ["message", "decision", "artifact", "memory"];
const most = 100; // rows, as many as the hub gives

// SearchField keeps what is looked for in the address.
export function SearchField({ q }: { q: string }) {
  const [text, setText] = useState(q);
  useEffect(() => setText(q), [q]);
  useEffect(() => {
    if (text === q) return;
    const timer = setTimeout(() => setQuery({ q: text }), 250);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <form
      role="search"
      class="grow"
      onSubmit={(event) => {
        event.preventDefault();
        setQuery({ q: text });
      }}
    >
      <input
        data-search
        type="search"
        class="wide"
        aria-label="Search messages, decisions, artifacts and memory"
        placeholder='search everything: words, "a phrase", -without'
        value={text}
        maxLength={1000}
        onInput={(event) => setText(event.currentTarget.value)}
      />
    </form>
  );
}

interface State {
  of: string; // what was asked for
  found: Found[] | null;
  behind: number;
  error: unknown;
}

// Results shows what a search found. It is as of the moment of the search: new rows do not move what
// a person reads.
export function Results({ q, room }: { q: string; room: string }) {
  const [state, setState] = useState<State>({ of: "", found: null, behind: 0, error: null });
  const [again, setAgain] = useState(0);
  const type = place.value.query.get("type") ?? "";
  const narrow = (room && `&room_id=${encodeURIComponent(room)}`) + (type && `&type=${encodeURIComponent(type)}`);
  const asked = `/v1/search?limit=${most}&q=${encodeURIComponent(q)}${narrow}`;
  useEffect(() => {
    const stop = new AbortController();
    whole<Found[]>("GET", asked, undefined, stop.signal).then(
      (said) => setState({ of: asked, found: said.result, behind: said.behind ?? 0, error: null }),
      (error) => !stop.signal.aborted && setState({ of: asked, found: null, behind: 0, error }),
    );
    return () => stop.abort();
  }, [asked, again, connected.value]);
  const { found, behind, error } = state.of === asked ? state : { found: null, behind: 0, error: null };
  return (
    <section aria-label="Results">
      <div class="row">
        <span class="soft" role="status">
          {found && `${found.length === most ? `the best ${most}` : found.length} ${found.length === 1 ? "row" : "rows"} found`}
          {found && (behind > 0 ? `; the index is ${behind} rows behind` : "; the index is up to date")}
        </span>
        <select aria-label="Type" value={type} onChange={(event) => setQuery({ type: event.currentTarget.value })}>
          <option value="">everything</option>
          {types.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
        <button type="button" data-look class="quiet" onClick={() => setAgain(again + 1)}>
          Search again
        </button>
      </div>
      {!found && <Pending error={error} />}
      {found?.length === 0 && (
        <Empty>
          Nothing has these words. All words must occur; fewer words find more. Direct messages are found only by the agents that
          they concern.
        </Empty>
      )}
      <ul class="rows">
        {found?.map((one) => (
          <Result key={one.type + one.id} one={one} />
        ))}
      </ul>
    </section>
  );
}

// placeOf is where a found row is shown.
function placeOf(one: Found): string {
  if (one.type === "memory" && one.room_id) {
    const narrow = one.title ? `&key=${encodeURIComponent(one.title)}` : "";
    return `${to("knowledge")}?tab=memory&room=${one.room_id}${narrow}`;
  }
  return to("knowledge", one.id);
}

const Result = ({ one }: { one: Found }) => (
  <Row class="known">
    <span class="badge">{one.type}</span>{" "}
    <Link to={placeOf(one)} class="strong" data-open="">
      <Line>{one.title || (one.type === "message" ? `#${one.id}` : one.id)}</Line>
    </Link>
    <p>
      <Marked marks={one.matches}>{one.snippet}</Marked>
    </p>
    <By by={one.from_agent} room={one.room_id ?? ""} at={one.ts} />
  </Row>
);

// OneMessage shows a whole message, with what is attached.
export function OneMessage({ id }: { id: string }) {
  const { value: one, error } = useRead<Message>(`/v1/messages/${encodeURIComponent(id)}`, []);
  return (
    <article class="known-one">
      <Heading title={`Message #${id}`} />
      {!one && <Pending error={error} />}
      {one && (
        <>
          <p class="row">
            <Person id={one.from_agent} authority={one.authority} />
            {one.to_agent && (
              <>
                to <Person id={one.to_agent} />
              </>
            )}
            <span class="soft">
              {one.room_id && (
                <>
                  in <RoomName id={one.room_id} /> ·{" "}
                </>
              )}
              {one.kind.replace("_", " ")} · <Time at={one.ts} /> (<Age at={one.ts} /> ago)
            </span>
          </p>
          {one.room_id && (
            <p class="row">
              <Link to={`${to("rooms", one.room_id)}?at=${one.id}`}>in its place</Link>
              <Then room={one.room_id} at={one.ts} />
            </p>
          )}
          {one.reply_to && (
            <p class="soft">
              an answer to <Link to={to("knowledge", `${one.reply_to}`)}>#{one.reply_to}</Link>
            </p>
          )}
          <div class="prose">
            <Text>{one.body}</Text>
          </div>
          <Attachments of={one.attachments} />
        </>
      )}
    </article>
  );
}
