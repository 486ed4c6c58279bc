import { NotifySwitch } from "../frame/notify";
import type { Page } from "../pages";
import { useRead, useTail } from "../read";
import { Heading } from "../ui/heading";
import { useRooms } from "../ui/places";
import { Pending } from "../ui/said";
import type { Agent, Ask, Overview } from "../wire";
import { Agents, overviewKinds } from "./agents";
import { Asks } from "./asks";
import { Latest } from "./latest";
import "./now.css";
import { SinceYouLooked } from "./since";
import { Sum } from "./sum";
import { Trouble } from "./trouble";
import { Waits } from "./waits";

const everything = () => true;

// Now says at a glance who is here, who is stuck, who waits for whom, and what they want from
// the person.
function Now() {
  const overview = useRead<Overview>("/v1/overview", overviewKinds);
  const asks = useRead<Ask[]>("/v1/asks?state=open&limit=1000", ["asks"]);
  const agents = useRead<Agent[]>("/v1/agents?details=true&limit=1000", ["agents"]);
  const rooms = useRooms().value ?? [];
  const tail = useTail("/v1/log?direct=true", everything, 500);
  // An open question is shown as one, and not as a message besides.
  const asked = new Set(asks.value?.map((ask) => ask.ask_id));
  const messages = tail.value?.filter((message) => message.to_agent !== "operator" || !asked.has(String(message.metadata["ask"]))) ?? null;
  return (
    <div class="now">
      <header class="row">
        <Heading title="Now" />
        <span class="end">
          <NotifySwitch />
        </span>
        {overview.value && asks.value && agents.value && <Sum overview={overview.value} asks={asks.value} agents={agents.value} more={agents.next !== ""} />}
      </header>
      <div class="first">
        {asks.value ? <Asks asks={asks.value} /> : <Pending error={asks.error} />}
        {overview.value ? <Trouble overview={overview.value} /> : <Pending error={overview.error} />}
        <SinceYouLooked latest={tail.value ? (tail.value.at(-1)?.id ?? 0) : null} rooms={rooms} />
        <Agents messages={messages ?? []} />
      </div>
      <div class="second">
        {overview.value && <Waits overview={overview.value} />}
        <Latest messages={messages} error={tail.error} agents={agents.value ?? []} rooms={rooms} />
      </div>
    </div>
  );
}

export const nowPage: Page = { name: "now", label: "Now", key: "n", view: Now };
