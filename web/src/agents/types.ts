import type { Agent, Pause } from "../wire";

// OneAgent is what the hub answers about an agent with a session.
export interface OneAgent extends Agent {
  session_id: string;
  capabilities: string[];
  metadata: Record<string, unknown>;
  created_at: string;
  incarnation: number;
}

// Recipient is what the hub answers about any name.
export interface Recipient {
  state: "listening" | "live" | "asleep" | "gone" | "never_registered";
  harness: string;
  last_seen: string | null;
}

// Idle is an agent that is not there and still has something.
export interface Idle {
  agent_id: string;
  last_seen: string | null;
  rooms: string[];
  tasks: number[];
  offers: number[];
  claims: string[];
  locks: string[];
}

export interface Mute {
  agent_id: string; // empty: all agents in the room
  room_id: string | null;
  reason: string;
  since: string;
  until: string | null;
}

export interface Budget {
  agent_id: string | null;
  room_id: string | null;
  chars: number;
}

// stateOf says in a word what an agent does, and how that looks.
export function stateOf(agent: Agent): [word: string, look: string] {
  if (agent.details?.paused) return ["paused", "warn"];
  if (agent.presence !== "live") return [agent.presence, "plain"];
  switch (agent.activity) {
    case "at_prompt":
      return ["at a prompt", "bad"];
    case "stuck":
      return ["stuck: its model failed", "bad"];
    case "blocked":
      return ["blocked", "bad"];
    case "working":
      return ["working", "good"];
    case "no_terminal":
      return ["no terminal", "plain"];
    default:
      return [agent.activity, "plain"];
  }
}

// takenFrom says what an agent has, or what was taken from it: 2 claims, 1 task.
export function takenFrom({ rooms, tasks, offers, claims, locks }: Pick<Idle, "rooms" | "tasks" | "offers" | "claims" | "locks">): string {
  const parts = [
    [rooms, "seat"],
    [tasks, "task"],
    [offers, "offer"],
    [claims, "claim"],
    [locks, "file lock"],
  ] as const;
  return parts
    .filter(([all]) => all.length > 0)
    .map(([all, word]) => `${all.length} ${word}${all.length === 1 ? "" : "s"}`)
    .join(", ");
}

// pauseOf finds the pause of exactly this agent.
export const pauseOf = (pauses: readonly Pause[], agent: string) => pauses.find((one) => one.agent_id === agent);
