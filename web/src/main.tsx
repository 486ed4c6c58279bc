import { effect } from "@preact/signals";
import { render } from "preact";
import icon from "./icon.svg";
import { Asks } from "./asks";
import { agents, asks, connected, follow, messages, overview, rooms, status } from "./live";
import { enter, pass, why } from "./pass";
import { Say } from "./say";
import "./style.css";
import { Time } from "./time";
import { Trouble, Waits } from "./waits";

function Closed() {
  return (
    <main class="closed">
      <h1>hubcli</h1>
      {why.value && <p role="alert">{why.value}</p>}
      <p>
        This page needs a pass. In a terminal of this machine, run <kbd>hubcli app open</kbd> and open the address that it
        prints.
      </p>
    </main>
  );
}

// Texts of agents are shown as texts, each in its own direction.
function Now() {
  return (
    <main>
      <header>
        <img src={icon} alt="" width="16" height="16" />
        <h1>Now</h1>
        <span role="status" class={connected.value ? "on" : "off"}>
          {connected.value ? "connected" : "not connected"}
        </span>
        {status.value && (
          <span>
            {status.value.counts.sessions} agents, {status.value.counts.messages} messages
          </span>
        )}
      </header>
      {overview.value && <Trouble overview={overview.value} />}
      <Asks asks={asks.value} />
      {overview.value && <Waits overview={overview.value} />}
      <section aria-labelledby="agents">
        <h2 id="agents">Agents</h2>
        {agents.value.length === 0 && (
          <p>
            No agent is here. <kbd>hubcli adapter install</kbd> connects a harness.
          </p>
        )}
        <ul>
          {agents.value.map((agent) => (
            <li key={agent.agent_id}>
              <bdi>{agent.agent_id}</bdi> {agent.presence === "live" ? agent.activity.replace("_", " ") : agent.presence}
              {agent.prompt_tool && (
                <>
                  {" "}
                  (<bdi>{agent.prompt_tool}</bdi>)
                </>
              )}
            </li>
          ))}
        </ul>
      </section>
      <section aria-labelledby="messages">
        <h2 id="messages">Messages</h2>
        <Say agents={agents.value} rooms={rooms.value} />
        <ol role="log">
          {messages.value.map((m) => (
            <li key={m.id}>
              <Time at={m.ts} /> <bdi>{m.from_agent}</bdi>
              {m.authority !== "agent" && <b> ({m.authority})</b>}
              {m.to_agent && (
                <>
                  {" "}
                  to <bdi>{m.to_agent}</bdi>
                </>
              )}
              : <bdi class="text">{m.body}</bdi>
            </li>
          ))}
        </ol>
      </section>
    </main>
  );
}

const App = () => (pass.value ? <Now /> : <Closed />);

// Each pass has one follower, which ends with it.
let stop = new AbortController();
effect(() => {
  stop.abort();
  stop = new AbortController();
  if (pass.value) void follow(stop.signal);
});

// The title says how many questions are open, for a tab in the background.
effect(() => {
  const open = pass.value ? asks.value.length : 0;
  document.title = open > 0 ? `(${open}) hubcli` : "hubcli";
});

addEventListener("hashchange", () => void enter());
void enter().then(() => render(<App />, document.getElementById("app")!));
