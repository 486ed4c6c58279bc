import { useEffect, useState } from "preact/hooks";
import { get, temporary } from "../api";
import { connected } from "../live";
import { retry, useRead } from "../read";
import { go, place, setQuery, to } from "../route";
import { Heading } from "../ui/heading";
import { Person } from "../ui/person";
import { useProjects, useRooms } from "../ui/places";
import { Row } from "../ui/rows";
import { Command, Empty, Pending } from "../ui/said";
import { Line, Text, line } from "../ui/text";
import { Age, Time } from "../ui/time";
import type { Memory as Kept } from "./types";

const step = 100;

// Memory shows what a room keeps in mind, with the memory of its project, and the history of a key.
export function Memory({ room }: { room: string }) {
  const rooms = useRooms();
  const projects = useProjects().value ?? [];
  const [limit, setLimit] = useState(step);
  const id = room || rooms.value?.[0]?.room_id || "";
  const { query } = place.value;
  const key = query.get("key") ?? "";
  const past = key !== "" || query.get("past") === "1";
  const path = `/v1/memory?room_id=${encodeURIComponent(id)}&limit=${limit}${past ? "&history=true" : ""}${key && `&key=${encodeURIComponent(key)}`}`;
  const { value, error } = useRead<Kept[]>(id ? path : null, ["memory"]);
  const at = rooms.value?.find((one) => one.room_id === id);
  const project = projects.find((one) => one.project_id === at?.project_id);
  if (!id && !rooms.value) return <Pending error={rooms.error} />;
  if (!id) {
    return (
      <Empty>
        There is no room that could keep something in mind. <Command>hubcli room create --project PROJECT --name NAME</Command>
      </Empty>
    );
  }
  return (
    <>
      <div class="row memory-of">
        {!room && (
          <label>
            Of{" "}
            <select value={id} onChange={(event) => setQuery({ room: event.currentTarget.value, key: "" })}>
              {rooms.value?.map((one) => (
                <option key={one.room_id} value={one.room_id}>
                  {line(one.name)}
                </option>
              ))}
            </select>
          </label>
        )}
        {project && (
          <span class="soft">
            with the memory of its project <Line>{project.name}</Line>
          </span>
        )}
        {key ? (
          <>
            <span>
              History of <b><Line>{key}</Line></b>
            </span>
            <button type="button" data-look onClick={() => setQuery({ key: "" })}>
              All keys
            </button>
          </>
        ) : (
          <label>
            <input type="checkbox" checked={past} onChange={(event) => setQuery({ past: event.currentTarget.checked ? "1" : "" })} /> what was
            replaced or forgotten, too
          </label>
        )}
      </div>
      {!value && <Pending error={error} />}
      {value?.length === 0 && (
        <Empty>
          {key ? "Nothing was ever kept under this key. " : "This room keeps nothing in mind. "}
          Agents keep a text with the tool <code>hub_remember</code>; <Command>hubcli app memory --room ROOM</Command> lists them.
        </Empty>
      )}
      <ul class="rows">
        {value?.map((one) => (
          <Kept key={one.memory_id} one={one} history={key !== ""} />
        ))}
      </ul>
      {value && value.length >= limit && (
        <p class="row">
          <span class="soft">{value.length.toLocaleString()} are shown, and there may be more.</span>
          {limit < 1000 ? (
            <button type="button" data-look onClick={() => setLimit(Math.min(1000, limit + 3 * step))}>
              Show more
            </button>
          ) : (
            <span class="soft">Search for the others.</span>
          )}
        </p>
      )}
    </>
  );
}

function Kept({ one, history }: { one: Kept; history: boolean }) {
  return (
    <Row class={one.replaced_at ? "known past" : "known"}>
      <p class="row">
        {one.key ? (
          <b>
            <Line>{one.key}</Line>
          </b>
        ) : (
          <span class="soft">without a key</span>
        )}
        {one.scope === "project" && <span class="badge">project</span>}
        {one.replaced_at ? <span class="badge">replaced or forgotten</span> : history && <span class="badge">in force</span>}
        {one.tags.map((tag) => (
          <span key={tag} class="badge">
            <Line>{tag}</Line>
          </span>
        ))}
        {one.key && !history && (
          <button type="button" data-look class="quiet end" aria-label={`History of ${line(one.key)}`} onClick={() => setQuery({ key: one.key }, false)}>
            History
          </button>
        )}
      </p>
      <div class="prose">
        <Text>{one.text}</Text>
      </div>
      <p class="soft by">
        {one.by ? <Person id={one.by} /> : "nobody named"} · <Age at={one.created_at} /> ago
        {one.replaced_at && (
          <>
            , in force until <Time at={one.replaced_at} />
          </>
        )}
      </p>
    </Row>
  );
}

const asked = 300; // rooms, at most, in which a memory is looked for

// FindMemory leads from an id of a memory to a room that keeps it, which a search may not name. A room
// answers for its own memory and for that of its project.
export function FindMemory({ id }: { id: string }) {
  const rooms = useRooms();
  const [said, setSaid] = useState("");
  const [failed, setFailed] = useState<unknown>(null);
  const [again, setAgain] = useState(0);
  useEffect(() => {
    if (!rooms.value) return;
    setSaid("");
    setFailed(null);
    const stop = new AbortController();
    let timer = 0;
    const first = new Map(rooms.value.toReversed().map((room) => [room.project_id, room.room_id]));
    const all = [...new Set([...first.values(), ...rooms.value.map((room) => room.room_id)])].slice(0, asked);
    void (async () => {
      for (const room of all) {
        const found = await get<Kept[]>(`/v1/memory?history=true&room_id=${room}&memory_id=${encodeURIComponent(id)}`, stop.signal);
        if (stop.signal.aborted) return;
        if (!found[0]) continue;
        const { key } = found[0];
        go(`${to("knowledge")}?tab=memory&room=${room}${key ? `&key=${encodeURIComponent(key)}` : "&past=1"}`, true);
        return;
      }
      const more = rooms.next !== "" || all.length < (rooms.value?.length ?? 0);
      setSaid(more ? `None of the first ${all.length} rooms keeps this memory.` : "No room that is in use keeps this memory.");
    })().catch((error: unknown) => {
      if (stop.signal.aborted) return;
      setFailed(error);
      if (temporary(error)) timer = setTimeout(() => setAgain((n) => n + 1), retry);
    });
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [id, rooms.value?.length, again, connected.value]);
  return (
    <>
      <Heading title={id} />
      {said ? <Empty>{said}</Empty> : <Pending error={failed ?? rooms.error} />}
    </>
  );
}
