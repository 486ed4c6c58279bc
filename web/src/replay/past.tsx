import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { Day, Entry } from "../rooms/entry";
import { Empty, Pending } from "../ui/said";
import type { Message } from "../wire";
import { Looker, type Source } from "./looker";
import { Player } from "./player";
import { State } from "./state";
import type { Moment, When } from "./types";
import type { ComponentChildren } from "preact";
import "./replay.css";

const sameDay = (a: Message, b: Message) => new Date(a.ts).toDateString() === new Date(b.ts).toDateString();

// Words are the messages up to a moment, with the latest in sight.
function Words({ moment, more }: { moment: Moment; more: ComponentChildren }) {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    if (box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [moment]);
  return (
    <div class="timeline-box">
      <div class="timeline" ref={box} tabIndex={0} role="region" aria-label="Messages up to the moment">
        {moment.messages.length === 0 ? <Empty>Nothing had been said here.</Empty> : more}
        <ol>
          {moment.messages.map((message, i) => {
            const before = moment.messages[i - 1];
            const day = !before || !sameDay(before, message);
            const same = !day && before.from_agent === message.from_agent && before.to_agent === message.to_agent && before.authority === message.authority;
            return [day && <Day key={`day ${message.id}`} at={message.ts} />, <Entry key={message.id} message={message} same={same} past />];
          })}
        </ol>
      </div>
    </div>
  );
}

interface PastProps {
  source: Source;
  begin: When; // the moment that is shown first
  arrived: (position: number) => void; // is told where the person has gone, once they rest
  more?: (moment: Moment) => ComponentChildren; // stands above the messages
  note?: ComponentChildren; // stands beside what is told of a moment that is not known whole
  children?: (moment: Moment) => ComponentChildren; // more buttons
}

const rest = 400; // ms without a move, after which a person has arrived

// Past shows what a room was like at any moment that a source can answer.
export function Past({ source, begin, arrived, more, note, children }: PastProps) {
  const looker = useMemo(() => new Looker(source), [source]);
  const [position, setPosition] = useState<number | null>(null);
  const still = useRef(0);
  const moment = looker.moment.value;
  const key = JSON.stringify(begin);
  useEffect(() => {
    setPosition(typeof begin === "object" && "ts" in begin ? begin.ts : null);
    looker.look(begin);
  }, [looker, key]);
  useEffect(
    () => () => {
      clearTimeout(still.current);
      looker.end();
    },
    [looker],
  );
  if (!moment) return <Pending error={looker.failed.value} />;
  const first = Date.parse(moment.first_ts);
  const last = Math.max(first, Date.parse(moment.last_ts));
  const at = Math.min(last, Math.max(first, position ?? (begin === "latest" ? last : Date.parse(moment.ts))));
  const move = (ts: number) => {
    const whole = Math.round(ts);
    setPosition(whole);
    looker.look({ ts: whole });
    clearTimeout(still.current);
    still.current = window.setTimeout(() => arrived(whole), rest);
  };
  return (
    <>
      <div class="room-main">
        <Player moment={moment} position={at} first={first} last={last} move={move}>
          {children?.(moment)}
        </Player>
        {looker.failed.value !== null && <Pending error={looker.failed.value} />}
        <Words moment={moment} more={more?.(moment)} />
      </div>
      <State moment={moment} note={note} />
    </>
  );
}
