import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Source } from "./replay/looker";
import { Past } from "./replay/past";
import type { Moment } from "./replay/types";
import { addressOf, said, whenOf } from "./replay/when";
import "./style/tokens.css";
import "./style/base.css";
import "./style/parts.css";
import "./rooms/rooms.css";
import "./saved.css";
import { Line, line } from "./ui/text";
import type { Message } from "./wire";

// The page of a replay that was saved as a file: all it shows is in the file.

interface Saved {
  name: string;
  project: string;
  made_at: string;
  first_ts: string;
  last_ts: string;
  history_from_ts: string;
  left_out: boolean;
  from_capsule: boolean;
  messages: Message[];
  rows: unknown[];
  lists: number[][]; // places in rows
  moments: { ts: string; seq: number; kept: boolean; lists: Record<string, number>; counts: Record<string, number> }[];
}

const shown = 100; // messages before a moment

// countUpTo returns how many of the rows, which rise by time, are not after ts.
function countUpTo(rows: readonly { ts: string }[], ts: number): number {
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (Date.parse(rows[middle]!.ts) <= ts) low = middle + 1;
    else high = middle;
  }
  return low;
}

function sourceOf(saved: Saved): Source {
  return async (when) => {
    const ts = when === "latest" ? Date.parse(saved.last_ts) : "ts" in when ? when.ts : Date.parse(saved.moments.findLast((one) => one.seq <= when.seq)?.ts ?? saved.first_ts);
    const beside = saved.moments[Math.max(0, countUpTo(saved.moments, ts) - 1)]!;
    const said = countUpTo(saved.messages, ts);
    const lists = Object.fromEntries(Object.entries(beside.lists).map(([name, place]) => [name, saved.lists[place]!.map((row) => saved.rows[row])]));
    const { first_ts, last_ts, history_from_ts } = saved;
    return {
      ...lists,
      ...beside.counts,
      room_id: "",
      seq: beside.seq,
      ts: addressOf(ts),
      kept: beside.kept,
      first_ts,
      last_ts,
      history_from_ts,
      next_ts: saved.messages[said]?.ts ?? null,
      messages: saved.messages.slice(Math.max(0, said - shown), said),
    } as unknown as Moment;
  };
}

// address is the moment that the address names behind its number sign.
const address = () => whenOf(location.hash.slice(1));

const FromCapsule = () => (
  <p class="banner">
    This file was made of what an export of the project holds: the latest 20,000 messages and the latest 1,000 things of each kind. When tasks and runs began and
    ended is told by their times. Who had them in between, seats, claims, file locks and pauses are not in it.
  </p>
);

function App({ saved, source }: { saved: Saved; source: Source }) {
  const [begin, setBegin] = useState(address);
  useEffect(() => {
    const come = () => setBegin(address());
    addEventListener("hashchange", come);
    return () => removeEventListener("hashchange", come);
  }, []);
  const [aside, setAside] = useState(false);
  return (
    <main>
      <div class={aside ? "room replay with-about" : "room replay"}>
        <header class="room-head">
          <h1>
            <Line>{saved.name}</Line>
          </h1>
          <span class="soft grow cut">
            <Line>{saved.project}</Line>, as it was up to {said(Date.parse(saved.made_at))}
          </span>
          <button type="button" data-look class="about-switch" aria-pressed={aside} onClick={() => setAside(!aside)}>
            What there was
          </button>
        </header>
        <Past
          source={source}
          begin={begin}
          arrived={(position) => history.replaceState(null, "", "#" + addressOf(position))}
          note={saved.from_capsule ? <FromCapsule /> : undefined}
          more={(moment) =>
            moment.messages.length === shown && (
              <p class="beginning">
                These are the last {shown} messages before the moment.
                {saved.left_out && ` The file has the latest ${saved.messages.length.toLocaleString()} of the room.`}
              </p>
            )
          }
        />
      </div>
    </main>
  );
}

const saved = JSON.parse(document.getElementById("replay")!.textContent!) as Saved;
document.title = line(saved.name);
const app = document.getElementById("app")!;
app.textContent = "";
render(<App saved={saved} source={sourceOf(saved)} />, app);
