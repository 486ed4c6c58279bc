import { useState } from "preact/hooks";
import { useRead } from "../read";
import { Act } from "../ui/dialog";
import { AgentLink } from "../ui/links";
import { RoomName, useRooms } from "../ui/places";
import { Row } from "../ui/rows";
import { Pending } from "../ui/said";
import { Line, line } from "../ui/text";
import { Age, Left } from "../ui/time";
import type { Agent, Pause } from "../wire";
import { Resume, Unmute, pause } from "./acts";
import type { Mute } from "./types";

export const usePauses = () => useRead<Pause[]>("/v1/pauses", ["pauses"]);
export const useMutes = () => useRead<Mute[]>("/v1/mutes", ["mutes"]);

// PauseSome pauses everybody, a room or an agent.
export function PauseSome({ agents }: { agents: readonly Agent[] }) {
  const rooms = useRooms().value ?? [];
  const [who, setWho] = useState("all");
  const [kind, id] = [who.slice(0, who.indexOf(":")), who.slice(who.indexOf(":") + 1)];
  const run = (words: string) => {
    if (kind === "room") return pause({ room_id: id }, words, rooms.find((room) => room.room_id === id)?.name ?? id);
    if (kind === "agent") return pause({ agent_id: id }, words, id);
    return pause({ all: true }, words, "Everything");
  };
  return (
    <Act label="Pause…" title="Pause agents?" reason="Why? Those who are stopped are told." run={run}>
      <p>They post nothing and take no work until you resume them: such calls are refused with your words. They keep what they have and may read.</p>
      <label class="field">
        Whom
        <select value={who} onChange={(event) => setWho(event.currentTarget.value)}>
          <option value="all">everybody</option>
          {rooms.map((room) => (
            <option key={room.room_id} value={`room:${room.room_id}`}>
              room {line(room.name)}
            </option>
          ))}
          {agents.map((agent) => (
            <option key={agent.agent_id} value={`agent:${agent.agent_id}`}>
              @{agent.agent_id}
            </option>
          ))}
        </select>
      </label>
    </Act>
  );
}

// Forced shows the pauses and mutes in force, each with the button that ends it.
export function Forced() {
  const rooms = useRooms().value ?? [];
  const [pausing, muting] = [usePauses(), useMutes()];
  const [pauses, mutes] = [pausing.value ?? [], muting.value ?? []];
  const failed = [pausing, muting].find((one) => !one.value && one.error);
  if (pauses.length + mutes.length === 0) return failed ? <Pending error={failed.error} /> : null;
  const roomName = (id: string) => rooms.find((room) => room.room_id === id)?.name ?? id;
  return (
    <section aria-labelledby="forced">
      <h2 id="forced">Paused and muted</h2>
      <ul class="rows" aria-label="Paused and muted">
        {pauses.slice(0, 100).map((one) => {
          const name = one.all ? "everybody" : one.room_id ? `room ${line(roomName(one.room_id))}` : (one.agent_id ?? "");
          return (
            <Row key={"pause" + name} class="forced">
              <span class="badge badge-warn">paused</span>
              <span>{one.all ? <b>everybody</b> : one.room_id ? <RoomName id={one.room_id} /> : <AgentLink id={one.agent_id ?? ""} />}</span>
              <span class="words">
                <Line>{one.words}</Line>{" "}
                <span class="soft">
                  for <Age at={one.since} />
                </span>
              </span>
              <Resume of={one} name={name} />
            </Row>
          );
        })}
        {mutes.slice(0, 100).map((one) => (
          <Row key={"mute" + one.agent_id + (one.room_id ?? "")} class="forced">
            <span class="badge">muted</span>
            <span>
              {one.agent_id ? <AgentLink id={one.agent_id} /> : <b>everybody</b>}
              {one.room_id && (
                <>
                  {" "}
                  in <RoomName id={one.room_id} />
                </>
              )}
            </span>
            <span class="words">
              <Line>{one.reason}</Line>{" "}
              <span class="soft">
                {one.until ? (
                  <>
                    ends in <Left until={one.until} />
                  </>
                ) : (
                  <>
                    for <Age at={one.since} />
                  </>
                )}
              </span>
            </span>
            <Unmute of={one} name={one.agent_id || `everybody in ${line(roomName(one.room_id ?? ""))}`} />
          </Row>
        ))}
      </ul>
      {failed && <Pending error={failed.error} />}
      {(pauses.length > 100 || mutes.length > 100) && <p class="empty">There are more; hubcli app pauses and hubcli app mutes list all.</p>}
    </section>
  );
}
