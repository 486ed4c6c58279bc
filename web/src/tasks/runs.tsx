import { useRead } from "../read";
import { Link, to } from "../route";
import { Bar } from "../ui/bar";
import { AgentLink } from "../ui/links";
import { Pager } from "../ui/pager";
import { RoomName } from "../ui/places";
import { Row } from "../ui/rows";
import { Command, Empty, Pending } from "../ui/said";
import { Line } from "../ui/text";
import { Age } from "../ui/time";
import type { Run } from "./types";

const looks = { running: "good", complete: "plain", failed: "bad", cancelled: "plain" } as const;

// saysOf says how far a run is.
export function saysOf({ counts }: Run): string {
  const parts: [number, string][] = [
    [counts.working, "working"],
    [counts.input_required, "need input"],
    [counts.failed, "failed"],
    [counts.cancelled, "cancelled"],
  ];
  return [`${counts.done} of ${counts.total} done`, ...parts.filter(([n]) => n > 0).map(([n, word]) => `${n} ${word}`)].join(", ");
}

export const RunBar = ({ run }: { run: Run }) => (
  <Bar
    whole={run.counts.total}
    label={saysOf(run)}
    parts={[
      { value: run.counts.done, look: "good" },
      { value: run.counts.failed + run.counts.cancelled, look: "bad" },
      { value: run.counts.input_required, look: "warn" },
      { value: run.counts.working, look: "accent" },
    ]}
  />
);

// Runs shows batches of tasks with their progress. Each leads to its tasks.
export function Runs({ room, text }: { room: string; text: string }) {
  const runs = useRead<Run[]>("/v1/runs?limit=1000" + (room && `&room_id=${encodeURIComponent(room)}`), ["runs", "tasks"]);
  if (!runs.value) return <Pending error={runs.error} />;
  const shown = runs.value.filter((run) => `${run.title}\n${run.created_by}`.toLowerCase().includes(text));
  if (runs.value.length === 0) {
    return (
      <Empty>
        There is no run. A run is a batch of tasks that ends when they have ended: <Command>hubcli app runs open "Release 2" --by lead</Command>
      </Empty>
    );
  }
  if (shown.length === 0) return <Empty>No run matches.</Empty>;
  return (
    <Pager rows={shown} what="runs" cut={runs.next && "The hub has more runs; these are the newest 1,000."}>
      {(rows) => (
        <ul class="rows" aria-label="Runs">
          {rows.map((run) => (
            <Row key={run.run_id} class="run">
              <span>
                <Link to={`${to("tasks")}?run=${encodeURIComponent(run.run_id)}`} class="strong">
                  <Line>{run.title}</Line>
                </Link>{" "}
                <span class={`badge badge-${looks[run.status]}`}>{run.status}</span>
              </span>
              <span class="progress">
                <RunBar run={run} />
                <span class="soft">{saysOf(run)}</span>
              </span>
              <span class="more soft">
                {run.created_by && <AgentLink id={run.created_by} />}
                {run.room_id && <RoomName id={run.room_id} />}
                <span>
                  <Age at={run.started_at} /> old
                </span>
              </span>
            </Row>
          ))}
        </ul>
      )}
    </Pager>
  );
}
