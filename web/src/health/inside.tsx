import { Person } from "../ui/person";
import { Empty } from "../ui/said";
import { bytes } from "../ui/size";
import { Line } from "../ui/text";
import { Time, span } from "../ui/time";

export interface Debug {
  at: string;
  owner_count: number;
  owners: { kind: string; name: string; state: string; commands: number; bytes: number; last_seq: number }[];
  parked_count: number;
  parked: { kind: string; agent_id: string; since: string }[];
  numbered_seq: number;
  durable_seq: number;
  pending_count: number;
  pending: { seq: number; at: string; owner: string; state: string }[];
  views: Record<string, number>;
  goroutines: number;
  heap: { live_bytes: number; objects: number; total_bytes: number; gc_cycles: number };
}

const most = 25; // rows of each table

// Inside shows what the hub did at one moment: which calls wait, what is on its way to the disk, and
// which parts have work.
export function Inside({ debug }: { debug: Debug }) {
  const busy = debug.owners.filter((one) => one.state !== "idle" || one.commands > 0);
  const views = Object.entries(debug.views).toSorted((a, b) => b[1] - a[1]);
  return (
    <>
      <p class="soft">
        As of <Time at={debug.at} />: {debug.owner_count} parts, {busy.length === 0 ? "all idle" : `${busy.length} with work`};{" "}
        {debug.pending_count} records on their way to the disk (of {debug.numbered_seq.toLocaleString()}); {debug.goroutines} goroutines;{" "}
        {bytes(debug.heap.live_bytes)} of heap in {debug.heap.objects.toLocaleString()} objects.
      </p>
      <h3>Calls that wait: {debug.parked_count}</h3>
      {debug.parked.length === 0 && <Empty>No call waits.</Empty>}
      {debug.parked.length > 0 && (
        <div class="table" tabIndex={0} role="region" aria-label="Calls that wait">
          <table>
            <thead>
              <tr>
                <th scope="col">Agent</th>
                <th scope="col">Call</th>
                <th scope="col">For</th>
              </tr>
            </thead>
            <tbody>
              {debug.parked.slice(0, most).map((one, i) => (
                <tr key={i}>
                  <td>{one.agent_id ? <Person id={one.agent_id} /> : "nobody named"}</td>
                  <td>{one.kind}</td>
                  <td>{span(Date.parse(debug.at) - Date.parse(one.since))}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {debug.parked_count > most && <p class="soft">The {most} that have waited longest are shown.</p>}
      {busy.length > 0 && (
        <>
          <h3>Parts with work</h3>
          <ul class="rows">
            {busy.slice(0, most).map((one) => (
              <li key={one.kind + one.name} class="item">
                <Line>{one.kind}</Line> <Line>{one.name}</Line>: {one.state}, {one.commands} commands, {bytes(one.bytes)}
              </li>
            ))}
          </ul>
        </>
      )}
      {debug.pending.length > 0 && (
        <>
          <h3>On their way to the disk</h3>
          <ul class="rows">
            {debug.pending.slice(0, most).map((one) => (
              <li key={one.seq} class="item">
                {one.seq}: <Line>{one.owner}</Line>, {one.state}, since <Time at={one.at} />
              </li>
            ))}
          </ul>
        </>
      )}
      <h3>Rows in memory</h3>
      <p class="soft">
        {views.map(([name, count], i) => (
          <span key={name}>
            {i > 0 && " · "}
            <Line>{name}</Line> {count.toLocaleString()}
          </span>
        ))}
      </p>
    </>
  );
}
