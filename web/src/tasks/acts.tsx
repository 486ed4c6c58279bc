import { useState } from "preact/hooks";
import { call } from "../api";
import { useRead } from "../read";
import { Act } from "../ui/dialog";
import { wordsOf } from "../ui/said";
import { Line } from "../ui/text";
import type { Agent, Task } from "../wire";
import { ended, type OneTask } from "./types";

// What the operator does with a task, by the operations of hubcli app task.

const path = (task: Task, act = "") => `/v1/tasks/${task.task_id}${act}`;
const change = (task: Task, fields: object) => call("POST", path(task), { agent_id: "operator", ...fields });

// tell says the operator's words about a task to an agent. What was done stays done if they could not be sent.
async function tell(task: Task, agent: string | null, body: string): Promise<string> {
  if (!agent || agent === "operator" || agent === "system") return "";
  try {
    await call("POST", "/v1/messages", { from_agent: "operator", to_agent: agent, kind: "chat", body, reply_to: task.task_id });
    return ` ${agent} was told.`;
  } catch (error) {
    return ` But ${agent} was not told: ${wordsOf(error)}`;
  }
}

async function assign(task: Task, agent: string, words: string): Promise<string> {
  await change(task, { assignee: agent });
  const done = agent ? `${agent} has task ${task.task_id} now.` : `Nobody has task ${task.task_id} now.`;
  return words ? done + (await tell(task, agent || task.assignee, `I have given task ${task.task_id} to ${agent || "nobody"}: ${words}`)) : done;
}

async function cancel(task: Task, words: string): Promise<string> {
  await change(task, { status: "cancelled", release: true });
  const to = task.assignee ?? task.offered_to ?? task.created_by;
  return `Task ${task.task_id} was cancelled.` + (await tell(task, to, `I have cancelled task ${task.task_id}` + (words ? `: ${words}` : ".")));
}

function Reassign({ task }: { task: Task }) {
  const agents = useRead<Agent[]>("/v1/agents?details=true&limit=1000", ["agents"]).value ?? [];
  const [agent, setAgent] = useState("");
  return (
    <Act
      label="Reassign"
      title={`Give task ${task.task_id} to another agent?`}
      reason="Words for the agent that gets it, if you like"
      optional
      mild
      run={(words) => assign(task, agent, words)}
    >
      <p>
        The hub tells the new agent{task.assignee ? " and the former one" : ""}, and the claims and locks for the task pass with it, each with a higher fence.
      </p>
      <label class="field">
        Agent; leave it empty for nobody
        <input
          list="reassign"
          value={agent}
          pattern="[A-Za-z0-9][A-Za-z0-9._@:+\-]{0,63}"
          title="the name of an agent"
          autocomplete="off"
          onInput={(event) => setAgent(event.currentTarget.value.trim())}
        />
        <datalist id="reassign">
          {agents.map((one) => (
            <option key={one.agent_id} value={one.agent_id} />
          ))}
        </datalist>
      </label>
    </Act>
  );
}

function Complete({ task }: { task: OneTask }) {
  const [release, setRelease] = useState(true);
  const blockers = task.open_blockers ?? [];
  const run = async (note: string) => {
    await call("POST", path(task, "/complete"), { agent_id: "operator", note, release, force: blockers.length > 0 });
    return `Task ${task.task_id} is done.`;
  };
  return (
    <Act label="Complete" title={`End task ${task.task_id} as done?`} reason="The result, if there is something to say" optional mild run={run}>
      <p>Parents that wait for it alone are done, too.</p>
      {blockers.length > 0 && (
        <p class="warn">
          It still waits for {blockers.map((id) => `#${id}`).join(", ")}. You complete it although these have not ended.
        </p>
      )}
      <label>
        <input type="checkbox" checked={release} onChange={(event) => setRelease(event.currentTarget.checked)} /> Release the claims and locks for it
      </label>
    </Act>
  );
}

const Cancel = ({ task }: { task: Task }) => (
  <Act label="Cancel task" title={`Cancel task ${task.task_id}?`} reason="Why? The agent is told." optional run={(words) => cancel(task, words)}>
    <p>It ends without a result, and the claims and locks for it are released. Who gave a task that waits for it is told.</p>
  </Act>
);

// Offer shows that a task is handed over, and lets the operator decide it.
export function Offer({ task }: { task: Task }) {
  const to = task.offered_to;
  if (!to) return null;
  const decline = async (note: string) => {
    await call("POST", path(task, "/decline"), { agent_id: "operator", note });
    return `The offer of task ${task.task_id} to ${to} was taken back.`;
  };
  return (
    <div class="offer row" role="group" aria-label="Hand-over">
      <span>
        Offered to{" "}
        <b>
          <Line>{to}</Line>
        </b>
        , who has not answered yet.{" "}
        {task.assignee ? (
          <>
            <Line>{task.assignee}</Line> has it until then.
          </>
        ) : (
          "Nobody has it until then."
        )}
      </span>
      <Act
        label="Accept for it"
        title={`Hand task ${task.task_id} over now?`}
        reason={`Words for ${to}, if you like`}
        optional
        mild
        run={(words) => assign(task, to, words)}
      >
        <p>
          <Line>{to}</Line> has the task at once, without its consent, and gets the claims and locks for it.
        </p>
      </Act>
      <Act label="Take back" title={`Take the offer of task ${task.task_id} back?`} reason={`Why? ${to} is told.`} optional run={decline}>
        <p>{task.assignee ? "Its agent keeps the task." : "Nobody has the task then."}</p>
      </Act>
    </div>
  );
}

// Acts are the buttons of a task that has not ended.
export const Acts = ({ task }: { task: OneTask }) =>
  ended(task) ? null : (
    <div class="row acts" role="group" aria-label="What you can do">
      <Reassign task={task} />
      <Complete task={task} />
      <Cancel task={task} />
    </div>
  );
