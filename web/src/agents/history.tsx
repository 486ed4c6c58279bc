import { useState } from "preact/hooks";
import { get } from "../api";
import { useTail } from "../read";
import { Entry } from "../ui/entry";
import { Alert, Empty, Pending, wordsOf } from "../ui/said";
import type { Message } from "../wire";

const recent = 50; // messages that are shown at once, and that come with each look further back
const most = 1_000; // that the page shows

// History shows the latest messages from and to an agent, the newest first, and older ones on demand.
export function History({ id }: { id: string }) {
  const path = `/v1/log?direct=true&agent=${encodeURIComponent(id)}`;
  const tail = useTail(path, (m) => m.from_agent === id || m.to_agent === id, recent);
  const [older, setOlder] = useState<Message[]>([]); // falling
  const [state, setState] = useState<"more" | "busy" | "all">("more");
  const [refused, setRefused] = useState("");
  const latest = (tail.value ?? []).toReversed();
  const rows = [...latest, ...older.filter((m) => latest.every((one) => one.id !== m.id))];
  const look = async () => {
    const last = rows.at(-1);
    if (!last) return;
    setState("busy");
    try {
      // until names a moment, in which there may be more than one message.
      const until = new Date(Date.parse(last.ts) + 1).toISOString();
      const found = await get<Message[]>(`${path}&tail=true&limit=${2 * recent}&until=${until}`);
      const fresh = found.filter((m) => m.id < last.id).toReversed().slice(0, recent);
      setOlder([...rows, ...fresh]); // what was shown stays, also when it leaves the latest
      setState(fresh.length === 0 ? "all" : "more");
      setRefused("");
    } catch (error) {
      setRefused(wordsOf(error));
      setState("more");
    }
  };
  const more = rows.length >= recent && state !== "all";
  return (
    <section aria-labelledby="history">
      <h2 id="history">History</h2>
      {!tail.value && <Pending error={tail.error} />}
      {tail.value?.length === 0 && <Empty>It has said nothing, and nobody has written to it.</Empty>}
      <ol class="rows" aria-label="History">
        {rows.map((m) => (
          <Entry key={m.id} message={m} />
        ))}
      </ol>
      <Alert>{refused}</Alert>
      {more && rows.length < most && (
        <button type="button" disabled={state === "busy"} onClick={() => void look()}>
          Older messages
        </button>
      )}
      {more && rows.length >= most && (
        <Empty>
          Older ones are in <code>hubcli log --direct --agent {id}</code>
        </Empty>
      )}
    </section>
  );
}
