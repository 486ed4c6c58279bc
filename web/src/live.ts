import { signal } from "@preact/signals";
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

// connected is honest: it is true only while the stream is open and everything shown was read
// since. since is when that began or ended.
export const connected = signal(false);
export const open = signal(false); // the stream alone
export const since = signal(Date.now());

function set(on: boolean): void {
  if (connected.value === on) return;
  since.value = Date.now();
  connected.value = on;
}

let connection = 0;

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
          void tell(null).then(() => open.value && begun === connection && set(true));
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
    open.value = false;
    set(false);
    if (!stop.aborted) await pause(impostor.value ? 2_000 : 500);
  }
}
