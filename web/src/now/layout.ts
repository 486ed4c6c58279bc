import type { Wait } from "../wire";

// The wait graph is laid out in columns: an agent stands to the left of those for which it
// waits, and to the right stand those that wait for nobody.

export interface Node {
  id: string;
  x: number;
  y: number;
}

export interface Edge {
  from: Node;
  to: Node;
  waits: Wait[];
  circle: boolean;
  since: number | null; // ms, the earliest that is known
}

export interface Graph {
  nodes: Node[];
  edges: Edge[];
  width: number;
  height: number;
}

export const box = { width: 132, height: 26 };
const step = { x: box.width + 84, y: box.height + 16 };
const margin = 10;

// rankOf is how far each agent is from one that waits for nobody. In a circle that leads to
// none, its first agent counts as one.
function rankOf(ids: readonly string[], waits: readonly Wait[]): Map<string, number> {
  const rank = new Map<string, number>();
  const spread = (from: string[]) => {
    for (let next = from; next.length > 0; ) {
      const after: string[] = [];
      for (const id of next) {
        for (const wait of waits) {
          if (wait.for !== id || rank.has(wait.waiter)) continue;
          rank.set(wait.waiter, (rank.get(id) ?? 0) + 1);
          after.push(wait.waiter);
        }
      }
      next = after;
    }
  };
  const ends = ids.filter((id) => !waits.some((wait) => wait.waiter === id));
  for (const id of ends) rank.set(id, 0);
  spread(ends);
  for (const id of ids) {
    if (rank.has(id)) continue;
    rank.set(id, 0);
    spread([id]);
  }
  return rank;
}

export function layOut(all: readonly Wait[], circles: readonly string[][]): Graph {
  const waits = all.filter((wait) => wait.for !== "" && wait.for !== wait.waiter);
  const ids = [...new Set(waits.flatMap((wait) => [wait.for, wait.waiter]))].sort((a, b) => Number(b === "operator") - Number(a === "operator"));
  const rank = rankOf(ids, waits);
  const last = Math.max(0, ...rank.values());
  const nodes = new Map<string, Node>();
  let tallest = 0;
  for (let column = 0; column <= last; column++) {
    // Each stands as near as can be to those for which it waits.
    const near = (id: string) => {
      const places = waits.filter((wait) => wait.waiter === id).flatMap((wait) => nodes.get(wait.for)?.y ?? []);
      return places.length === 0 ? 0 : places.reduce((sum, y) => sum + y, 0) / places.length;
    };
    const here = ids.filter((id) => rank.get(id) === column).sort((a, b) => near(a) - near(b));
    here.forEach((id, i) => nodes.set(id, { id, x: margin + (last - column) * step.x, y: margin + i * step.y }));
    tallest = Math.max(tallest, here.length);
  }
  const edges = new Map<string, Edge>();
  for (const wait of waits) {
    const from = nodes.get(wait.waiter);
    const to = nodes.get(wait.for);
    if (!from || !to) continue;
    const name = `${wait.waiter} ${wait.for}`;
    const circle = circles.some((one) => one.includes(wait.waiter) && one.includes(wait.for));
    const edge = edges.get(name) ?? { from, to, waits: [], circle, since: null };
    edge.waits.push(wait);
    const since = wait.since ? Date.parse(wait.since) : null;
    if (since !== null && (edge.since === null || since < edge.since)) edge.since = since;
    edges.set(name, edge);
  }
  return {
    nodes: [...nodes.values()],
    edges: [...edges.values()],
    width: margin * 2 + last * step.x + box.width,
    height: margin * 2 + Math.max(0, tallest - 1) * step.y + box.height,
  };
}
