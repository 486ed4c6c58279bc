import { useEffect, useState } from "preact/hooks";
import { readBack } from "../log";
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
  const [from, setFrom] = useState(0); // where to look, if that is further back than what is shown
  const [state, setState] = useState<"more" | "busy" | "all">("more");
  const [refused, setRefused] = useState("");
  const latest = (tail.value ?? []).toReversed();
  const rows = [...latest, ...older.filter((m) => latest.every((one) => one.id !== m.id))];
  const look = async () => {
    setState("busy");
    try {
      const found = await readBack(path, recent, from || (rows.at(-1)?.id ?? 0));
      setOlder([...rows, ...found.rows.toReversed()]); // what was shown stays, also when it leaves the latest
      setFrom(found.rows.length > 0 ? 0 : found.before);
      setState(found.before <= 1 ? "all" : "more");
      setRefused("");
    } catch (error) {
      setRefused(wordsOf(error));
      setState("more");
    }
  };
  // Few messages may be all of them, or a page that is shorter than was asked for.
  const few = tail.value !== null && tail.value.length < recent;
  useEffect(() => {
    if (few && state === "more") void look();
  }, [few]);
  const more = tail.value !== null && state !== "all";
  return (
    <section aria-labelledby="history">
      <h2 id="history">History</h2>
      {!tail.value && <Pending error={tail.error} />}
      {rows.length === 0 && state === "all" && <Empty>It has said nothing, and nobody has written to it.</Empty>}
      {rows.length === 0 && state === "more" && from > 0 && <Empty>There is nothing of it among the latest messages.</Empty>}
      <ol class="rows" aria-label="History">
        {rows.map((m) => (
          <Entry key={m.id} message={m} />
        ))}
      </ol>
      <Alert>{refused}</Alert>
      {more && rows.length < most && (
        <button type="button" data-look disabled={state === "busy"} onClick={() => void look()}>
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
