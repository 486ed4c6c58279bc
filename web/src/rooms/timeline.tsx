import type { VNode } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { useKeys } from "../keys";
import { listen } from "../live";
import { Empty, Pending } from "../ui/said";
import type { Message } from "../wire";
import { Day, Entry, type Event, Happening } from "./entry";
import { Feed } from "./feed";

const near = 1_200; // pixels to the end of what is drawn, when more is drawn
const together = 5 * 60_000; // ms between messages of one agent that share its name
const again = 2_000; // ms after a reading that failed
const stick = 48; // pixels from the end within which the latest is followed

const sameDay = (a: string, b: string) => new Date(a).toDateString() === new Date(b).toDateString();

// A drawn message is the same element as long as it stands the same, so that moving the part
// costs only what is new in it.
type Kept = WeakMap<Message, { form: string; node: VNode }>;

function draw(kept: Kept, rows: readonly Message[], events: readonly Event[], whole: { start: boolean; end: boolean }, found: number): VNode[] {
  const nodes: VNode[] = [];
  const first = whole.start ? "" : (rows[0]?.ts ?? "");
  const last = whole.end ? "\uffff" : (rows.at(-1)?.ts ?? "");
  let left = events.filter((event) => event.at >= first && event.at <= last);
  let before: Message | null = null;
  const tellUpTo = (ts: string) => {
    while (left[0] && left[0].at < ts) {
      nodes.push(<Happening key={`${left[0].at} ${left[0].agent} ${left[0].words}`} event={left[0]} />);
      left = left.slice(1);
      before = null;
    }
  };
  for (const message of rows) {
    tellUpTo(message.ts);
    const prior: Message | null = before;
    if (!prior || !sameDay((prior as Message).ts, message.ts)) nodes.push(<Day key={`day ${message.id}`} at={message.ts} />);
    const same =
      prior !== null &&
      (prior as Message).from_agent === message.from_agent &&
      (prior as Message).to_agent === message.to_agent &&
      (prior as Message).authority === message.authority &&
      Date.parse(message.ts) - Date.parse((prior as Message).ts) < together;
    const form = `${same} ${message.id === found}`;
    let one = kept.get(message);
    if (one?.form !== form) {
      one = { form, node: <Entry key={message.id} message={message} same={same} found={message.id === found} /> };
      kept.set(message, one);
    }
    nodes.push(one.node);
    before = message;
  }
  tellUpTo("\uffff");
  return nodes;
}

// Timeline shows the messages that a path of the log answers, and what else happened, in one order,
// live. Only a part is in the document, however many there are.
export function Timeline({ path, wants, events, at, label }: { path: string; wants: (message: Message) => boolean; events: readonly Event[]; at: number; label: string }) {
  const box = useRef<HTMLDivElement>(null);
  const kept = useMemo<Kept>(() => new WeakMap(), [path]);
  const [sticks, setSticks] = useState(at === 0);
  const state = useRef({ sticks: at === 0, anchor: null as { id: string; top: number } | null, arrived: at === 0 });

  // hold notes which row the person sees first, and where, so that it stays there.
  const hold = () => {
    const view = box.current;
    if (!view || state.current.sticks) return;
    const top = view.getBoundingClientRect().top;
    for (const row of view.querySelectorAll<HTMLElement>("[data-id]")) {
      const place = row.getBoundingClientRect();
      if (place.bottom < top) continue;
      state.current.anchor = { id: row.dataset["id"] ?? "", top: place.top - top };
      return;
    }
  };
  const feed = useMemo(() => new Feed(path, at, hold), [path, at]);

  useEffect(() => {
    state.current = { sticks: at === 0, anchor: null, arrived: at === 0 };
    setSticks(at === 0);
    const end = listen({
      message(one) {
        if (one === null) void feed.begin(state.current.sticks ? 0 : undefined);
        else if (wants(one)) feed.add(one, state.current.sticks);
      },
      changed(notice) {
        if (notice === null && feed.failed.value) return feed.begin();
      },
    });
    void feed.begin();
    return () => {
      end();
      feed.end();
    };
  }, [feed]);

  const rows = feed.drawn.value;
  useMemo(hold, [events]); // what they add is not in the document yet
  useLayoutEffect(() => {
    const view = box.current;
    if (!view) return;
    const { anchor, arrived } = state.current;
    if (!arrived && feed.ready.value) {
      const found = view.querySelector<HTMLElement>(`[data-id="${at}"]`);
      state.current.arrived = true;
      found?.scrollIntoView({ block: "center" });
      return;
    }
    if (state.current.sticks) view.scrollTop = view.scrollHeight;
    else if (anchor) {
      const row = view.querySelector<HTMLElement>(`[data-id="${anchor.id}"]`);
      if (row) view.scrollTop += row.getBoundingClientRect().top - view.getBoundingClientRect().top - anchor.top;
    }
    state.current.anchor = null;
  }, [rows, events]);

  // The latest stays in sight when the place for it becomes smaller: a field below grows.
  useEffect(() => {
    const view = box.current;
    if (!view) return;
    const watch = new ResizeObserver(() => {
      if (state.current.sticks) view.scrollTop = view.scrollHeight;
    });
    watch.observe(view);
    return () => watch.disconnect();
  }, [feed]);

  // A page of few messages leaves nothing to scroll. Then more is read without a move of the person.
  useEffect(() => {
    const view = box.current;
    if (!view || !feed.ready.value || feed.busy.value) return;
    const fill = () => feed.fill(view.scrollTop < near, view.scrollHeight - view.scrollTop - view.clientHeight < near);
    if (!feed.failed.value) return fill();
    const later = setTimeout(fill, again);
    return () => clearTimeout(later);
  }, [feed, rows, feed.ready.value, feed.busy.value, feed.atStart.value, feed.atEnd.value]);

  // The end may become known while the person already looks at the last row.
  useEffect(() => {
    const view = box.current;
    if (!view || !feed.atEnd.value || !state.current.arrived || view.scrollHeight - view.scrollTop - view.clientHeight >= stick) return;
    state.current.sticks = true;
    setSticks(true);
    feed.missed.value = 0;
  }, [feed, feed.atEnd.value]);

  const scrolled = () => {
    const view = box.current;
    if (!view) return;
    const below = view.scrollHeight - view.scrollTop - view.clientHeight;
    const now = feed.atEnd.value && below < stick;
    state.current.sticks = now;
    if (now !== sticks) setSticks(now);
    if (now) feed.missed.value = 0;
    else if (view.scrollTop < near && !feed.atStart.value) feed.up();
    else if (below < near && !feed.atEnd.value) feed.down();
  };

  const toEnd = () => {
    state.current.sticks = true;
    setSticks(true);
    feed.missed.value = 0;
    void feed.toEnd().then(() => box.current?.scrollTo(0, box.current.scrollHeight));
  };
  useKeys("Room", [{ keys: "e", what: "the latest messages", run: toEnd }]);

  if (feed.failed.value && rows.length === 0) return <Pending error={feed.failed.value} />;
  return (
    <div class="timeline-box">
      <div class="timeline" ref={box} onScroll={scrolled} tabIndex={0} role="region" aria-label={label}>
        {feed.atStart.value && feed.atEnd.value && rows.length === 0 && <Empty>Nothing was said here yet. Say something below, or have an agent join.</Empty>}
        {feed.atStart.value && rows.length > 0 && <p class="beginning">This is where it begins.</p>}
        <div role="log" aria-label={label} aria-relevant="additions">
          <ol>{draw(kept, rows, events, { start: feed.atStart.value, end: feed.atEnd.value }, at)}</ol>
        </div>
      </div>
      {!sticks && (
        <button type="button" data-look class="to-end" onClick={toEnd} title="key e">
          {feed.missed.value > 0 ? `${feed.missed.value} new ↓` : "Latest ↓"}
        </button>
      )}
    </div>
  );
}
