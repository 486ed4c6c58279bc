import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import type { Page } from "../pages";
import { useRead } from "../read";
import { setQuery } from "../route";
import { Choice, Filters, Search, filter } from "../ui/filters";
import { Heading } from "../ui/heading";
import { statusWord } from "../ui/links";
import { RoomFilter } from "../ui/places";
import { Command, Empty, Pending } from "../ui/said";
import { Tabs } from "../ui/tabs";
import { Line } from "../ui/text";
import type { Agent, Task } from "../wire";
import { Board } from "./board";
import { Tree } from "./list";
import { OneTaskView } from "./one";
import { RunBar, Runs, saysOf } from "./runs";
import "./tasks.css";
import { ended, statuses, type Run } from "./types";

// useTasks reads the newest tasks, and where these are not all also all that have not ended.
function useTasks() {
  const asked = new URLSearchParams({ limit: "1000" });
  for (const [name, value] of [["room_id", filter("room")], ["concerns", filter("agent")], ["run_id", filter("run")], ["status", filter("status")]] as const) {
    if (value) asked.set(name, value);
  }
  const newest = useRead<Task[]>(`/v1/tasks?${asked}`, ["tasks"]);
  const more = newest.next !== "" && !asked.has("status");
  const active = useRead<Task[]>(more ? `/v1/tasks?${asked}&status=active` : null, ["tasks"]);
  const tasks = useMemo(() => {
    const all = new Map((active.value ?? []).map((task) => [task.task_id, task]));
    for (const task of newest.value ?? []) all.set(task.task_id, task);
    return [...all.values()];
  }, [newest.value, active.value]);
  const cut = newest.next === "" ? "" : `The hub has more tasks. Shown are the newest 1,000${more ? " and what has not ended" : ""}${active.next ? ", of that 1,000, too" : ""}; a room, agent or state makes the list shorter.`;
  // All that have not ended are known, unless there are more of them than one page holds.
  const whole = newest.next === "" || (more && active.next === "");
  return { reading: more && !active.value ? active : newest, tasks, cut, whole };
}

// OfRun says which run the list is of, and how far it is.
function OfRun({ id }: { id: string }) {
  const run = useRead<Run>(`/v1/runs/${encodeURIComponent(id)}`, ["runs", "tasks"]);
  return (
    <div class="row ofrun">
      <span>
        Run{" "}
        <b>
          <Line>{run.value?.title ?? id}</Line>
        </b>
      </span>
      {run.value && (
        <span class="progress">
          <RunBar run={run.value} />
          <span class="soft">{saysOf(run.value)}</span>
        </span>
      )}
      {run.error && <Pending error={run.error} />}
      <button type="button" data-look onClick={() => setQuery({ run: "", page: "" })}>
        Show all tasks
      </button>
    </div>
  );
}

const NoTask = () => (
  <Empty>
    There is no task. Agents give each other tasks, and so does{" "}
    <Command>hubcli post --agent lead --to dev-a --kind task_request "fix the parser"</Command>
  </Empty>
);

function TaskList() {
  const { reading, tasks, cut, whole } = useTasks();
  const agents = useRead<Agent[]>("/v1/agents?details=true&limit=1000", ["agents"]).value ?? [];
  const text = filter("q").toLowerCase();
  const fits = useMemo(
    () => (task: Task) => text === "" || `#${task.task_id} ${task.title}\n${task.assignee ?? ""}\n${task.offered_to ?? ""}\n${task.created_by}`.toLowerCase().includes(text),
    [text],
  );
  const fitting = useMemo(() => tasks.filter(fits), [tasks, fits]);
  const filtered = ["room", "agent", "run", "status", "q"].some((name) => filter(name) !== "");
  const list = (view: () => ComponentChildren) => {
    if (reading.value === null) return <Pending error={reading.error} />;
    if (fitting.length > 0) return view();
    return filtered ? <Empty>No task matches.</Empty> : <NoTask />;
  };
  return (
    <>
      <Heading title="Tasks" />
      <Filters label="Filter tasks">
        <Search label="Filter by text" />
        <RoomFilter room={filter("room")} />
        <Choice name="agent" label="Agent" none="any agent" options={agents.map((agent) => [agent.agent_id, agent.agent_id])} />
        <Choice name="status" label="State" none="any state" options={[["active", "not ended"], ...statuses.map((status) => [status, statusWord(status)] as const)]} />
      </Filters>
      {filter("run") && <OfRun id={filter("run")} />}
      <Tabs
        label="Tasks"
        tabs={[
          {
            name: "tree",
            label: "Tree",
            count: reading.value ? fitting.filter((task) => !ended(task)).length.toLocaleString() + (whole ? "" : "+") : undefined,
            view: () => list(() => <Tree tasks={tasks} fits={fits} searching={text !== ""} cut={cut} />),
          },
          { name: "board", label: "Board", view: () => list(() => <Board tasks={fitting} cut={cut} />) },
          { name: "runs", label: "Runs", view: () => <Runs room={filter("room")} text={text} /> },
        ]}
      />
    </>
  );
}

const Tasks = ({ rest }: { rest: readonly string[] }) => (rest[0] ? <OneTaskView key={rest[0]} id={rest[0]} /> : <TaskList />);

export const tasksPage: Page = { name: "tasks", label: "Tasks", key: "t", view: Tasks };
