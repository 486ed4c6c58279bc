import { signal } from "@preact/signals";
import { Refused, get } from "./api";
import { pass } from "./pass";
import type { Agent, Ask, Message, Status } from "./wire";

// What the page shows of the hub. connected is honest: it is true only while the last call
// was answered.
export const connected = signal(false);
export const status = signal<Status | null>(null);
export const agents = signal<Agent[]>([]);
export const asks = signal<Ask[]>([]);
export const messages = signal<Message[]>([]);

const shown = 200; // messages

const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

async function readAll(stop: AbortSignal): Promise<void> {
  const [is, live, open, last] = await Promise.all([
    get<Status>("/v1/app/status", stop),
    get<Agent[]>("/v1/agents?details=true", stop),
    get<Ask[]>("/v1/asks?state=open", stop),
    get<Message[]>("/v1/log?direct=true&tail=true&limit=" + shown, stop),
  ]);
  status.value = is;
  agents.value = live;
  asks.value = open;
  messages.value = last;
}

// follow keeps the page up to date until stop. It begins anew whenever the hub is away.
export async function follow(stop: AbortSignal): Promise<void> {
  while (!stop.aborted && pass.value) {
    try {
      await readAll(stop);
      connected.value = true;
      while (!stop.aborted) {
        const last = messages.value.at(-1)?.id ?? 0;
        const more = await get<Message[]>(`/v1/log?direct=true&since_id=${last}&timeout=20`, stop);
        if (more.length > 0) messages.value = [...messages.value, ...more].slice(-shown);
        agents.value = await get<Agent[]>("/v1/agents?details=true", stop);
        asks.value = await get<Ask[]>("/v1/asks?state=open", stop);
      }
    } catch (error) {
      connected.value = false;
      if (!(error instanceof Refused) || error.status >= 500) await pause(1000);
    }
  }
}
