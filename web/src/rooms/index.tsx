import { useState } from "preact/hooks";
import type { Page } from "../pages";
import { useRead, useTail } from "../read";
import { Link, to } from "../route";
import { Heading } from "../ui/heading";
import { Person } from "../ui/person";
import { Row } from "../ui/rows";
import { Command, Empty, Pending } from "../ui/said";
import { Line, Text } from "../ui/text";
import { Age, Time } from "../ui/time";
import type { Project, Room } from "../wire";

// RoomList shows the rooms, by project.
function RoomList() {
  const rooms = useRead<Room[]>("/v1/rooms?limit=1000", ["rooms"]);
  const projects = useRead<Project[]>("/v1/projects?limit=1000", ["rooms"]);
  const [filter, setFilter] = useState("");
  const wanted = filter.toLowerCase();
  const shown = rooms.value?.filter((room) => `${room.name} ${room.slug} ${room.topic}`.toLowerCase().includes(wanted)) ?? [];
  const nameOf = (id: string) => projects.value?.find((project) => project.project_id === id)?.name ?? id;
  return (
    <>
      <Heading title="Rooms" />
      {!rooms.value && <Pending error={rooms.error} />}
      {rooms.value && rooms.value.length > 0 && (
        <input
          data-search
          type="search"
          aria-label="Filter rooms"
          placeholder="filter rooms"
          value={filter}
          onInput={(event) => setFilter(event.currentTarget.value)}
        />
      )}
      {rooms.value?.length === 0 && (
        <Empty>
          There is no room. A room is where a team works: <Command>hubcli project create --name Shop</Command> and{" "}
          <Command>hubcli room create --project shop --name Checkout</Command> make one.
        </Empty>
      )}
      {rooms.value && rooms.value.length > 0 && shown.length === 0 && <Empty>No room has this in its name.</Empty>}
      <ul class="rows">
        {shown.map((room) => (
          <Row key={room.room_id}>
            <Link to={to("rooms", room.room_id)} class="strong">
              <Line>{room.name}</Line>
            </Link>{" "}
            <span class="soft">
              <Line>{nameOf(room.project_id)}</Line> · <Line>{room.topic || "no topic"}</Line> · <Age at={room.created_at} /> old
            </span>
          </Row>
        ))}
      </ul>
    </>
  );
}

function OneRoom({ id }: { id: string }) {
  const room = useRead<Room>(`/v1/rooms/${encodeURIComponent(id)}`, ["rooms"]);
  const messages = useTail(`/v1/log?direct=true&room_id=${encodeURIComponent(id)}`, (m) => m.room_id === id, 200);
  return (
    <>
      <Heading title={room.value?.name ?? id}>
        <Line>{room.value?.name ?? id}</Line>
      </Heading>
      {!room.value && <Pending error={room.error} />}
      <ol class="rows" role="log" aria-label="Messages">
        {messages.value?.map((m) => (
          <Row key={m.id}>
            <Time at={m.ts} /> <Person id={m.from_agent} authority={m.authority} /> <Text>{m.body}</Text>
          </Row>
        ))}
      </ol>
    </>
  );
}

const Rooms = ({ rest }: { rest: readonly string[] }) => (rest[0] ? <OneRoom key={rest[0]} id={rest[0]} /> : <RoomList />);

export const roomsPage: Page = { name: "rooms", label: "Rooms", key: "r", view: Rooms };
