import type { When } from "./types";

// whenOf reads a moment as an address names it: a time, or the number of a record.
export function whenOf(text: string): When {
  if (/^[1-9]\d{0,14}$/.test(text)) return { seq: Number(text) };
  const ts = Date.parse(text);
  return Number.isNaN(ts) ? "latest" : { ts };
}

// addressOf is the form of a time in an address.
export const addressOf = (ts: number) => new Date(ts).toISOString();

// typed reads what a person has typed: 14:05, 14:05:30, or those after a date such as
// 2026-03-02. Without a date it is the day of near. The time is that of the reader. It is null
// if the text is no time.
export function typed(text: string, near: number): number | null {
  const found = /^(?:(\d{4})-(\d{1,2})-(\d{1,2})[T ]+)?(\d{1,2}):(\d{2})(?::(\d{2}))?$/.exec(text.trim());
  if (!found) return null;
  const day = new Date(near);
  const number = (i: number, otherwise: number) => (found[i] === undefined ? otherwise : Number(found[i]));
  const [year, month, date] = [number(1, day.getFullYear()), number(2, day.getMonth() + 1), number(3, day.getDate())];
  const [hour, minute, second] = [number(4, 0), number(5, 0), number(6, 0)];
  const when = new Date(year, month - 1, date, hour, minute, second, 999);
  const same = when.getFullYear() === year && when.getMonth() === month - 1 && when.getDate() === date;
  return same && hour < 24 && minute < 60 && second < 60 ? when.getTime() : null;
}

const whole = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

// said is a time as it is shown, with its day.
export const said = (ts: number) => whole.format(new Date(ts));
