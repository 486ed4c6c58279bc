import { useState } from "preact/hooks";
import { usePauses } from "../agents/forced";
import type { Page } from "../pages";
import { useRead, useTail } from "../read";
import { Replay } from "../replay";
import { Link, to } from "../route";
import { Heading } from "../ui/heading";
import { Person } from "../ui/person";
import { Row } from "../ui/rows";
import { Command, Empty, Pending } from "../ui/said";
import { Line } from "../ui/text";
import { Age } from "../ui/time";
import type { Agent, Message, Project, Room } from "../wire";
import { OneRoom } from "./room";
import "./rooms.css";

const inRooms = (message: Message) => message.room_id !== null;

interface RoomRowProps {
  room: Room;
  here: Agent[] | undefined; // undefined: not read yet
  more: boolean; // there are agents that were not read
  last: Message | undefined;
  paused: boolean;
}

function RoomRow({ room, here, more, last, paused }: RoomRowProps) {
  return (
    <Row class="room-row">
      <span class="cut">
        <Link to={to("rooms", room.room_id)} class="strong">
          <Line>{room.name}</Line>
        </Link>{" "}
        <span class="soft">
          <Line>{room.topic}</Line>
        </span>
      </span>
      <span class="row">
        {paused && <span class="badge badge-warn">paused</span>}
        {here && (here.length > 0 || !more) && (
          <span class={here.length > 0 ? "count" : "soft"}>{here.length === 0 ? "nobody here" : more ? `${here.length}+ agents` : here.length === 1 ? "1 agent" : `${here.length} agents`}</span>
        )}
      </span>
      <span class="cut soft last">
        {last && (
          <>
            <Age at={last.ts} /> ago <Person id={last.from_agent} authority={last.authority} /> <Line>{last.body.slice(0, 300)}</Line>
          </>
        )}
      </span>
    </Row>
  );
}

// RoomList shows the rooms of each project, with who is there and what was said last.
function RoomList() {
  const rooms = useRead<Room[]>("/v1/rooms?limit=1000", ["rooms"]);
  const projects = useRead<Project[]>("/v1/projects?limit=1000", ["rooms"]).value ?? [];
  const agents = useRead<Agent[]>("/v1/agents?details=true&limit=1000", ["agents"]);
  const pauses = usePauses().value ?? [];
  const messages = useTail("/v1/log?direct=true", inRooms, 500).value ?? [];
  const [filter, setFilter] = useState("");
  const last = new Map(messages.map((message) => [message.room_id, message]));
  const wanted = filter.toLowerCase();
  const nameOf = (id: string) => projects.find((project) => project.project_id === id)?.name ?? id;
  const shown = (rooms.value ?? []).filter((room) => `${room.name} ${room.slug} ${room.topic} ${nameOf(room.project_id)}`.toLowerCase().includes(wanted));
  const groups = [...new Set(shown.map((room) => room.project_id))].sort((a, b) => nameOf(a).localeCompare(nameOf(b)));
  return (
    <div class="room-list">
      <header class="row">
        <Heading title="Rooms" />
        {rooms.value && rooms.value.length > 0 && (
          <input
            data-search
            type="search"
            class="end"
            aria-label="Filter rooms"
            placeholder="filter  /"
            value={filter}
            onInput={(event) => setFilter(event.currentTarget.value)}
          />
        )}
      </header>
      {!rooms.value && <Pending error={rooms.error} />}
      {rooms.value?.length === 0 && (
        <Empty>
          There is no room. A room is where a team works: <Command>hubcli project create --name Shop</Command> and{" "}
          <Command>hubcli room create --project shop --name Checkout</Command> make one.
        </Empty>
      )}
      {rooms.value && rooms.value.length > 0 && shown.length === 0 && <Empty>No room has this in its name.</Empty>}
      {rooms.next && <p class="warn">The hub has more rooms; these are the first 1,000 of them. hubcli room list lists all.</p>}
      {groups.map((project) => (
        <section key={project}>
          <h2>
            <Line>{nameOf(project)}</Line>
          </h2>
          <ul class="rows">
            {shown
              .filter((room) => room.project_id === project)
              .map((room) => (
                <RoomRow
                  key={room.room_id}
                  room={room}
                  more={agents.next !== ""}
                  here={agents.value?.filter((agent) => agent.presence === "live" && agent.details?.rooms.includes(room.room_id))}
                  last={last.get(room.room_id)}
                  paused={pauses.some((pause) => pause.all || pause.room_id === room.room_id)}
                />
              ))}
          </ul>
        </section>
      ))}
    </div>
  );
}

function Rooms({ rest: [id, at, moment = ""] }: { rest: readonly string[] }) {
  if (!id) return <RoomList />;
  return at === "at" ? <Replay key={id} id={id} moment={moment} /> : <OneRoom key={id} id={id} />;
}

export const roomsPage: Page = { name: "rooms", label: "Rooms", key: "r", view: Rooms };
