import type { ComponentChildren } from "preact";
import { Person } from "../ui/person";
import { Line, line } from "../ui/text";
import { Time } from "../ui/time";
import { TaskLine } from "../ui/taskline";
import { MemoryLine } from "../ui/memoryline";
import { Part } from "../ui/part";
import type { Moment } from "./types";
import { said } from "./when";

// more tells how many there were beside those that are shown.
const More = ({ all, shown }: { all: number; shown: number }) => (all > shown ? <p class="soft">and {all - shown} more</p> : null);

interface ListedProps<T> {
  title: string;
  rows: readonly T[];
  all?: number; // how many there were; left out: those
  children: (row: T) => ComponentChildren;
}

// Listed is a part with its rows, and nothing where there were none.
function Listed<T>({ title, rows, all = rows.length, children }: ListedProps<T>) {
  if (rows.length === 0) return null;
  return (
    <Part title={title} count={all}>
      <ul class="lines">{rows.map(children)}</ul>
      <More all={all} shown={rows.length} />
    </Part>
  );
}

// Held is a claim or a file lock, with who held it, its fence, and until when.
const Held = ({ what, agent, fence, until }: { what: string; agent: string; fence: number; until: string }) => (
  <li class="two" title={line(what)}>
    <span class="cut grow">
      <Line>{what}</Line>
    </span>
    <span class="end">
      <Person id={agent} />{" "}
      <span class="soft">
        fence {fence}, until <Time at={until} />
      </span>
    </span>
  </li>
);

const ByTimes = ({ since }: { since: string }) => (
  <p class="banner">
    The hub keeps the history of this room since {said(Date.parse(since))}. Of this moment it knows messages, decisions, artifacts and memory; seats, tasks,
    claims and pauses are not known.
  </p>
);

// State is what a room was like beside its messages. If not all of it is known, note says so.
export function State({ moment: m, note = <ByTimes since={m.history_from_ts} /> }: { moment: Moment; note?: ComponentChildren }) {
  return (
    <aside class="beside about" aria-label="What there was" tabIndex={0}>
      {!m.kept && note}
      {m.pauses.map((pause) => (
        <p key={`${pause.agent_id} ${pause.room_id} ${pause.since}`} class="banner">
          {pause.agent_id ? <Person id={pause.agent_id} /> : pause.all ? "Everybody" : "The room"} was paused: <Line>{pause.words}</Line>
        </p>
      ))}
      <Listed title="Seats" rows={m.seats}>
        {(seat) => (
          <li key={seat.seat_id}>
            <Person id={seat.agent_id} />
            <span class="soft cut">
              <Line>{[seat.role, seat.harness].filter(Boolean).join(", ")}</Line>
            </span>
            <span class="end soft">
              since <Time at={seat.joined_at} />
            </span>
          </li>
        )}
      </Listed>
      <Listed title="Runs" rows={m.runs}>
        {(run) => (
          <li key={run.run_id}>
            <span class="cut grow">
              <Line>{run.title}</Line>
            </span>
            <span class="end badge">{run.status}</span>
          </li>
        )}
      </Listed>
      <Listed title="Tasks" rows={m.tasks} all={m.task_count}>
        {(task) => <TaskLine key={task.task_id} task={task} />}
      </Listed>
      <Listed title="Ended tasks" rows={m.ended_tasks}>
        {(task) => <TaskLine key={task.task_id} task={task} />}
      </Listed>
      <Listed title="Claims" rows={m.claims} all={m.claim_count}>
        {(claim) => <Held key={claim.claim_key} what={claim.claim_key} agent={claim.owner_agent_id} fence={claim.fence} until={claim.expires_at} />}
      </Listed>
      <Listed title="File locks" rows={m.locks} all={m.lock_count}>
        {(lock) => <Held key={lock.file_path} what={lock.file_path} agent={lock.agent_id} fence={lock.fence} until={lock.expires_at} />}
      </Listed>
      <Listed title="Decisions" rows={m.decisions}>
        {(one) => (
          <li key={one.decision_id} class="two" title={line(one.note)}>
            <span class="cut grow">
              <Line>{one.title}</Line>
            </span>
            <span class="end">
              <Person id={one.by} />{" "}
              <span class="soft">
                <Time at={one.created_at} />
              </span>
            </span>
          </li>
        )}
      </Listed>
      <Listed title="Artifacts" rows={m.artifacts}>
        {(one) => (
          <li key={one.artifact_id}>
            <span class="cut grow">
              <Line>{one.title}</Line>
            </span>
            <span class="end soft">
              version {one.version}, {one.size.toLocaleString()} bytes
            </span>
          </li>
        )}
      </Listed>
      {m.memories.length > 0 && (
        <Part title="Memory" count={m.memory_count}>
          <ul class="memory">
            {m.memories.map((one) => (
              <MemoryLine key={one.memory_id} memory={one} />
            ))}
          </ul>
          <More all={m.memory_count} shown={m.memories.length} />
        </Part>
      )}
    </aside>
  );
}
