import type { Page } from "../pages";
import { useRead, useTail } from "../read";
import { Heading } from "../ui/heading";
import { Person } from "../ui/person";
import { Row } from "../ui/rows";
import { Command, Empty, Pending } from "../ui/said";
import { Text, Line } from "../ui/text";
import { Time } from "../ui/time";
import type { Agent, Ask, Overview, Room } from "../wire";
import { Asks } from "./asks";
import { Say } from "./say";
import { Trouble, Waits } from "./waits";

const everything = () => true;

function Now() {
  const overview = useRead<Overview>("/v1/overview", ["agents", "tasks", "runs", "leases", "asks", "pauses", "mutes"]);
  const asks = useRead<Ask[]>("/v1/asks?state=open", ["asks"]);
  const agents = useRead<Agent[]>("/v1/agents?details=true", ["agents"]);
  const rooms = useRead<Room[]>("/v1/rooms?limit=1000", ["rooms"]);
  const messages = useTail("/v1/log?direct=true", everything, 200);
  return (
    <>
      <Heading title="Now" />
      {overview.value ? <Trouble overview={overview.value} /> : <Pending error={overview.error} />}
      {asks.value ? <Asks asks={asks.value} /> : <Pending error={asks.error} />}
      {overview.value && <Waits overview={overview.value} />}
      <section aria-labelledby="agents">
        <h2 id="agents">Agents</h2>
        {!agents.value && <Pending error={agents.error} />}
        {agents.value?.length === 0 && (
          <Empty>
            No agent is here. <Command>hubcli adapter install</Command> connects a harness.
          </Empty>
        )}
        <ul class="rows">
          {agents.value?.map((agent) => (
            <Row key={agent.agent_id}>
              <Person id={agent.agent_id} /> {agent.presence === "live" ? agent.activity.replace("_", " ") : agent.presence}
              {agent.prompt_tool && (
                <>
                  {" "}
                  (<Line>{agent.prompt_tool}</Line>)
                </>
              )}
            </Row>
          ))}
        </ul>
      </section>
      <section aria-labelledby="messages">
        <h2 id="messages">Messages</h2>
        <Say agents={agents.value ?? []} rooms={rooms.value ?? []} />
        <ol class="rows" role="log">
          {messages.value?.map((m) => (
            <Row key={m.id}>
              <Time at={m.ts} /> <Person id={m.from_agent} authority={m.authority} />
              {m.to_agent && (
                <>
                  {" "}
                  to <Person id={m.to_agent} />
                </>
              )}{" "}
              <Text>{m.body}</Text>
            </Row>
          ))}
        </ol>
      </section>
    </>
  );
}

export const nowPage: Page = { name: "now", label: "Now", key: "n", view: Now };
