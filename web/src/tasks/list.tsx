import { useMemo, useState } from "preact/hooks";
import { Bar } from "../ui/bar";
import { AgentLink, Status, TaskLink } from "../ui/links";
import { Pager } from "../ui/pager";
import { RoomName } from "../ui/places";
import { Row } from "../ui/rows";
import { Age } from "../ui/time";
import type { Task } from "../wire";
import { branches, type Branch } from "./tree";
import { ended } from "./types";

function TreeRow({ branch, toggle }: { branch: Branch; toggle: () => void }) {
  const { task, level, children, open, below, done, fits } = branch;
  const waits = ended(task) || task.ready ? [] : task.blocked_by;
  return (
    <Row class={fits ? "task" : "task aside"} data-level={Math.min(level, 8)}>
      <span class="name">
        {children > 0 ? (
          <button type="button" data-look class="quiet fold" aria-expanded={open} aria-label={`Subtasks of task ${task.task_id}`} onClick={toggle}>
            {open ? "▾" : "▸"}
          </button>
        ) : (
          <span class="fold" />
        )}
        <span>
          {level > 0 && <span class="sr">subtask, level {level}: </span>}
          <TaskLink id={task.task_id} title={task.title} />
          {below > 0 && (
            <span class="rollup">
              <Bar whole={below} parts={[{ value: done, look: "good" }]} label={`${done} of ${below} subtasks done`} />
              <span class="soft" aria-hidden="true">
                {done}/{below}
              </span>
            </span>
          )}
        </span>
      </span>
      <span>
        <Status task={task} />
      </span>
      <span class="who">
        {task.assignee ? <AgentLink id={task.assignee} /> : <span class="soft">nobody</span>}
        {task.offered_to && (
          <span class="warn">
            {" "}
            → offered to <AgentLink id={task.offered_to} />
          </span>
        )}
      </span>
      <span class="more soft">
        {waits.length > 0 && (
          <span>
            after{" "}
            {waits.slice(0, 4).map((id) => (
              <>
                <TaskLink key={id} id={id} />{" "}
              </>
            ))}
            {waits.length > 4 && `and ${waits.length - 4} more`}
          </span>
        )}
        {task.room_id && <RoomName id={task.room_id} />}
        <span>
          <Age at={task.updated_at} />
          <span class="sr"> since its last change</span>
        </span>
      </span>
    </Row>
  );
}

interface TreeProps {
  tasks: readonly Task[];
  fits: (task: Task) => boolean;
  searching: boolean;
  cut: string;
}

// Tree shows tasks with their subtasks below them.
export function Tree({ tasks, fits, searching, cut }: TreeProps) {
  const [folded, setFolded] = useState<ReadonlyMap<number, boolean>>(new Map());
  const shown = useMemo(() => branches(tasks, fits, folded, searching), [tasks, fits, folded, searching]);
  return (
    <Pager rows={shown} what="tasks" cut={cut}>
      {(rows) => (
        <ul class="rows tree" aria-label="Tasks">
          {rows.map((branch) => (
            <TreeRow
              key={branch.task.task_id}
              branch={branch}
             
              toggle={() => setFolded(new Map([...folded, [branch.task.task_id, !branch.open]]))}
            />
          ))}
        </ul>
      )}
    </Pager>
  );
}
