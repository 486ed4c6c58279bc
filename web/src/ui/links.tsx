import { Link, to } from "../route";
import { Person } from "./person";
import { Line, line } from "./text";
import type { Task } from "../wire";

// AgentLink leads to the page of an agent. The operator and the hub have none.
export const AgentLink = ({ id }: { id: string }) =>
  id === "operator" || id === "system" ? (
    <Person id={id} authority={id === "system" ? "system" : "operator"} />
  ) : (
    <Link to={to("agents", id)} class="plain">
      <Person id={id} />
    </Link>
  );

// TaskLink leads to the page of a task.
export const TaskLink = ({ id, title }: { id: number; title?: string | undefined }) => (
  <Link to={to("tasks", String(id))} class="tasklink" title={title === undefined ? undefined : line(title)}>
    <span class="soft">#{id}</span>
    {title !== undefined && (
      <>
        {" "}
        <Line>{title}</Line>
      </>
    )}
  </Link>
);

const words: Record<Task["status"], [string, string]> = {
  open: ["open", "plain"],
  working: ["working", "good"],
  input_required: ["needs input", "warn"],
  done: ["done", "plain"],
  failed: ["failed", "bad"],
  cancelled: ["cancelled", "plain"],
};

export const statusWord = (status: Task["status"]) => words[status][0];

// Status is the state of a task.
export function Status({ task }: { task: Task }) {
  const [word, look] = words[task.status];
  const blocked = task.status === "open" && !task.ready;
  return <span class={`badge badge-${blocked ? "warn" : look}`}>{blocked ? "blocked" : word}</span>;
}
