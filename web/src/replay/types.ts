import type { Artifact, Claim, Decision, Lock, Memory, Message, Pause, Task } from "../wire";

export interface MomentSeat {
  seat_id: string;
  agent_id: string;
  role: string;
  harness: string;
  joined_at: string;
}

export interface MomentRun {
  run_id: string;
  title: string;
  status: string;
}

// Moment is what a room was like, as GET /v1/rooms/{room_id}/at answers it.
export interface Moment {
  room_id: string;
  seq: number;
  ts: string;
  kept: boolean;
  history_from_ts: string;
  first_ts: string;
  last_ts: string;
  next_ts: string | null;
  messages: Message[];
  seats: MomentSeat[];
  tasks: Task[];
  task_count: number;
  ended_tasks: Task[];
  runs: MomentRun[];
  claims: Claim[];
  claim_count: number;
  locks: Lock[];
  lock_count: number;
  decisions: Decision[];
  artifacts: Artifact[];
  memories: Memory[];
  memory_count: number;
  pauses: Pause[];
}

// When is a moment that a person means: a time, a record, or the latest of all.
export type When = { ts: number } | { seq: number } | "latest";
