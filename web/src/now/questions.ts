import { effect, signal } from "@preact/signals";
import { call, get, temporary } from "../api";
import { left } from "../keys";
import { drafts, draftOf, write } from "../drafts";
import { pass } from "../pass";
import { said } from "../ui/outcome";
import { line } from "../ui/text";
import type { Ask, ClosedAsk } from "../wire";

// The questions as a person works through them. A question keeps its place while it is shown, new ones
// come last, and one that was closed elsewhere stays, marked, as long as the person may be about to
// press or type in it. What a person has typed for a question is kept until it is sent or put away.

export interface Shown {
  ask: Ask;
  key: string; // names the question and what it says
  ended: string | null; // how it ended; null: it is open; empty: it is not known yet
  until?: number; // when the answer that was sent here can no longer be taken back
}

const takenBackFor = 60_000; // ms, as the hub has it

const mostClosed = 100; // that stay, so that a page that is left open for a night is bounded

export { drafts };

// draftFor are the words for a question, by its key.
export const draftFor = (key: string) => draftOf(`ask ${key}`).text;

export const draft = (key: string, words: string) => write(`ask ${key}`, { text: words });

const keyOf = (ask: Ask) => `${ask.ask_id} ${ask.digest ?? ask.created_at}`;

// arrange returns the rows to show: those that were shown in their order, without closed ones that
// nobody keeps, and behind them the new ones, the oldest first. open is newest first.
export function arrange(before: readonly Shown[], open: readonly Ask[], keeps: (key: string) => boolean): Shown[] {
  const there = new Map(open.map((ask) => [keyOf(ask), ask]));
  const rows: Shown[] = [];
  let closed = before.filter((row) => !there.has(row.key)).length;
  for (const row of before) {
    const ask = there.get(row.key);
    if (ask) rows.push({ ...row, ask, ended: row.ended || null }); // what was answered here is closed, whatever is read late
    else if (keeps(row.key) && (closed <= mostClosed || draftFor(row.key) !== "")) rows.push({ ...row, ended: row.ended ?? "" });
    else closed--;
    there.delete(row.key);
  }
  const added = [...there].reverse().map(([key, ask]) => ({ ask, key, ended: null }));
  return [...rows, ...added];
}

// shown are the rows of the page, also while the person is at another page.
export const shown = signal<readonly Shown[]>([]);

effect(() => {
  if (pass.value) return;
  shown.value = [];
});

function endWith(key: string, ended: string | null, until = 0): void {
  shown.value = shown.value.map((row) => (row.key === key ? { ...row, ended, until } : row));
}

// mayTakeBack tells whether the answer that was sent here can be taken back, unless it was read.
export const mayTakeBack = (row: Shown, at: number) => row.ended !== null && (row.until ?? 0) > at;

const asked = new Set<string>(); // rows of which the hub is asked how they ended

// learn asks the hub how the questions ended that are shown though they are closed.
export async function learn(): Promise<void> {
  const unknown = shown.value.filter((row) => row.ended === "" && !asked.has(row.key));
  await Promise.all(
    unknown.map(async ({ ask, key }) => {
      asked.add(key);
      try {
        const now = await get<ClosedAsk>(`/v1/asks/${ask.ask_id}`);
        if (keyOf(now) !== key) endWith(key, "no longer there");
        else endWith(key, now.state === "open" ? null : howEnded(now)); // the hub lists the newest 1,000 alone
      } catch (error) {
        if (!temporary(error)) endWith(key, "no longer open");
      }
      asked.delete(key);
    }),
  );
}

// recall shows the questions for which there are words and which were closed while the page was not there.
export async function recall(): Promise<void> {
  for (const name of drafts.peek().keys()) {
    const [, of, id] = /^ask ((\S+) .*)$/s.exec(name) ?? [];
    if (!of || !id || shown.peek().some((row) => row.key === of)) continue;
    try {
      const now = await get<ClosedAsk>(`/v1/asks/${id}`);
      if (now.state === "open" || keyOf(now) !== of || shown.peek().some((row) => row.key === of)) continue;
      shown.value = [...shown.peek(), { ask: now, key: of, ended: howEnded(now) }];
    } catch {
      // the hub has no such question, or no answer now; the words stay
    }
  }
}

// howEnded says how a question was closed, and by whom.
function howEnded(ask: ClosedAsk): string {
  const by = ask.closed_by || "somebody";
  if (ask.state === "answered") return `answered meanwhile by ${by}: ${ask.answer ?? ""}`;
  if (ask.state === "expired") return ask.answer === null ? "nobody answered in time" : `nobody answered in time, so its default was taken: ${ask.answer}`;
  return `withdrawn meanwhile by ${by}` + (ask.reason && `: ${ask.reason}`);
}

const begin = (text: string, most = 80) => (Array.from(text).length > most ? Array.from(text).slice(0, most - 1).join("") + "…" : text);

// answer sends an answer to exactly the question that was shown. Words that are nearly an option are
// refused by the hub unless they are to be sent as they are. It says what was sent.
export async function answer({ ask, key }: Shown, words: string, asTheyAre: boolean): Promise<void> {
  const named = ask.digest ? { digest: ask.digest, ...(!asTheyAre && { unless_near: true }) } : {};
  const now = await call<ClosedAsk>("POST", `/v1/asks/${ask.ask_id}/answer`, { answer: words, by: "console", ...named });
  const told = begin(now.answer ?? words);
  draft(key, "");
  endWith(key, `you answered: ${told}`, ask.permission || ask.agent_id === "system" ? 0 : Date.now() + takenBackFor);
  said.value = `Answered ${line(told)} to ${line(ask.agent_id)}: ${line(begin(ask.question))}`;
}

// takeBack takes the answer back that was sent here: the question is open again.
export async function takeBack({ ask, key }: Shown): Promise<void> {
  try {
    await call<Ask>("POST", `/v1/asks/${ask.ask_id}/take-back`, { by: "console" });
  } catch (error) {
    if (!temporary(error)) shown.value = shown.value.map((row) => (row.key === key ? { ...row, until: 0 } : row));
    throw error;
  }
  endWith(key, null);
  said.value = `Took back the answer to ${line(ask.agent_id)}: ${line(begin(ask.question))}`;
}

// putAway drops a closed question and the words for it.
export function putAway(key: string): void {
  left();
  draft(key, "");
  shown.value = shown.value.filter((row) => row.key !== key);
}
