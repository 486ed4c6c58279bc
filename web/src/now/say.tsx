import { useState } from "preact/hooks";
import { call } from "../api";
import { draftOf, write } from "../drafts";
import { Alert, wordsOf } from "../ui/said";
import { line } from "../ui/text";
import type { Agent, Room } from "../wire";

const general = "channel:general";

// Say posts with the operator's authority, to a room or to one agent. A text that was not
// sent stays.
export function Say({ agents, rooms }: { agents: Agent[]; rooms: Room[] }) {
  const { text, to: kept } = draftOf("say");
  const to = kept || general;
  // What is shown is for whom the words are, also when that one has gone.
  const known = to === general || rooms.some((room) => to === `channel:${room.channel}`) || agents.some((agent) => to === `agent:${agent.agent_id}`);
  const [said, setSaid] = useState("");
  const send = async () => {
    const at = to.indexOf(":");
    const place = to.slice(0, at) === "agent" ? { to_agent: to.slice(at + 1) } : { channel: to.slice(at + 1) };
    try {
      await call("POST", "/v1/messages", { from_agent: "operator", body: text, ...place });
      write("say", { text: "" });
      setSaid("");
    } catch (error) {
      setSaid(wordsOf(error));
    }
  };
  return (
    <form
      class="row say"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim()) void send();
      }}
    >
      <select aria-label="To" value={to} onChange={(event) => write("say", { to: event.currentTarget.value })}>
        <option value={general}>#general</option>
        {rooms.map((room) => (
          <option key={room.room_id} value={`channel:${room.channel}`}>
            {line(room.name)}
          </option>
        ))}
        {agents.map((agent) => (
          <option key={agent.agent_id} value={`agent:${agent.agent_id}`}>
            @{agent.agent_id}
          </option>
        ))}
        {!known && <option value={to}>{line(to.slice(to.indexOf(":") + 1))}</option>}
      </select>
      <input
        aria-label="Say something as the operator"
        placeholder="say something as the operator"
        value={text}
        onInput={(event) => write("say", { text: event.currentTarget.value })}
      />
      <button type="submit" disabled={!text.trim()}>
        Say
      </button>
      <Alert>{said}</Alert>
    </form>
  );
}
