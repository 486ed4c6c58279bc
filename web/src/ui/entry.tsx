import { useState } from "preact/hooks";
import type { Message } from "../wire";
import { Attachments } from "./attachments";
import { AgentLink } from "./links";
import { Person } from "./person";
import { RoomName } from "./places";
import { Row } from "./rows";
import { Text } from "./text";
import { Time } from "./time";

const much = 600; // characters that are shown at once

// Body shows a text, a long one by its beginning until the person wants all of it.
export function Body({ children }: { children: string }) {
  const [all, setAll] = useState(false);
  const chars = Array.from(children);
  if (chars.length <= much + 100 || all) return <Text>{children}</Text>;
  return (
    <>
      <Text>{chars.slice(0, much).join("") + "…"}</Text>{" "}
      <button type="button" data-look onClick={() => setAll(true)}>
        Show all {chars.length.toLocaleString()} characters
      </button>
    </>
  );
}

// Entry is a message in a list that is about an agent or a task.
export const Entry = ({ message: m }: { message: Message }) => (
  <Row class="entry">
    <p>
      {m.authority === "agent" ? <AgentLink id={m.from_agent} /> : <Person id={m.from_agent} authority={m.authority} />}
      {m.to_agent && (
        <>
          <span class="soft"> to </span>
          <AgentLink id={m.to_agent} />
        </>
      )}
      {m.kind !== "chat" && <span class="badge">{m.kind.replace("_", " ")}</span>}
      {m.room_id && (
        <span class="soft">
          in <RoomName id={m.room_id} />
        </span>
      )}
      <Time at={m.ts} />
    </p>
    <Body>{m.body}</Body>
    <Attachments of={m.attachments} />
  </Row>
);
