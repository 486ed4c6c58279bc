import type { Task } from "../wire";
import { ended } from "./types";

export interface Branch {
  task: Task;
  level: number;
  children: number; // that are shown when it is open
  open: boolean;
  below: number; // subtasks at all levels
  done: number; // of them
  fits: boolean; // false: it is shown for a subtask that fits
}

// branches puts tasks into the order in which a tree shows them: the newest first, each followed by
// its subtasks, the oldest first. Those that do not fit stay where a subtask fits. folded says what
// a person has opened or closed; else what has ended is closed.
export function branches(tasks: readonly Task[], fits: (task: Task) => boolean, folded: ReadonlyMap<number, boolean>, openAll: boolean): Branch[] {
  const known = new Map(tasks.map((task) => [task.task_id, task]));
  const parent = (task: Task) => (task.parent_task_id === null ? undefined : known.get(task.parent_task_id));
  const below = new Map<number, { all: number; done: number }>();
  const kept = new Set<number>();
  for (const task of tasks) {
    const fit = fits(task);
    if (fit) kept.add(task.task_id);
    for (let up = parent(task); up; up = parent(up)) {
      const sum = below.get(up.task_id) ?? { all: 0, done: 0 };
      below.set(up.task_id, { all: sum.all + 1, done: sum.done + (task.status === "done" ? 1 : 0) });
      if (fit) kept.add(up.task_id);
    }
  }
  const children = new Map<number, Task[]>();
  const roots: Task[] = [];
  for (const task of [...tasks].sort((a, b) => a.task_id - b.task_id)) {
    if (!kept.has(task.task_id)) continue;
    const up = parent(task);
    if (!up) roots.push(task);
    else children.set(up.task_id, [...(children.get(up.task_id) ?? []), task]);
  }
  const shown: Branch[] = [];
  const walk = (task: Task, level: number) => {
    const inside = children.get(task.task_id) ?? [];
    const open = inside.length > 0 && (folded.get(task.task_id) ?? (openAll || !ended(task)));
    const sum = below.get(task.task_id) ?? { all: 0, done: 0 };
    shown.push({ task, level, children: inside.length, open, below: sum.all, done: sum.done, fits: fits(task) });
    if (open) for (const one of inside) walk(one, level + 1);
  };
  for (const task of roots.reverse()) walk(task, 0);
  return shown;
}
