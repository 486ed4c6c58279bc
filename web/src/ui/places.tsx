import { useRead } from "../read";
import { Link, setQuery, to } from "../route";
import type { Project, Room } from "../wire";
import { Line, line } from "./text";

// The rooms and projects of the hub, by name.

export const useRooms = () => useRead<Room[]>("/v1/rooms?limit=1000", ["rooms"]);
export const useProjects = () => useRead<Project[]>("/v1/projects?limit=1000", ["rooms"]);

// statusOf is the path of what goes on in a room.
export const statusOf = (id: string) => `/v1/rooms/${encodeURIComponent(id)}/status`;

// RoomName is a link to a room, by its name.
export function RoomName({ id }: { id: string }) {
  const room = useRooms().value?.find((one) => one.room_id === id);
  return (
    <Link to={to("rooms", id)}>
      <Line>{room?.name ?? id}</Line>
    </Link>
  );
}

// Then leads to the replay of a room, at a moment.
export const Then = ({ room, at }: { room: string; at: string }) => (
  <Link to={to("rooms", room, "at", at)} title="the replay of the room at this moment">
    as it was then
  </Link>
);

// RoomFilter narrows a page to one room (?room=). A link to a room that is no longer listed keeps it.
export function RoomFilter({ room }: { room: string }) {
  const rooms = useRooms().value ?? [];
  return (
    <select aria-label="Room" value={room} onChange={(event) => setQuery({ room: event.currentTarget.value, before: "", page: "" })}>
      <option value="">all rooms</option>
      {room && !rooms.some((one) => one.room_id === room) && <option value={room}>{room}</option>}
      {rooms.map((one) => (
        <option key={one.room_id} value={one.room_id}>
          {line(one.name)}
        </option>
      ))}
    </select>
  );
}
