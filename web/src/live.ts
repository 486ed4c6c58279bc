import { signal } from "@preact/signals";
import { get } from "./api";
import { forget, pass } from "./pass";
import { Broken, events } from "./sse";
import type { Agent, Ask, Changed, Message, Overview, Room, Status } from "./wire";

// What the page shows of the hub. connected is honest: it is true only while the stream is
// open and everything shown was read since.
export const connected = signal(false);
export const status = signal<Status | null>(null);
export const agents = signal<Agent[]>([]);
export const asks = signal<Ask[]>([]);
export const messages = signal<Message[]>([]);
export const rooms = signal<Room[]>([]);
export const overview = signal<Overview | null>(null);

const shown = 200; // messages

const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

// derived is what the overview follows from. It reads many lists, so a notice that names several
// of them has it read once, and not while an earlier one is on its way.
const derived = new Set(["agents", "tasks", "runs", "leases", "asks", "pauses", "mutes"]);
let reading: Promise<void> | null = null;
let again = false;

async function readOverview(stop: AbortSignal): Promise<void> {
  if (reading) {
    again = true;
    return reading;
  }
  reading = (async () => {
    do {
      again = false;
      overview.value = await get<Overview>("/v1/overview", stop);
    } while (again);
  })();
  try {
    await reading;
  } finally {
    reading = null;
  }
}

// readers read anew what a notice names.
const readers: Record<string, (stop: AbortSignal) => Promise<void>> = {
  agents: async (stop) => {
    agents.value = await get<Agent[]>("/v1/agents?details=true", stop);
    status.value = await get<Status>("/v1/app/status", stop);
  },
  asks: async (stop) => {
    asks.value = await get<Ask[]>("/v1/asks?state=open", stop);
  },
  rooms: async (stop) => {
    rooms.value = (await get<Room[]>("/v1/rooms?limit=1000", stop)).filter((room) => !room.archived);
  },
  messages: async (stop) => {
    messages.value = await get<Message[]>(`/v1/log?direct=true&tail=true&limit=${shown}`, stop);
  },
};

function add(message: Message): void {
  if ((messages.value.at(-1)?.id ?? 0) < message.id) messages.value = [...messages.value, message].slice(-shown);
}

// follow keeps the page up to date until stop. It opens the stream first and reads
// after, so that nothing is missed in between, and comes back with the id of the last event.
export async function follow(stop: AbortSignal): Promise<void> {
  let last = "";
  while (!stop.aborted && pass.value) {
    try {
      for await (const event of events("/v1/app/stream", last, stop)) {
        if (last === "") await readers["messages"]?.(stop);
        if (event.type === "message") add(JSON.parse(event.data) as Message);
        if (event.type === "changed") {
          const { kinds } = JSON.parse(event.data) as Changed;
          const reads = kinds.map((kind) => readers[kind]?.(stop));
          if (kinds.some((kind) => derived.has(kind))) reads.push(readOverview(stop));
          await Promise.all(reads);
        }
        if (event.type === "error") break;
        last = event.id;
        connected.value = true;
      }
    } catch (error) {
      if (error instanceof Broken && error.status === 403) forget("The pass has ended.");
      if (error instanceof Broken && error.status === 400) last = "";
    }
    connected.value = false;
    if (!stop.aborted) await pause(500);
  }
}
