import { call } from "../api";
import type { Claim, Lock, Waiter } from "../wire";

// A claim and a file lock are shown and broken in the same way.
export interface Held {
  kind: "claim" | "lock";
  name: string;
  holder: string;
  at: string;
  until: string;
  fence: number;
  task: number | null;
  waiters: readonly Waiter[];
}

// taskOf is the task that a lease is held for, by the rules of the hub.
function taskOf(named: number | null | undefined, key: string, metadata: Record<string, unknown> | undefined): number | null {
  const id = named ?? Number(/^task-([1-9][0-9]{0,15})$/.exec(key)?.[1] ?? metadata?.["task_id"]);
  return Number.isSafeInteger(id) && id > 0 ? id : null;
}

export const heldClaim = (one: Claim): Held => ({
  kind: "claim",
  name: one.claim_key,
  holder: one.owner_agent_id,
  at: one.claimed_at,
  until: one.expires_at,
  fence: one.fence,
  task: taskOf(one.task_message_id, one.claim_key, one.metadata),
  waiters: one.waiters ?? [],
});

export const heldLock = (one: Lock): Held => ({
  kind: "lock",
  name: one.file_path,
  holder: one.agent_id,
  at: one.locked_at,
  until: one.expires_at,
  fence: one.fence,
  task: taskOf(null, "", one.metadata),
  waiters: one.waiters ?? [],
});

// breakIt takes a lease from its holder. The hub tells the holder and those who wait.
export async function breakIt(one: Held, reason: string): Promise<string> {
  if (one.kind === "claim") await call("POST", "/v1/claims/break", { claim_key: one.name, reason });
  else await call("POST", "/v1/locks/break", { file_path: one.name, reason });
  const next = one.waiters[0]?.agent_id;
  return `The ${one.kind} ${one.name} was taken from ${one.holder}.${next ? ` ${next} was the first in line.` : ""}`;
}
