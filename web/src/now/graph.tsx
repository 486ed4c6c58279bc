import { useMemo } from "preact/hooks";
import { line } from "../ui/text";
import { now, span } from "../ui/time";
import type { Overview, Wait } from "../wire";
import { type Edge, box, layOut } from "./layout";

// long is how long a wait is that is drawn in red, in ms.
export const long = 10 * 60_000;

const short = (text: string, most: number) => {
  const chars = [...line(text)];
  return chars.length > most ? chars.slice(0, most - 1).join("") + "…" : chars.join("");
};

export const nameOf = (id: string) => (id === "operator" ? "you" : id);

// The way of an arrow: from the right side of who waits to the left side of who is waited for,
// or around, where that one stands further left.
function way({ from, to }: Edge): { path: string; x: number; y: number } {
  const middle = box.height / 2;
  const [x1, y1, y2] = [from.x + box.width, from.y + middle, to.y + middle];
  if (to.x > from.x) {
    const x2 = to.x - 2;
    const bend = Math.min(60, (x2 - x1) / 2);
    return { path: `M${x1},${y1} C${x1 + bend},${y1} ${x2 - bend},${y2} ${x2},${y2}`, x: (x1 + x2) / 2, y: (y1 + y2) / 2 };
  }
  // Back: out of its bottom, and into the bottom of the other.
  const [bx1, bx2] = [from.x + box.width * 0.4, to.x + box.width * 0.6];
  const [by1, by2] = [from.y + box.height, to.y + box.height + 2];
  const low = Math.max(by1, by2) + 22;
  return { path: `M${bx1},${by1} C${bx1},${low} ${bx2},${low} ${bx2},${by2}`, x: (bx1 + bx2) / 2, y: low - 5 };
}

function Arrow({ edge }: { edge: Edge }) {
  const { path, x, y } = way(edge);
  const age = edge.since === null ? 0 : now.value - edge.since;
  const bad = edge.circle || age > long;
  const words = [edge.circle ? "circle" : "", age > long ? span(age) : ""].filter(Boolean).join(", ");
  return (
    <g class={bad ? "edge bad" : "edge"}>
      <path d={path} marker-end={bad ? "url(#tip-bad)" : "url(#tip)"}>
        <title>{`${edge.from.id} waits for ${nameOf(edge.to.id)}: ${edge.waits.map((wait) => line(wait.what)).join("; ")}`}</title>
      </path>
      {words && (
        <text x={x} y={y - 4} text-anchor="middle">
          {words}
        </text>
      )}
    </g>
  );
}

const Tip = ({ id }: { id: string }) => (
  <marker id={id} viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse">
    <path d="M0,0.5 L8,4 L0,7.5 z" />
  </marker>
);

// WaitGraph draws who waits for whom, as far as waits tell it. The list below it says the same in words.
export function WaitGraph({ overview, waits }: { overview: Overview; waits: readonly Wait[] }) {
  const graph = useMemo(() => layOut(waits, overview.circles), [overview, waits]);
  if (graph.edges.length === 0) return null;
  const lowest = graph.edges.filter((edge) => edge.to.x <= edge.from.x).map((edge) => Math.max(edge.from.y, edge.to.y) + box.height + 24);
  const height = Math.max(graph.height, ...lowest);
  const says = `${graph.edges.length} waits between ${graph.nodes.length}` + (overview.circles.length > 0 ? `, ${overview.circles.length} in a circle` : "");
  return (
    <div class="graph" tabIndex={0} role="group" aria-label="Wait graph">
      <svg role="img" aria-label={says} width={graph.width} height={height} viewBox={`0 0 ${graph.width} ${height}`}>
        <defs>
          <Tip id="tip" />
          <Tip id="tip-bad" />
        </defs>
        {graph.edges.map((edge) => (
          <Arrow key={`${edge.from.id} ${edge.to.id}`} edge={edge} />
        ))}
        {graph.nodes.map((node) => (
          <g key={node.id} class={node.id === "operator" ? "node you" : overview.circles.flat().includes(node.id) ? "node bad" : "node"}>
            <rect x={node.x} y={node.y} width={box.width} height={box.height} rx="6" />
            <text x={node.x + box.width / 2} y={node.y + box.height / 2} dominant-baseline="central" text-anchor="middle">
              {short(nameOf(node.id), 17)}
            </text>
            <title>{node.id}</title>
          </g>
        ))}
      </svg>
    </div>
  );
}
