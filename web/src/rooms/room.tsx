import { useMemo, useRef } from "preact/hooks";
import { useRead } from "../read";
import { Link, place, setQuery, to } from "../route";
import { Heading } from "../ui/heading";
import { statusOf } from "../ui/places";
import { Pending } from "../ui/said";
import { Line } from "../ui/text";
import type { Message, RoomStatus, Task } from "../wire";
import { About } from "./about";
import { Composer } from "./composer";
import type { Event } from "./entry";
import { Muted, PauseRoom, Paused } from "./limits";
import { Thread } from "./thread";
import { Timeline } from "./timeline";

const statusKinds = ["rooms", "seats", "tasks", "agents", "leases", "runs", "decisions", "spawns"] as const;

const number = (text: string | null) => (text !== null && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : 0);

// What happened in the room and no message tells of: who took a seat, and which task ended
// without a word.
function useEvents(status: RoomStatus | null, id: string): Event[] {
  const tasks = useRead<(Task & { result_message_id: number | null })[]>(`/v1/tasks?room_id=${encodeURIComponent(id)}&limit=300`, ["tasks"]).value;
  return useMemo(() => {
    const seats = (status?.seats ?? []).map((seat) => ({ at: seat.joined_at, agent: seat.agent_id, words: "took a seat" }));
    const ended = (tasks ?? []).flatMap((task) =>
      task.completed_at && task.result_message_id === null
        ? [{ at: task.completed_at, agent: task.assignee ?? "", words: `task #${task.task_id} is ${task.status}: ${task.title}` }]
        : [],
    );
    return [...seats, ...ended].sort((a, b) => (a.at < b.at ? -1 : 1));
  }, [status, tasks]);
}

// OneRoom shows a room live: what was said and happened, who is here, and a way to speak.
export function OneRoom({ id }: { id: string }) {
  const { query } = place.value;
  const status = useRead<RoomStatus>(statusOf(id), statusKinds, { room: id });
  const events = useEvents(status.value, id);
  const thread = query.get("thread") ?? "";
  const reply = number(query.get("reply"));
  const aside = query.get("about") === "1";
  const room = status.value?.room;
  const here = useRef(new Set<string>());
  here.current = new Set(["operator", ...(status.value?.seats ?? []).map((seat) => seat.agent_id)]);
  // These are the messages that the log of the room has.
  const wants = (message: Message) => message.room_id === id && (message.to_agent === null || here.current.has(message.to_agent));
  if (!room) {
    return (
      <>
        <Heading title={id} />
        <Pending error={status.error} />
        <p>
          <Link to={to("rooms")}>All rooms</Link>
        </p>
      </>
    );
  }
  return (
    <div class={aside ? "room with-about" : "room"}>
      <header class="room-head">
        <Heading title={room.name}>
          <Line>{room.name}</Line>
        </Heading>
        <span class="soft grow cut">
          <Line>{status.value?.project.name ?? ""}</Line>
          {room.topic && (
            <>
              {" · "}
              <Line>{room.topic}</Line>
            </>
          )}
        </span>
        {room.archived && <span class="badge">archived</span>}
        <PauseRoom room={room} />
        <Link to={to("rooms", room.room_id, "at")} title="what the room was like at any moment">
          Replay
        </Link>
        <button type="button" data-look class="about-switch" aria-pressed={aside} onClick={() => setQuery({ about: aside ? "" : "1" })}>
          About
        </button>
      </header>
      <div class="room-main">
        <Paused room={room} />
        <Muted room={room} />
        <Timeline
          path={`/v1/log?direct=true&room_id=${encodeURIComponent(id)}`}
          wants={wants}
          events={events}
          at={number(query.get("at"))}
          label="Messages of the room"
        />
        <Composer room={room} seats={status.value?.seats ?? []} reply={thread ? 0 : reply} />
      </div>
      {thread ? <Thread id={thread} room={room} seats={status.value?.seats ?? []} reply={reply} /> : <About room={room} status={status.value} />}
    </div>
  );
}
