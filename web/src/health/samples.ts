import { effect, signal } from "@preact/signals";
import { connected, listen } from "../live";
import { pass } from "../pass";
import { send } from "../proof";

// Samples of the hub's own figures. The hub keeps no history, so the tab does: from when a person
// first opens Health for as long as the tab is open, an hour at most. Nothing is made up: where the
// tab was not connected there is a gap.

export interface Sample {
  at: number; // ms
  calls: number; // so far
  refused: number; // calls that were answered with an error, so far
  messages: number;
  records: number; // of the journal
  syncMs: number; // of the last commit
  parked: number;
  memory: number; // bytes
  cpuSec: number; // so far
  free: number; // bytes of the disk
  behind: number; // rows that the index lacks
  wake: number[]; // ms from each message to this tab, since the sample before
}

export const every = 5_000; // ms
const most = 720; // an hour

export const samples = signal<readonly Sample[]>([]);
export const failed = signal("");

let arrived: number[] = [];
let timer = 0;

// parse reads the figures that the page draws out of the text format of Prometheus.
export function parse(text: string): Omit<Sample, "at" | "wake"> {
  const plain = new Map<string, number>();
  let calls = 0;
  let refused = 0;
  for (const line of text.split("\n")) {
    if (line.startsWith("hub_http_calls_total{")) {
      const count = Number(line.slice(line.lastIndexOf(" ") + 1));
      calls += count;
      if (!line.includes('code="ok"')) refused += count;
    } else if (/^(hub|process)_[a-z_]+ /.test(line)) {
      const [name = "", value] = line.split(" ");
      plain.set(name, Number(value));
    }
  }
  const of = (name: string) => plain.get(name) ?? 0;
  return {
    calls,
    refused,
    messages: of("hub_messages"),
    records: of("hub_journal_head"),
    syncMs: of("hub_journal_last_sync_seconds") * 1000,
    parked: of("hub_parked_polls"),
    memory: of("process_resident_memory_bytes"),
    cpuSec: of("process_cpu_seconds_total"),
    free: of("hub_journal_free_bytes"),
    behind: of("hub_search_behind"),
  };
}

async function take(): Promise<void> {
  if (!connected.value || !pass.value) return;
  const wake = arrived;
  arrived = [];
  try {
    const answer = await send("GET", "/metrics", undefined, {});
    if (!answer.ok) throw new Error(`The hub answered ${answer.status}.`);
    const sample = { at: Date.now(), ...parse(await answer.text()), wake };
    samples.value = [...samples.value, sample].slice(-most);
    failed.value = "";
  } catch (error) {
    failed.value = error instanceof Error ? error.message : "The hub did not answer.";
  }
}

// begin starts to take samples. Calls after the first change nothing.
export function begin(): void {
  if (timer) return;
  listen({
    message(message) {
      if (message && arrived.length < 10_000) arrived.push(Math.max(0, Date.now() - Date.parse(message.ts)));
    },
  });
  timer = setInterval(() => void take(), every);
  let first = true;
  effect(() => {
    if (!connected.value) return;
    arrived = []; // what came before was kept for the tab, and was no wait
    if (first) setTimeout(() => void take(), 1_000); // the second one makes the first rate
    first = false;
    void take();
  });
  effect(() => {
    if (!pass.value) samples.value = [];
  });
}

export interface Point {
  at: number;
  value: number | null; // null: a gap
}

// gap says whether the tab has missed samples between two of them.
const gap = (a: Sample, b: Sample) => b.at - a.at > 3 * every;

// level is a figure as it was.
export function level(rows: readonly Sample[], of: (sample: Sample) => number): Point[] {
  return rows.flatMap((row, i) => {
    const before = rows[i - 1];
    const point = { at: row.at, value: of(row) };
    return before && gap(before, row) ? [{ at: row.at - 1, value: null }, point] : [point];
  });
}

// rate is how fast a count rises, for each second. A count that falls is that of another run of the hub.
export function rate(rows: readonly Sample[], of: (sample: Sample) => number): Point[] {
  return rows.slice(1).map((row, i) => {
    const before = rows[i]!;
    const rise = of(row) - of(before);
    return { at: row.at, value: rise < 0 || gap(before, row) || row.at <= before.at ? null : (rise * 1000) / (row.at - before.at) };
  });
}

// spread is the value below which a part of the values lies; null: there are none.
export function spread(values: readonly number[], part: number): number | null {
  if (values.length === 0) return null;
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? null;
}
