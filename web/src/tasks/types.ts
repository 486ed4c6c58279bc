import type { Task, TaskStatus } from "../wire";

// OneTask is what the hub answers about one task.
export interface OneTask extends Task {
  channel: string;
  result_message_id: number | null;
  open_blockers?: number[];
  blocks?: number[];
}

export interface Run {
  run_id: string;
  room_id: string | null;
  title: string;
  created_by: string;
  status: "running" | "complete" | "failed" | "cancelled";
  counts: Record<TaskStatus | "total", number>;
  started_at: string;
  ended_at: string | null;
}

export const statuses: readonly TaskStatus[] = ["open", "working", "input_required", "done", "failed", "cancelled"];

export const ended = (task: Task) => task.status === "done" || task.status === "failed" || task.status === "cancelled";
