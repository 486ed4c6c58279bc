import type { Wait } from "../wire";

// Who waits for whom is drawn as trees: below each agent stand those that wait for it. A line then leads from
// each to one other, no line crosses another, and a tree stays readable however many wait.

export interface Branch {
  id: string;
  waits: readonly Wait[]; // of this agent, for the one above it; of a root: none
  since: number | null; // ms, the earliest of them that is known
  circle: boolean; // the wait is part of a circle
  below: readonly Branch[]; // those that wait for this agent, the longest wait first
  again: boolean; // what is below it is drawn at its first place
}

// nameOf is what an agent is called in a sentence to the person.
export const nameOf = (id: string) => (id === "operator" ? "you" : id);

const sinceOf = (waits: readonly Wait[]) => waits.reduce<number | null>((least, { since }) => (since === null ? least : Math.min(least ?? Infinity, Date.parse(since))), null);

// sizeOf is how many wait for an agent, directly or not.
const sizeOf = (branch: Branch): number => branch.below.reduce((sum, one) => sum + 1 + sizeOf(one), 0);

// between are the waits of agents for agents. What waits for the person is a question, and is asked as one.
export const between = (waits: readonly Wait[]) => waits.filter((wait) => wait.for !== "operator" && wait.for !== "" && wait.for !== wait.waiter);

// treesOf returns the trees of waits: circles first, then those for which most wait. In a circle each
// agent stands below the one for which it waits, and the last one waits for the first.
export function treesOf(waits: readonly Wait[], circles: readonly string[][]): Branch[] {
  const all = between(waits);
  const edges = new Map<string, Wait[]>(); // by the waiter and the other
  const waiters = new Map<string, Set<string>>(); // by the one that is waited for
  for (const wait of all) {
    const name = `${wait.waiter} ${wait.for}`;
    edges.set(name, [...(edges.get(name) ?? []), wait]);
    waiters.set(wait.for, (waiters.get(wait.for) ?? new Set()).add(wait.waiter));
  }
  const inCircle = (waiter: string, other: string) => circles.some((circle) => circle.includes(waiter) && circle.includes(other));
  const drawn = new Set<string>();
  const grow = (id: string, above: string | null): Branch => {
    const own = above === null ? [] : (edges.get(`${id} ${above}`) ?? []);
    const branch = { id, waits: own, since: sinceOf(own), circle: above !== null && inCircle(id, above) };
    if (drawn.has(id)) return { ...branch, below: [], again: waiters.has(id) };
    drawn.add(id);
    const below = [...(waiters.get(id) ?? [])].map((waiter) => grow(waiter, id));
    below.sort((a, b) => Number(b.circle) - Number(a.circle) || (a.since ?? Infinity) - (b.since ?? Infinity) || a.id.localeCompare(b.id));
    return { ...branch, below, again: false };
  };
  const heads = circles.flatMap((circle) => circle.slice(0, 1)).filter((id) => waiters.has(id));
  const roots = [...waiters.keys()].filter((id) => !all.some((wait) => wait.waiter === id));
  const trees: Branch[] = [];
  // The last of these are in a circle that the hub does not name.
  for (const id of [...heads, ...roots, ...waiters.keys()]) if (!drawn.has(id)) trees.push(grow(id, null));
  return trees
    .map((tree) => ({ tree, circle: heads.includes(tree.id), size: sizeOf(tree) }))
    .sort((a, b) => Number(b.circle) - Number(a.circle) || b.size - a.size || a.tree.id.localeCompare(b.tree.id))
    .map(({ tree }) => tree);
}
