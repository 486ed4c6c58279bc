import { signal } from "@preact/signals";
import { hear, heard, onHeard, silentFor } from "./heard";
import { pass } from "./pass";
import { doubt, impostor } from "./proof";
import { Broken, events } from "./sse";
import type { Changed, Message } from "./wire";

// One stream tells the tab of everything. Who shows something says what a notice must name
// for it to be read anew (read.ts), and who shows messages is given them.

export interface Listener {
  // changed is told of a notice, and of every new connection with null: anything may have changed.
  // It comes back when what it shows was read since.
  changed?(notice: Changed | null): Promise<void> | void;
  // message is given each message once, rising; null: some are missing, read them anew.
  message?(message: Message | null): void;
}

const listeners = new Set<Listener>();

export function listen(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

// connected is honest: it is true only while the stream is open, everything shown was read since,
// and the hub answers. since is when that began or ended: of a hub that hangs, when it was last heard.
export const connected = signal(false);
export const open = signal(false); // the stream alone
export const hangs = signal(false); // the stream is open, and the hub does not answer
export const since = signal(Date.now());

let read = false; // everything that is shown was read since the stream was opened

function judge(): void {
  const on = open.value && read && !hangs.value;
  if (connected.value === on) return;
  since.value = hangs.value ? heard() : Date.now();
  connected.value = on;
}

let connection = 0;

// A hub that hangs keeps its connections. So when it has been silent for a while it is asked whether it is
// there, and is given a moment to answer. That moment has some looks in it, so that a page which was
// busy itself blames no hub.
const quiet = 1_500; // ms of silence
const patience = 2_000; // ms for the answer
const look = 500; // ms between two looks
const enough = 4; // looks
const tired = 30_000; // ms after which it is asked anew

let asked: { at: number; looks: number } | null = null;

function watch(): void {
  if (!open.value || document.hidden) return void (asked = null);
  if (!asked) {
    if (silentFor() < quiet) return;
    asked = { at: performance.now(), looks: 0 };
    fetch("/healthz", { cache: "no-store", signal: AbortSignal.timeout(tired) }).then(hear, () => (asked = null)); // it says nothing of the store, and is given nothing
    return;
  }
  asked.looks++;
  if (performance.now() - asked.at < patience || asked.looks < enough || hangs.value) return;
  hangs.value = true;
  judge();
}

onHeard(() => {
  asked = null;
  if (!hangs.value) return;
  hangs.value = false;
  judge();
});

setInterval(watch, look);

const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

const tell = (notice: Changed | null) => Promise.all([...listeners].map((one) => one.changed?.(notice)));

function tellMessage(message: Message | null): void {
  for (const one of listeners) one.message?.(message);
}

// follow keeps the tab connected until stop. It opens the stream first and has everything read
// after, so that nothing is missed in between, and comes back with the id of the last event.
export async function follow(stop: AbortSignal): Promise<void> {
  let last = "";
  while (!stop.aborted && pass.value) {
    try {
      for await (const event of events("/v1/app/stream", last, stop)) {
        if (event.type === "error") break;
        if (!open.value) {
          open.value = true;
          if (last === "") tellMessage(null);
          const begun = ++connection;
          void tell(null).then(() => {
            if (!open.value || begun !== connection) return;
            read = true;
            judge();
          });
        }
        if (event.type === "message") tellMessage(JSON.parse(event.data) as Message);
        if (event.type === "changed") {
          const notice = JSON.parse(event.data) as Changed;
          if (notice.kinds.includes("messages")) tellMessage(null);
          void tell(notice);
        }
        last = event.id;
      }
    } catch (error) {
      if (error instanceof Broken && error.status === 400) last = "";
    }
    doubt(); // the next stream begins with a proof, which also tells whether the pass has ended
    [open.value, read] = [false, false];
    judge();
    hangs.value = false;
    if (!stop.aborted) await pause(impostor.value ? 2_000 : 500);
  }
}
