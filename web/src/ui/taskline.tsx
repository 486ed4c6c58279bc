import type { Task } from "../wire";
import { Person } from "./person";
import { Line, line } from "./text";

const taskLooks: Record<string, string> = { working: "good", input_required: "bad", open: "plain" };

// TaskLine is a task on one line. A task of the past may have a status that nobody knows.
export const TaskLine = ({ task }: { task: Task }) => (
  <li title={line(task.title)}>
    <span class="soft">#{task.task_id}</span> <span class="cut grow"><Line>{task.title}</Line></span>
    <span class="end">
      {task.assignee && <Person id={task.assignee} />}{" "}
      {task.status && (
        <span class={`badge badge-${taskLooks[task.status] ?? "plain"}`}>{task.ready || task.status !== "open" ? task.status.replace("_", " ") : "blocked"}</span>
      )}
    </span>
  </li>
);
