import { useState } from "preact/hooks";
import { Link, to } from "../route";
import { AttachedNames } from "../ui/attachments";
import { Person } from "../ui/person";
import { Row } from "../ui/rows";
import { Empty, Pending } from "../ui/said";
import { Line, Text } from "../ui/text";
import { Time } from "../ui/time";
import type { Agent, Message, Room } from "../wire";
import { Say } from "./say";

const first = 20; // messages, until the person wants more
const step = 80;

// Where a message was said: a room, a channel, or to one agent alone.
function Place({ message, rooms }: { message: Message; rooms: Room[] }) {
  const room = rooms.find((one) => one.room_id === message.room_id);
  return (
    <span class="soft">
      {message.to_agent && (
        <>
          {" to "}
          <Person id={message.to_agent} />{" "}
        </>
      )}
      {room ? (
        <Link to={to("rooms", room.room_id)}>
          <Line>{room.name}</Line>
        </Link>
      ) : (
        !message.to_agent && <Line>{`#${message.channel}`}</Line>
      )}
    </span>
  );
}

interface LatestProps {
  messages: readonly Message[] | null; // null: not read yet
  error: unknown;
  agents: Agent[];
  rooms: Room[];
}

// Latest shows what was said last, the latest first, and lets the person speak.
export function Latest({ messages, error, agents, rooms }: LatestProps) {
  const [shown, setShown] = useState(first);
  return (
    <section aria-labelledby="messages">
      <h2 id="messages">Messages</h2>
      <Say agents={agents} rooms={rooms} />
      {!messages && <Pending error={error} />}
      {messages?.length === 0 && <Empty>Nothing was said yet.</Empty>}
      <div role="log">
        <ol class="rows latest">
          {messages
            ?.slice(-shown)
            .toReversed()
            .map((message) => (
              <Row key={message.id}>
                <span class="said-by">
                  <Person id={message.from_agent} authority={message.authority} />
                  <Place message={message} rooms={rooms} />
                  <span class="end">
                    <Time at={message.ts} />
                  </span>
                </span>
                <span class="clamp">
                  <Text>{message.body.slice(0, 600)}</Text>
                </span>
                <AttachedNames of={message.attachments} />
              </Row>
            ))}
        </ol>
      </div>
      {messages && messages.length > shown && (
        <button type="button" data-look class="quiet" onClick={() => setShown(shown + step)}>
          Show more
        </button>
      )}
    </section>
  );
}
