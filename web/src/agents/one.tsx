import { useKeys } from "../keys";
import { heldClaim, heldLock } from "../leases/held";
import { LeaseRows } from "../leases/rows";
import { useRead } from "../read";
import { Link, go, to } from "../route";
import { Bar } from "../ui/bar";
import { Heading } from "../ui/heading";
import { Status, TaskLink } from "../ui/links";
import { Person } from "../ui/person";
import { RoomName } from "../ui/places";
import { Row } from "../ui/rows";
import { Empty, Pending } from "../ui/said";
import { Line, line } from "../ui/text";
import { Age, Time } from "../ui/time";
import type { Claim, Lock, Pause, Task } from "../wire";
import { EndSession, MuteAgent, PauseAgent, Resume, Retire, SetBudget, Unmute } from "./acts";
import { Attention } from "./attention";
import { useMutes, usePauses } from "./forced";
import { History } from "./history";
import { pauseOf, stateOf, type Budget, type Mute, type OneAgent, type Recipient } from "./types";

const words: Record<Recipient["state"], string> = {
  listening: "listening",
  live: "live",
  asleep: "asleep",
  gone: "gone",
  never_registered: "never registered",
};

interface ActsProps {
  id: string;
  live: boolean;
  pauses: readonly Pause[];
  mute: Mute | undefined;
}

function Acts({ id, live, pauses, mute }: ActsProps) {
  const budgets = useRead<Budget[]>("/v1/budgets", ["budgets"]).value;
  const paused = pauseOf(pauses, id);
  return (
    <div class="row acts" role="group" aria-label="What you can do">
      {paused ? <Resume of={paused} name={id} /> : <PauseAgent id={id} />}
      {mute ? <Unmute of={mute} name={id} /> : <MuteAgent id={id} />}
      {budgets && <SetBudget key={String(budgets.find((one) => one.agent_id === id)?.chars)} of={{ agent_id: id }} name={id} budget={budgets.find((one) => one.agent_id === id)} />}
      {live && <EndSession id={id} />}
      <Retire id={id} />
    </div>
  );
}

// Stops says what stops the agent, or keeps its posts from waking others.
function Stops({ pause, mute }: { pause: Pause | null | undefined; mute: Mute | undefined }) {
  return (
    <>
      {pause && (
        <p class="offer">
          <b>Paused</b>
          {pause.all && ", as everybody is"}
          {pause.room_id && (
            <>
              , as all in <RoomName id={pause.room_id} /> are
            </>
          )}
          , for <Age at={pause.since} />: <Line>{pause.words}</Line>
        </p>
      )}
      {mute && (
        <p class="offer">
          <b>Muted</b> for <Age at={mute.since} />
          {mute.until && (
            <>
              , until <Time at={mute.until} />
            </>
          )}
          {mute.reason && (
            <>
              : <Line>{mute.reason}</Line>
            </>
          )}
        </p>
      )}
    </>
  );
}

function Facts({ agent }: { agent: OneAgent }) {
  const { details } = agent;
  const told = Object.entries(agent.metadata).slice(0, 20);
  return (
    <dl class="facts">
      <dt>Session</dt>
      <dd>
        <code>{line(agent.session_id)}</code>
        {agent.incarnation > 1 && <span class="soft">, its {agent.incarnation}th</span>}, since <Time at={agent.created_at} />
      </dd>
      <dt>Last call</dt>
      <dd>
        <Age at={agent.last_seen} /> ago; {agent.listener === "armed" ? "something waits for messages" : "nothing waits for messages"}
      </dd>
      <dt>Unread</dt>
      <dd>{details?.unread ?? 0}</dd>
      <dt>Rooms</dt>
      <dd>
        {details?.rooms.length
          ? details.rooms.map((id, i) => (
              <span key={id}>
                {i > 0 && ", "}
                <RoomName id={id} />
              </span>
            ))
          : "no seat"}
      </dd>
      {agent.capabilities.length > 0 && (
        <>
          <dt>Capabilities</dt>
          <dd>
            {agent.capabilities.map((one) => (
              <>
                <span key={one} class="badge">
                  <Line>{one}</Line>
                </span>{" "}
              </>
            ))}
          </dd>
        </>
      )}
      {details && details.watching.length > 0 && (
        <>
          <dt>Watches</dt>
          <dd>
            <Line>{details.watching.join(", ")}</Line>
          </dd>
        </>
      )}
      {told.map(([name, value]) => (
        <>
          <dt>
            <Line>{name}</Line>
          </dt>
          <dd>
            <Line>{(typeof value === "string" ? value : JSON.stringify(value)).slice(0, 300)}</Line>
          </dd>
        </>
      ))}
      {details && (
        <>
          <dt>Given in 1 h</dt>
          <dd>
            {details.given_hour.toLocaleString()} characters
            {details.budget > 0 && (
              <>
                {" "}
                of {details.budget.toLocaleString()}
                <Bar
                  whole={details.budget}
                  parts={[{ value: Math.min(details.given_hour, details.budget), look: details.given_hour > details.budget ? "warn" : "accent" }]}
                  label={`${details.given_hour} of ${details.budget} characters`}
                />
              </>
            )}
          </dd>
        </>
      )}
    </dl>
  );
}

// Holds shows the tasks and leases of an agent.
function Holds({ id }: { id: string }) {
  const of = `?active_only=true&limit=100&owner_agent_id=${encodeURIComponent(id)}`;
  const claims = useRead<Claim[]>("/v1/claims" + of, ["leases"]);
  const locks = useRead<Lock[]>("/v1/locks" + of, ["leases"]);
  const tasks = useRead<Task[]>(`/v1/tasks?status=active&limit=100&concerns=${encodeURIComponent(id)}`, ["tasks"]);
  const mine = tasks.value?.filter((task) => task.assignee === id || task.offered_to === id) ?? [];
  const held = [...(claims.value ?? []).map(heldClaim), ...(locks.value ?? []).map(heldLock)];
  const unread = [claims, locks, tasks].find((one) => !one.value);
  const none = !unread && mine.length + held.length === 0 && !tasks.next;
  return (
    <section class="held" aria-labelledby="holds">
      <h2 id="holds">Has</h2>
      {unread && <Pending error={unread.error} />}
      {none && <Empty>It has no task, no claim and no file lock.</Empty>}
      <ul class="rows" aria-label="Tasks">
        {mine.map((task) => (
          <Row key={task.task_id}>
            <Status task={task} /> <TaskLink id={task.task_id} title={task.title} />
            {task.offered_to === id && <span class="warn"> offered to it</span>}
          </Row>
        ))}
      </ul>
      <LeaseRows rows={held} label="Claims and file locks" holder={false} />
      {(claims.next || locks.next || tasks.next) && (
        <p class="empty">
          There is more: <Link to={`${to("leases")}?agent=${encodeURIComponent(id)}`}>its leases</Link>, <Link to={`${to("tasks")}?agent=${encodeURIComponent(id)}`}>its tasks</Link>
        </p>
      )}
    </section>
  );
}

// OneAgentView is the page of one agent, also of one that is gone.
export function OneAgentView({ id }: { id: string }) {
  const named = useRead<OneAgent[]>(`/v1/agents?details=true&limit=1000&prefix=${encodeURIComponent(id)}`, ["agents", "budgets", "pauses", "mutes"], { agent: id });
  const known = useRead<Recipient>(`/v1/agents/${encodeURIComponent(id)}`, ["agents"], { agent: id });
  const pauses = usePauses();
  const mutes = useMutes();
  const unread = [known, named, pauses, mutes].find((one) => !one.value);
  const mute = mutes.value?.find((one) => one.agent_id === id && one.room_id === null);
  const agent = named.value?.find((one) => one.agent_id === id);
  const [word, look] = agent ? stateOf(agent) : [known.value ? words[known.value.state] : "", "plain"];
  useKeys("Agent", [{ keys: "u", what: "up to all agents", run: () => go(to("agents")) }]);
  return (
    <>
      <p>
        <Link to={to("agents")}>Agents</Link>
      </p>
      <div class="title">
        <Heading title={id}>
          <Person id={id} />
        </Heading>
        {word && <span class={`badge badge-${look}`}>{word}</span>}
        {agent && agent.display_name !== id && (
          <span class="soft">
            <Line>{agent.display_name}</Line>
          </span>
        )}
        {!agent && known.value?.last_seen && (
          <span class="soft">
            last seen <Age at={known.value.last_seen} /> ago
          </span>
        )}
      </div>
      {unread && <Pending error={unread.error} />}
      {!unread && pauses.value && (
        <>
          <Acts id={id} live={agent !== undefined} pauses={pauses.value} mute={mute} />
          <Stops pause={agent ? agent.details?.paused : pauseOf(pauses.value, id)} mute={mute} />
          <div class="sides">
            <div>
              <Holds id={id} />
              <Attention id={id} />
              <History id={id} />
            </div>
            {agent ? <Facts agent={agent} /> : <Empty>It has no session.</Empty>}
          </div>
        </>
      )}
    </>
  );
}
