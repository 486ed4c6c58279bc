import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { useKeys } from "../keys";
import { Alert } from "../ui/said";
import { span } from "../ui/time";
import type { Moment } from "./types";
import { said, typed } from "./when";

const speeds = [1, 10, 60, 100];
const tick = 200; // ms between two pictures of what is played
const silence = 4_000; // ms that a person waits for the next message before it is skipped to

interface PlayerProps {
  moment: Moment | null; // the latest that was read
  position: number; // where the slider is
  first: number;
  last: number;
  move: (ts: number) => void; // to another time
  children?: ComponentChildren; // more buttons
}

// Player moves through the time of a room: by a slider, by a time that is typed, from message to
// message, and by itself.
export function Player({ moment, position, first, last, move, children }: PlayerProps) {
  const [playing, setPlaying] = useState(false);
  const [speed, setSpeed] = useState(60);
  const [skipped, setSkipped] = useState("");
  const [refused, setRefused] = useState("");
  const now = useRef({ moment, position });
  now.current = { moment, position };

  const to = (ts: number) => {
    setSkipped("");
    setRefused("");
    move(Math.min(last, Math.max(first, ts)));
  };
  const advance = (passed: number) => {
    const { moment, position } = now.current;
    let next = position + passed * speed;
    const message = moment?.next_ts ? Date.parse(moment.next_ts) : last;
    if (message - next > silence * speed) {
      setSkipped(`Skipped ${span(message - next)} in which nobody said anything.`);
      next = message;
    }
    move(Math.min(last, next));
    if (next >= last) setPlaying(false);
  };
  useEffect(() => {
    if (!playing) return;
    let before = performance.now();
    const timer = setInterval(() => {
      const at = performance.now();
      advance(at - before);
      before = at;
    }, tick);
    return () => clearInterval(timer);
  }, [playing, speed]);

  const times = (moment?.messages ?? []).map((one) => Date.parse(one.ts)).filter((ts) => ts < Math.min(position, Date.parse(moment?.ts ?? "")));
  const earlier = times.at(-1);
  const later = moment?.next_ts ? Date.parse(moment.next_ts) : undefined;
  const step = (ts: number | undefined) => {
    setPlaying(false);
    if (ts !== undefined) to(ts);
  };
  const play = () => {
    if (!playing && position >= last) to(first);
    setPlaying(!playing);
  };
  const ask = (form: HTMLFormElement) => {
    const ts = typed(String(new FormData(form).get("when") ?? ""), position);
    if (ts === null) return setRefused("Give a time like 14:05, or a day and a time like 2026-03-02 14:05.");
    setPlaying(false);
    to(ts);
    if (ts < first) setRefused(`The room begins at ${said(first)}.`);
    else if (ts > last) setRefused(`Nothing has happened since ${said(last)}.`);
  };
  useKeys("Replay", [
    { keys: "p", what: "play, or stop", run: play },
    { keys: "[", what: "to the message before", run: () => step(earlier) },
    { keys: "]", what: "to the next message", run: () => step(later) },
  ]);

  return (
    <div class="player" role="group" aria-label="Time">
      <input
        type="range"
        aria-label="Moment"
        aria-valuetext={said(position)}
        min={first}
        max={last}
        step="any"
        value={position}
        onInput={(event) => {
          setPlaying(false);
          to(Number(event.currentTarget.value));
        }}
      />
      <div class="row">
        <button type="button" data-look class="main" aria-pressed={playing} title="key p" onClick={play}>
          {playing ? "Stop" : "Play"}
        </button>
        <select aria-label="Speed" value={speed} onChange={(event) => setSpeed(Number(event.currentTarget.value))}>
          {speeds.map((one) => (
            <option key={one} value={one}>
              {one}×
            </option>
          ))}
        </select>
        <button type="button" data-look class="quiet" aria-label="Message before" title="key [" disabled={earlier === undefined} onClick={() => step(earlier)}>
          ‹
        </button>
        <button type="button" data-look class="quiet" aria-label="Next message" title="key ]" disabled={later === undefined} onClick={() => step(later)}>
          ›
        </button>
        <output class="strong">{said(position)}</output>
        {children}
        <form
          class="row end"
          onSubmit={(event) => {
            event.preventDefault();
            ask(event.currentTarget);
          }}
        >
          <label class="row">
            What happened at <input name="when" placeholder="14:05" autocomplete="off" required />
          </label>
          <button type="submit" data-look>Show</button>
        </form>
      </div>
      <p role="status" class="soft">
        {skipped}
      </p>
      <Alert>{refused}</Alert>
    </div>
  );
}
