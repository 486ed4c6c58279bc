import { useRef } from "preact/hooks";
import { useKeys } from "../keys";
import { AgentLink, Status, TaskLink, statusWord } from "../ui/links";
import { RoomName } from "../ui/places";
import { Row } from "../ui/rows";
import { Age } from "../ui/time";
import type { Task } from "../wire";
import { ended, statuses } from "./types";

const most = 50; // cards of a column

// sideways moves the focus to the same height of the next column that has cards.
function sideways(board: HTMLElement | null, by: 1 | -1): void {
  const columns = [...(board?.querySelectorAll("section") ?? [])].map((column) => [...column.querySelectorAll<HTMLElement>("[data-row]")]);
  const of = (column: HTMLElement[]) => column.findIndex((card) => card.contains(document.activeElement));
  const from = columns.findIndex((column) => of(column) >= 0);
  const height = from < 0 ? 0 : of(columns[from] ?? []);
  const start = from < 0 && by < 0 ? columns.length : from;
  for (let at = start + by; at >= 0 && at < columns.length; at += by) {
    const column = columns[at] ?? [];
    const card = column[Math.min(height, column.length - 1)];
    if (!card) continue;
    card.focus();
    card.scrollIntoView({ block: "nearest", inline: "nearest" });
    return;
  }
}

function Card({ task }: { task: Task }) {
  const waits = ended(task) || task.ready ? [] : task.blocked_by;
  return (
    <Row class="card">
      <span class="clamp">
        <TaskLink id={task.task_id} title={task.title} />
      </span>
      <span class="row">
        {task.assignee ? <AgentLink id={task.assignee} /> : <span class="soft">nobody</span>}
        {task.status === "open" && !task.ready && <Status task={task} />}
        <span class="soft end">
          <Age at={task.updated_at} />
          <span class="sr"> since its last change</span>
        </span>
      </span>
      {task.offered_to && (
        <span class="warn">
          offered to <AgentLink id={task.offered_to} />
        </span>
      )}
      {waits.length > 0 && (
        <span class="soft">
          after{" "}
          {waits.slice(0, 4).map((id) => (
            <>
              <TaskLink key={id} id={id} />{" "}
            </>
          ))}
        </span>
      )}
      {task.room_id && (
        <span class="soft">
          <RoomName id={task.room_id} />
        </span>
      )}
    </Row>
  );
}

// Board shows tasks in a column for each state, what has changed last first. Columns of ends that no
// task has had are left out.
export function Board({ tasks, cut }: { tasks: readonly Task[]; cut: string }) {
  const self = useRef<HTMLDivElement>(null);
  useKeys("Board", [
    { keys: "h", what: "column to the left", run: () => sideways(self.current, -1) },
    { keys: "l", what: "column to the right", run: () => sideways(self.current, 1) },
  ]);
  const columns = statuses
    .map((status) => ({ status, all: tasks.filter((task) => task.status === status).sort((a, b) => b.updated_at.localeCompare(a.updated_at)) }))
    .filter(({ status, all }) => all.length > 0 || (status !== "failed" && status !== "cancelled"));
  return (
    <>
      <div class="board" ref={self} role="group" aria-label="Board" tabIndex={0}>
        {columns.map(({ status, all }) => (
          <section key={status} aria-labelledby={`board-${status}`}>
            <h2 id={`board-${status}`}>
              {statusWord(status)} <span class="count">{all.length}</span>
            </h2>
            <ul class="rows">
              {all.slice(0, most).map((task) => (
                <Card key={task.task_id} task={task} />
              ))}
            </ul>
            {all.length > most && <p class="empty">{all.length - most} more are in the tree.</p>}
          </section>
        ))}
      </div>
      {cut && <p class="empty">{cut}</p>}
    </>
  );
}
