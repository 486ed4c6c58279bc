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
import { Trouble, Waits } from "./waits";

const everything = () => true;

// Now says at a glance who is here, who is stuck, who waits for whom, and what they want from
// the person.
function Now() {
  const overview = useRead<Overview>("/v1/overview", overviewKinds);
  const asks = useRead<Ask[]>("/v1/asks?state=open&limit=1000", ["asks"]);
  const agents = useRead<Agent[]>("/v1/agents?details=true&limit=1000", ["agents"]);
  const rooms = useRooms().value ?? [];
  const tail = useTail("/v1/log?direct=true", everything, 500);
  const messages = tail.value;
  return (
    <div class="now">
      <header class="row">
        <Heading title="Now" />
        <span class="end">
          <NotifySwitch />
        </span>
      </header>
      <div class="first">
        {overview.value ? <Trouble overview={overview.value} /> : <Pending error={overview.error} />}
        {asks.value ? <Asks asks={asks.value} /> : <Pending error={asks.error} />}
        <SinceYouLooked latest={messages ? (messages.at(-1)?.id ?? 0) : null} rooms={rooms} />
        <Agents messages={messages ?? []} />
      </div>
      <div class="second">
        {overview.value && <Waits overview={overview.value} />}
        <Latest tail={tail} agents={agents.value ?? []} rooms={rooms} />
      </div>
    </div>
  );
}

export const nowPage: Page = { name: "now", label: "Now", key: "n", view: Now };
