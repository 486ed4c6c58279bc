import { signal } from "@preact/signals";

// now moves every five seconds, for ages.
export const now = signal(Date.now());
setInterval(() => {
  if (!document.hidden) now.value = Date.now();
}, 5_000);
document.addEventListener("visibilitychange", () => (now.value = Date.now()));

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const day = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" });
const whole = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "long" });

// clockOf is a moment in the time of the reader; of another day with its date.
export function clockOf(when: Date): string {
  const today = when.toDateString() === new Date(now.value).toDateString();
  return (today ? clock : day).format(when);
}

// span is a length of time in one or two words: 40 s, 3 min, 2 h 5 min, 4 days.
export function span(ms: number): string {
  const sec = Math.max(0, Math.round(ms / 1000));
  if (sec < 90) return `${sec} s`;
  const min = Math.floor(sec / 60);
  if (min < 60) return `${min} min`;
  const hours = Math.floor(min / 60);
  if (hours < 24) return min % 60 === 0 ? `${hours} h` : `${hours} h ${min % 60} min`;
  const days = Math.floor(hours / 24);
  return days === 1 ? "1 day" : `${days} days`;
}

// Time shows a moment in the time of the reader, with date and zone on hover.
export function Time({ at }: { at: string | number }) {
  const when = new Date(at);
  return (
    <time dateTime={when.toISOString()} title={whole.format(when)}>
      {clockOf(when)}
    </time>
  );
}

// Age shows how long ago a moment was.
export function Age({ at }: { at: string | number }) {
  const when = new Date(at);
  return (
    <time dateTime={when.toISOString()} title={whole.format(when)}>
      {span(now.value - when.getTime())}
    </time>
  );
}

// second moves every second, for what is left of a time. It stands while nobody looks.
const second = signal(Date.now());
setInterval(() => {
  if (!document.hidden) second.value = Date.now();
}, 1_000);

// Left shows how long it is until a moment, to the second where it is soon.
export function Left({ until }: { until: string }) {
  const when = new Date(until);
  const ms = when.getTime() - second.value;
  const sec = Math.ceil(ms / 1000);
  return (
    <time dateTime={when.toISOString()} title={whole.format(when)} class={ms < 30_000 ? "warn" : ""}>
      {ms <= 0 ? "over" : sec < 600 ? `${Math.floor(sec / 60)}:${String(sec % 60).padStart(2, "0")}` : span(ms)}
    </time>
  );
}
