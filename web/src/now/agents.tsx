import { useRead } from "../read";
import { Link, to } from "../route";
import { Person } from "../ui/person";
import { Row } from "../ui/rows";
import { Command, Empty, Pending } from "../ui/said";
import { Line, line } from "../ui/text";
import { Age } from "../ui/time";
import type { Agent, Claim, Lock, Message, Overview, Task, Wait } from "../wire";
import { nameOf } from "./tree";

const shown = 100; // agents, those first that want something of the person

export const overviewKinds = ["agents", "tasks", "runs", "leases", "asks", "pauses", "mutes"] as const;

interface State {
  word: string; // of the badge
  look: string; // its color
  order: number; // those that want something of the person first
  what: string;
  since: string | null;
}

// stateOf says what an agent does, and on what or whom.
function stateOf(agent: Agent, waits: Wait[], task: Task | undefined): State {
  const { activity, activity_since: since, presence } = agent;
  // What it asks the person is shown as a question.
  const waiting = [...new Set(waits.map((wait) => (wait.for === "operator" ? nameOf(wait.for) : `${wait.for} (${wait.what})`)))].join(", ");
  const on = task ? `#${task.task_id} ${task.title}` : "";
  const pause = agent.details?.paused;
  if (pause) return { word: "paused", look: "warn", order: 1, what: pause.words, since: pause.since };
  if (presence !== "live") return { word: presence, look: "", order: 6, what: waiting ? `waits for ${waiting}` : on, since: agent.last_seen };
  switch (activity) {
    case "at_prompt":
      return { word: "at a prompt", look: "bad", order: 0, what: agent.prompt_tool, since };
    case "stuck":
      return { word: "stuck", look: "bad", order: 1, what: "its model failed", since };
    case "blocked":
      return { word: "blocked", look: "bad", order: 1, what: waiting || on, since };
    case "waiting":
      return { word: "waiting", look: waits.length > 0 ? "warn" : "", order: waits.length > 0 ? 2 : 4, what: waiting ? `for ${waiting}` : "for messages", since };
    case "working":
      return { word: "working", look: "good", order: 3, what: on, since };
    case "no_terminal":
      return { word: "no terminal", look: "", order: 6, what: on, since };
    default:
      return { word: "idle", look: "", order: 5, what: waiting ? `waits for ${waiting}` : on, since };
  }
}

// Those who are gone and still hold something or are waited for are missed; they are listed, too.
function missed(live: readonly Agent[], others: readonly string[]): Agent[] {
  const here = new Set(live.map((agent) => agent.agent_id));
  return [...new Set(others)]
    .filter((id) => !here.has(id) && id !== "operator")
    .map((id) => ({
      agent_id: id,
      display_name: "",
      presence: "gone",
      activity: "idle",
      activity_since: null,
      prompt_tool: "",
      last_seen: "",
      listener: "none",
    }));
}

function AgentRow({ agent, state, holds, last }: { agent: Agent; state: State; holds: string[]; last: Message | undefined }) {
  const unread = agent.details?.unread ?? 0;
  return (
    <Row class="agent">
      <span class="who">
        <Person id={agent.agent_id} />
        {agent.details?.muted && <span class="badge">muted</span>}
      </span>
      <span class="does">
        <span class={`badge badge-${state.look || "plain"}`}>{state.word}</span>
        {state.since && (
          <span class="soft">
            {" "}
            <Age at={state.since} />
          </span>
        )}{" "}
        <span class="cut" title={line(state.what)}>
          <Line>{state.what}</Line>
        </span>
      </span>
      <span class="holds">
        {holds.length > 0 && (
          <span class="cut" title={holds.map(line).join("\n")}>
            <span class="soft">holds</span> <Line>{holds.join(", ")}</Line>
          </span>
        )}
      </span>
      <span class="unread">{unread > 0 && <span class="count">{unread} unread</span>}</span>
      <span class="words cut">
        {last && (
          <>
            <span class="soft">
              <Age at={last.ts} /> ago
            </span>{" "}
            <Line>{last.body.slice(0, 300)}</Line>
          </>
        )}
      </span>
    </Row>
  );
}

// by groups rows by a key.
function by<T>(rows: readonly T[], key: (row: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const row of rows) {
    const group = groups.get(key(row));
    if (group) group.push(row);
    else groups.set(key(row), [row]);
  }
  return groups;
}

// Agents shows what each agent does, holds, has not read and said last.
export function Agents({ messages }: { messages: Message[] }) {
  const agents = useRead<Agent[]>("/v1/agents?details=true&limit=1000", ["agents"]);
  const overview = useRead<Overview>("/v1/overview", overviewKinds);
  const claiming = useRead<Claim[]>("/v1/claims?active_only=true&limit=1000", ["leases"]);
  const locking = useRead<Lock[]>("/v1/locks?active_only=true&limit=1000", ["leases"]);
  const working = useRead<Task[]>("/v1/tasks?status=active&limit=1000", ["tasks"]);
  const unread = [agents, overview, claiming, locking, working].find((one) => !one.value);
  const [claims, locks, tasks] = [claiming.value ?? [], locking.value ?? [], working.value ?? []];
  const waits = overview.value?.waits ?? [];
  const last = new Map(messages.map((message) => [message.from_agent, message]));
  const live = agents.value ?? [];
  const all = [...live, ...missed(live, [...claims.map((claim) => claim.owner_agent_id), ...locks.map((lock) => lock.agent_id), ...waits.map((wait) => wait.for)])];
  const known = new Map(tasks.map((task) => [task.task_id, task]));
  const [claimed, locked, waiting] = [by(claims, (one) => one.owner_agent_id), by(locks, (one) => one.agent_id), by(waits, (wait) => wait.waiter)];
  const rows = all.map((agent) => {
    const id = agent.agent_id;
    const holds = [...(claimed.get(id) ?? []).map((one) => one.claim_key), ...(locked.get(id) ?? []).map((one) => one.file_path)];
    return { agent, holds, state: stateOf(agent, waiting.get(id) ?? [], known.get(agent.details?.current_task_id ?? 0)) };
  });
  rows.sort((a, b) => a.state.order - b.state.order || a.agent.agent_id.localeCompare(b.agent.agent_id));
  const tally = new Map<string, number>();
  for (const { state } of rows) tally.set(state.word, (tally.get(state.word) ?? 0) + 1);
  return (
    <section aria-labelledby="agents">
      <h2 id="agents" tabIndex={-1}>
        Agents{" "}
        {!unread && <span class="soft">{[...tally].map(([word, n]) => `${n} ${word}`).join(" · ")}{agents.next && " · and more"}</span>}
      </h2>
      {unread && <Pending error={unread.error} />}
      {!unread && rows.length === 0 && (
        <Empty>
          No agent is here. <Command>hubcli adapter install</Command> connects a harness, and <Command>hubcli join</Command> a room.
        </Empty>
      )}
      <ul class="rows agents">
        {(unread ? [] : rows.slice(0, shown)).map((row) => (
          <AgentRow key={row.agent.agent_id} {...row} last={last.get(row.agent.agent_id)} />
        ))}
      </ul>
      {!unread && rows.length > shown && (
        <p class="empty">
          and {rows.length - shown} more: <Link to={to("agents")}>all agents</Link>
        </p>
      )}
    </section>
  );
}
