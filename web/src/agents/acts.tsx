import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { call } from "../api";
import { put } from "../read";
import { Act } from "../ui/dialog";
import { Line } from "../ui/text";
import type { Pause } from "../wire";
import { takenFrom, type Budget, type Idle, type Mute } from "./types";

// What the operator does with agents, by the operations of hubcli app pause, mute, budget, end and
// retire.

export interface Target {
  agent_id?: string;
  room_id?: string;
  all?: true;
}

export async function pause(target: Target, words: string, name: string): Promise<string> {
  await call("POST", "/v1/pauses", { ...target, words });
  return `${name} is paused.`;
}

const targetOf = (one: Pause): Target => (one.all ? { all: true } : one.room_id ? { room_id: one.room_id } : { agent_id: one.agent_id ?? "" });

// Resume ends exactly one pause.
export const Resume = ({ of: one, name }: { of: Pause; name: string }) => (
  <Act
    label="Resume"
    about={name}
    title={`Let ${name} go on?`}
    mild
    run={async () => {
      await call("POST", "/v1/pauses/resume", targetOf(one));
      return `${name} may go on.`;
    }}
  >
    <p>The agents that it stopped get a notice that wakes them.</p>
  </Act>
);

export const PauseAgent = ({ id }: { id: string }) => (
  <Act label="Pause" title={`Pause ${id}?`} reason="Why? It is told." run={(words) => pause({ agent_id: id }, words, id)}>
    <p>It posts nothing and takes no work until you resume it: such calls are refused with your words. It keeps what it has and may read.</p>
  </Act>
);

const spans = [
  ["", "until you end it"],
  ["900", "for 15 minutes"],
  ["3600", "for an hour"],
  ["86400", "for a day"],
] as const;

interface MuteProps {
  of: { agent_id: string } | { room_id: string };
  name: string;
  label: string;
  children: ComponentChildren; // what will happen
}

// MuteSome mutes an agent, or all agents in a room.
export function MuteSome({ of, name, label, children }: MuteProps) {
  const [span, setSpan] = useState("");
  const run = async (reason: string) => {
    await call("POST", "/v1/mutes", { ...of, reason, ...(span && { for_sec: Number(span) }) });
    return `${name} is muted.`;
  };
  return (
    <Act label={label} title={`Mute ${name}?`} reason="Why? Agents read this with the answers to their posts." optional run={run}>
      {children}
      <label class="field">
        How long
        <select value={span} onChange={(event) => setSpan(event.currentTarget.value)}>
          {spans.map(([value, words]) => (
            <option key={value} value={value}>
              {words}
            </option>
          ))}
        </select>
      </label>
    </Act>
  );
}

export const MuteAgent = ({ id }: { id: string }) => (
  <MuteSome of={{ agent_id: id }} name={id} label="Mute">
    <p>What it posts is kept and can be read, and wakes nobody.</p>
  </MuteSome>
);

// Unmute ends exactly one mute.
export const Unmute = ({ of: one, name }: { of: Mute; name: string }) => (
  <Act
    label="Unmute"
    about={name}
    title={`End the mute of ${name}?`}
    mild
    run={async () => {
      await call("POST", "/v1/mutes/end", { ...(one.agent_id && { agent_id: one.agent_id }), ...(one.room_id && { room_id: one.room_id }) });
      return `${name} is no longer muted.`;
    }}
  >
    <p>What is posted from now on wakes others again.</p>
  </Act>
);

export function SetBudget({ of, name, budget }: { of: Target; name: string; budget: Budget | undefined }) {
  const [chars, setChars] = useState(budget ? String(budget.chars) : "");
  const run = async () => {
    await put("/v1/budgets", { ...of, chars: Number(chars) || 0 }); // the button begins anew with what is read
    return Number(chars) ? `${name}: ${Number(chars).toLocaleString()} characters an hour.` : `${name}: no budget.`;
  };
  return (
    <Act label="Budget" title={`How much may ${name} be given to read in an hour?`} mild run={run}>
      <p>Beyond it, messages of agents come as a line each with the way to the whole. What you and the hub say is always whole.</p>
      <label class="field">
        Characters an hour; empty for no budget
        <input type="number" min={1000} max={10_000_000} step={1} value={chars} onInput={(event) => setChars(event.currentTarget.value)} />
      </label>
    </Act>
  );
}

export const EndSession = ({ id }: { id: string }) => (
  <Act
    label="End session"
    title={`End the session of ${id}?`}
    reason="Why? It is told."
    run={async (reason) => {
      await call("POST", `/v1/sessions/${encodeURIComponent(id)}/end`, { reason });
      return `The session of ${id} has ended.`;
    }}
  >
    <p>Its next call is refused, with your words. Its claims, locks and tasks stay. Its program may begin a new session.</p>
  </Act>
);

export const Retire = ({ id }: { id: string }) => (
  <Act
    label="Retire"
    about={id}
    title={`Take ${id} for gone?`}
    reason="Why? Those whom it concerns are told."
    optional
    run={async (reason) => {
      const taken = takenFrom(await call<Idle>("POST", `/v1/agents/${encodeURIComponent(id)}/retire`, { reason }));
      return `${id} is retired. ${taken ? `Taken from it: ${taken}.` : "It had nothing."}`;
    }}
  >
    <p>
      Its session and seats end, its claims and locks are released, and its tasks and offers go back. Its name and messages stay, and{" "}
      <Line>{id}</Line> comes back with its next act. The
      hub refuses it for an agent that is there, or was within the last minute.
    </p>
  </Act>
);
