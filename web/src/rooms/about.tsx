import { useRead } from "../read";
import { MemoryLine } from "../ui/memoryline";
import { AgentLink } from "../ui/links";
import { Part } from "../ui/part";
import { Person } from "../ui/person";
import { Command, Empty, Pending } from "../ui/said";
import { Sums, sumsBy } from "../ui/sums";
import { TaskLine } from "../ui/taskline";
import { Line, line } from "../ui/text";
import { Age } from "../ui/time";
import type { Artifact, Decision, Ledger, Memory, Room, RoomStatus, Seat } from "../wire";
import { Limits } from "./limits";

const looks: Record<string, string> = { at_prompt: "bad", stuck: "bad", blocked: "bad", working: "good", waiting: "plain", idle: "plain", no_terminal: "plain" };

const SeatLine = ({ seat, deaf }: { seat: Seat; deaf: boolean }) => (
  <li>
    <Person id={seat.agent_id} />
    {seat.role && (
      <span class="soft">
        <Line>{seat.role}</Line>
      </span>
    )}
    <span class="end">
      {seat.unread > 0 && <span class="count">{seat.unread} unread</span>}{" "}
      <span class={`badge badge-${seat.presence === "live" ? looks[seat.activity] : "plain"}`}>
        {seat.presence === "live" ? seat.activity.replace("_", " ") : seat.presence}
      </span>
      {deaf && (
        <span class="badge badge-warn" title="No poll and no watch of it waits: a message would not wake it.">
          would not wake
        </span>
      )}
    </span>
  </li>
);

function Seats({ status }: { status: RoomStatus }) {
  return (
    <Part title="Seats" count={status.seat_count}>
      {status.seats.length === 0 && (
        <Empty>
          No agent is here. <Command>{`hubcli invite create --project ${status.project.slug} --room ${status.room.slug}`}</Command> makes an invite.
        </Empty>
      )}
      <ul class="lines">
        {status.seats.map((seat) => (
          <SeatLine key={seat.agent_id} seat={seat} deaf={status.not_listening.includes(seat.agent_id)} />
        ))}
      </ul>
      {status.gone_count > 0 && <p class="soft">{status.gone_count} more have been gone for ten minutes.</p>}
    </Part>
  );
}

// Read is what agents were given to read of the room.
function Read({ room }: { room: Room }) {
  const ledger = useRead<Ledger>("/v1/attention/ledger", ["agents", "budgets"]).value;
  const rows = ledger?.rooms.filter((row) => row.room_id === room.room_id) ?? [];
  if (rows.length === 0) return null;
  return (
    <Part title="Attention">
      <Sums
        all={sumsBy(rows, (row) => row.agent_id, (row) => <AgentLink id={row.agent_id} />)}
        title="Agents were given"
        none=""
        rest="hubcli app attention --by-room"
      />
    </Part>
  );
}

// About is what stands beside the timeline: who is here, what they work on, what the room keeps
// in mind, and its limits.
export function About({ room, status }: { room: Room; status: RoomStatus | null }) {
  const id = encodeURIComponent(room.room_id);
  const where = { room: room.room_id };
  const memory = useRead<Memory[]>(`/v1/memory?room_id=${id}&limit=50`, ["memory"]);
  const decisions = useRead<Decision[]>(`/v1/decisions?room_id=${id}&limit=5`, ["decisions"], where).value ?? [];
  const artifacts = useRead<Artifact[]>(`/v1/artifacts?room_id=${id}&latest=true&limit=5`, ["artifacts"], where).value ?? [];
  return (
    <aside class="beside about" aria-label="About the room" tabIndex={0}>
      {status && <Seats status={status} />}
      {status && (
        <Part title="Tasks" count={status.open_task_count}>
          {status.open_tasks.length === 0 && <Empty>No task is open.</Empty>}
          <ul class="lines">
            {status.open_tasks.slice(0, 8).map((task) => (
              <TaskLine key={task.task_id} task={task} />
            ))}
          </ul>
        </Part>
      )}
      <Part title="Memory" count={memory.next ? `${memory.value?.length}+` : memory.value?.length}>
        {!memory.value && <Pending error={memory.error} />}
        {memory.value?.length === 0 && (
          <Empty>
            The room keeps nothing in mind. Agents do with the tool <Command>hub_remember</Command>.
          </Empty>
        )}
        <ul class="memory">
          {memory.value?.slice(0, 8).map((one) => (
            <MemoryLine key={one.memory_id} memory={one} />
          ))}
        </ul>
      </Part>
      {decisions.length > 0 && (
        <Part title="Decided last">
          <ul class="memory">
            {decisions.map((one) => (
              <li key={one.decision_id} title={line(one.note)}>
                <Line>{one.title}</Line>{" "}
                <span class="soft">
                  <Age at={one.created_at} /> ago
                </span>
              </li>
            ))}
          </ul>
        </Part>
      )}
      {artifacts.length > 0 && (
        <Part title="Latest artifacts">
          <ul class="memory">
            {artifacts.map((one) => (
              <li key={one.artifact_id}>
                <Line>{one.title}</Line>{" "}
                <span class="soft">
                  version {one.version}, {one.size.toLocaleString()} bytes
                </span>
              </li>
            ))}
          </ul>
        </Part>
      )}
      <Read room={room} />
      <Limits room={room} />
    </aside>
  );
}
