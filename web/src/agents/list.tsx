import { useRead } from "../read";
import { Bar } from "../ui/bar";
import { Begins } from "../ui/begins";
import { Choice, Filters, Search, filter } from "../ui/filters";
import { Heading } from "../ui/heading";
import { AgentLink, TaskLink } from "../ui/links";
import { Pager } from "../ui/pager";
import { RoomFilter, RoomName } from "../ui/places";
import { Row } from "../ui/rows";
import { Command, Empty, Pending } from "../ui/said";
import { Line } from "../ui/text";
import { Age } from "../ui/time";
import type { Agent, Claim, Lock } from "../wire";
import { Retire } from "./acts";
import { Forced, PauseSome } from "./forced";
import { stateOf, takenFrom, type Idle } from "./types";

const plural = (n: number, word: string) => `${n} ${word}${n === 1 ? "" : "s"}`;

function AgentRow({ agent, claims, locks }: { agent: Agent; claims: number; locks: number }) {
  const [word, look] = stateOf(agent);
  const details = agent.details;
  const seats = details?.rooms ?? [];
  const holds = [claims > 0 && plural(claims, "claim"), locks > 0 && plural(locks, "file lock")].filter(Boolean).join(", ");
  const since = details?.paused ? details.paused.since : agent.presence === "live" ? agent.activity_since : agent.last_seen;
  return (
    <Row class="agentrow">
      <span>
        <AgentLink id={agent.agent_id} />
        {details?.muted && (
          <>
            {" "}
            <span class="badge">muted</span>
          </>
        )}
        {agent.display_name && agent.display_name !== agent.agent_id && (
          <span class="soft display">
            <Line>{agent.display_name}</Line>
          </span>
        )}
      </span>
      <span>
        <span class={`badge badge-${look}`}>{word}</span> {since && <Age at={since} />}
        {agent.prompt_tool && (
          <>
            {" "}
            <Line>{agent.prompt_tool}</Line>
          </>
        )}
      </span>
      <span>
        {details?.current_task_id != null && (
          <>
            on <TaskLink id={details.current_task_id} />{" "}
          </>
        )}
        {holds && <span class="soft">holds {holds}</span>}
      </span>
      <span class="soft">
        {seats.slice(0, 3).map((id, i) => (
          <span key={id}>
            {i > 0 && ", "}
            <RoomName id={id} />
          </span>
        ))}
        {seats.length > 3 && ` and ${seats.length - 3} more`}
      </span>
      <span class="unread">{(details?.unread ?? 0) > 0 && <span class="count">{details?.unread} unread</span>}</span>
      <span class="given soft">
        {details && details.budget > 0 && (
          <Bar
            whole={details.budget}
            parts={[{ value: Math.min(details.given_hour, details.budget), look: details.given_hour > details.budget ? "warn" : "accent" }]}
            label={`${details.given_hour} of ${details.budget} characters in the last hour`}
          />
        )}
        <span title="characters of messages that it was given in the last hour">{(details?.given_hour ?? 0).toLocaleString()}/h</span>
      </span>
    </Row>
  );
}

// Gone lists agents that are not there and still have something.
function Gone() {
  const idle = useRead<{ agents: Idle[]; count: number }>("/v1/agents/idle?idle_sec=60", ["agents", "tasks", "leases", "seats"]).value;
  const gone = idle?.agents.filter((one) => takenFrom({ ...one, rooms: [] }) !== "") ?? [];
  if (gone.length === 0) return null;
  return (
    <section aria-labelledby="gone">
      <h2 id="gone">Not there, and still have something</h2>
      <ul class="rows" aria-label="Not there, and still have something">
        {gone.slice(0, 100).map((one) => (
          <Row key={one.agent_id} class="forced">
            <AgentLink id={one.agent_id} />
            <span class="soft">
              {one.last_seen ? (
                <>
                  seen <Age at={one.last_seen} /> ago
                </>
              ) : (
                "not seen since the hub began"
              )}
            </span>
            <span class="words">{takenFrom(one)}</span>
            <Retire id={one.agent_id} />
          </Row>
        ))}
      </ul>
      {(gone.length > 100 || (idle && idle.count > idle.agents.length)) && <p class="empty">There are more; hubcli app retire --idle lists all.</p>}
    </section>
  );
}

const states = ["working", "waiting", "idle", "blocked", "at a prompt", "away", "paused"];

function count(ids: readonly string[]): Map<string, number> {
  const sums = new Map<string, number>();
  for (const id of ids) sums.set(id, (sums.get(id) ?? 0) + 1);
  return sums;
}

// AgentList shows the agents that have a session, and what is in force for them.
export function AgentList() {
  const begins = filter("begins");
  const agents = useRead<Agent[]>(`/v1/agents?details=true&limit=1000${begins && `&prefix=${encodeURIComponent(begins)}`}`, ["agents", "budgets", "pauses", "mutes"]);
  const claims = useRead<Claim[]>("/v1/claims?active_only=true&limit=1000", ["leases"]);
  const locks = useRead<Lock[]>("/v1/locks?active_only=true&limit=1000", ["leases"]);
  const claimsOf = count(claims.value?.map((one) => one.owner_agent_id) ?? []);
  const locksOf = count(locks.value?.map((one) => one.agent_id) ?? []);
  const text = filter("q").toLowerCase();
  const room = filter("room");
  const state = filter("state");
  const shown =
    agents.value?.filter(
      (agent) =>
        `${agent.agent_id}\n${agent.display_name}`.toLowerCase().includes(text) &&
        (state === "" || stateOf(agent)[0] === state) &&
        (room === "" || agent.details?.rooms.includes(room)),
    ) ?? [];
  const cut = [agents.next && "The hub has more agents; these are the first 1,000.", (claims.next || locks.next) && "What they hold is counted among the first 1,000 claims and file locks."].filter(Boolean).join(" ");
  return (
    <>
      <div class="title">
        <Heading title="Agents" />
        <span class="end">
          <PauseSome agents={agents.value ?? []} />
        </span>
      </div>
      <Forced />
      <Filters label="Filter agents">
        <Search label="Filter by name" />
        <RoomFilter room={filter("room")} />
        <Choice name="state" label="State" none="any state" options={states.map((one) => [one, one])} />
      </Filters>
      <Begins what="agents" more={agents.next !== ""} />
      {!agents.value && <Pending error={agents.error} />}
      {agents.value?.length === 0 && !begins && (
        <Empty>
          No agent is here. <Command>hubcli adapter install</Command> connects a harness.
        </Empty>
      )}
      {agents.value && (begins || agents.value.length > 0) && shown.length === 0 && <Empty>No agent matches.</Empty>}
      <Pager rows={shown} what="agents" cut={cut}>
        {(rows) => (
          <ul class="rows" aria-label="Agents">
            {rows.map((agent) => (
              <AgentRow key={agent.agent_id} agent={agent} claims={claimsOf.get(agent.agent_id) ?? 0} locks={locksOf.get(agent.agent_id) ?? 0} />
            ))}
          </ul>
        )}
      </Pager>
      <Gone />
    </>
  );
}
