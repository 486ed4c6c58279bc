import { useEffect, useRef, useState } from "preact/hooks";
import { kept } from "../kept";
import { useKeys } from "../keys";
import { useRead } from "../read";
import { Link, to } from "../route";
import { Pending } from "../ui/said";
import { Line } from "../ui/text";
import { Age } from "../ui/time";
import type { Decision, Message, Room, Task } from "../wire";

// A person has looked as long as the page was before their eyes. What happened since then is told
// when they come back, until they leave again or say that they have seen it.

interface Mark {
  id: number; // of the last message
  at: string;
}

const shortest = 60_000; // ms away from the page, to be told of

const looked = kept("hubcli.looked", "");

function read(): Mark | null {
  try {
    const mark = JSON.parse(looked.value || "null") as Mark | null;
    const away = Date.now() - Date.parse(mark?.at ?? "");
    return mark && Number.isSafeInteger(mark.id) && away >= shortest ? mark : null;
  } catch {
    return null;
  }
}

const most = 1000; // messages that are counted

const ended = (tasks: readonly Task[], at: string) => tasks.filter((task) => (task.completed_at ?? "") > at);

const many = (n: number, one: string, more = one + "s") => `${n} ${n === 1 ? one : more}`;

function Digest({ mark, latest, rooms }: { mark: Mark; latest: number; rooms: Room[] }) {
  const [last] = useState(latest);
  const read = useRead<Message[]>(`/v1/log?direct=true&since_id=${mark.id}&limit=${most}`, ["messages"]);
  const all = read.upto >= last; // else the hub has more of them
  const decided = useRead<Decision[]>("/v1/decisions?limit=100", ["decisions"]);
  const finished = useRead<Task[]>("/v1/tasks?status=done&limit=300", ["tasks"]);
  const broken = useRead<Task[]>("/v1/tasks?status=failed&limit=300", ["tasks"]);
  if (!read.value || !decided.value || !finished.value || !broken.value) {
    return <Pending error={read.error ?? decided.error ?? finished.error ?? broken.error} />;
  }
  const others = read.value.filter((message) => message.authority === "agent");
  const decisions = decided.value.filter((one) => one.created_at > mark.at);
  const [done, failed] = [ended(finished.value, mark.at), ended(broken.value, mark.at)];
  if (all && others.length + decisions.length + done.length + failed.length === 0) {
    // Tasks are read from the newest on; an older one may have ended last.
    return <p class="soft">{finished.next || broken.next ? "Nothing was said or decided, and none of the newest tasks has ended." : "Nothing has happened."}</p>;
  }
  const perRoom = new Map<string, number>();
  for (const { room_id } of others) if (room_id) perRoom.set(room_id, (perRoom.get(room_id) ?? 0) + 1);
  return (
    <ul class="digest">
      {(others.length > 0 || !all) && (
        <li>
          {others.length > 0 ? (all ? "" : "at least ") + many(others.length, "message") : "more messages than were counted"}
          {[...perRoom].slice(0, 5).map(([id, n]) => (
            <span key={id}>
              {" · "}
              <Link to={to("rooms", id)}>
                <Line>{rooms.find((room) => room.room_id === id)?.name ?? id}</Line>
              </Link>{" "}
              {n}
            </span>
          ))}
        </li>
      )}
      {decisions.slice(0, 5).map((one) => (
        <li key={one.decision_id}>
          <span class="badge badge-good">decided</span>{" "}
          <Link to={to("rooms", one.room_id)}>
            <Line>{one.title}</Line>
          </Link>
        </li>
      ))}
      {decisions.length > 5 && <li>and {decided.next && "at least "}{many(decisions.length - 5, "more decision")}</li>}
      {failed.slice(0, 5).map((task) => (
        <li key={task.task_id}>
          <span class="badge badge-bad">failed</span> #{task.task_id} <Line>{task.title}</Line>
        </li>
      ))}
      {failed.length > 5 && <li>and {many(failed.length - 5, "more failed task")}</li>}
      {done.length > 0 && (
        <li>
          <span class="badge badge-good">done</span> {many(done.length, "task")}:{" "}
          <Line>{done.slice(0, 3).map((task) => task.title).join(" · ")}</Line>
          {done.length > 3 && " …"}
        </li>
      )}
    </ul>
  );
}

// SinceYouLooked tells what has happened while the person was away.
export function SinceYouLooked({ latest, rooms }: { latest: number | null; rooms: Room[] }) {
  const [mark, setMark] = useState(read);
  const newest = useRef(latest);
  newest.current = latest;
  const look = () => {
    if (newest.current !== null) looked.keep(JSON.stringify({ id: newest.current, at: new Date().toISOString() }));
  };
  const seen = () => {
    look();
    setMark(null);
  };
  useKeys("Now", [{ keys: "m", what: "I have seen what happened", run: seen }]);
  useEffect(() => {
    const turn = () => {
      if (document.hidden) look();
      else setMark(read());
    };
    document.addEventListener("visibilitychange", turn);
    addEventListener("pagehide", look);
    return () => {
      document.removeEventListener("visibilitychange", turn);
      removeEventListener("pagehide", look);
      look();
    };
  }, []);
  if (!mark || (latest ?? 0) < mark.id) return null;
  return (
    <section aria-labelledby="since" class="since">
      <h2 id="since">
        Since you looked, <Age at={mark.at} /> ago
        <button type="button" class="quiet end" onClick={seen} title="key m">
          Seen
        </button>
      </h2>
      <Digest mark={mark} latest={latest ?? 0} rooms={rooms} />
    </section>
  );
}
