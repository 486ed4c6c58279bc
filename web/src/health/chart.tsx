import { span } from "../ui/time";
import type { Point } from "./samples";

// Chart draws one figure over time. The numbers stand beside it and in its name, so it is not needed
// to read it.

interface ChartProps {
  name: string;
  points: readonly Point[];
  format: (value: number) => string;
  about?: string;
  warn?: boolean;
}

const width = 240;
const height = 48;

export function Chart({ name, points, format, about, warn = false }: ChartProps) {
  const known = points.filter((point) => point.value !== null);
  const last = points.at(-1)?.value ?? null;
  const top = Math.max(...known.map((point) => point.value ?? 0), 0);
  const from = points[0]?.at ?? 0;
  const to = points.at(-1)?.at ?? 0;
  const said = last === null ? "no figure yet" : format(last);
  const most = known.length > 1 ? `highest ${format(top)} in ${span(to - from)}` : "";
  return (
    <figure class={warn ? "chart warn" : "chart"}>
      <figcaption>
        <span class="soft">{name}</span>
        <b>{said}</b>
      </figcaption>
      <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img" aria-label={`${name}: ${said}${most && ", "}${most}`}>
        {lines(points, from, to, top).map((d, i) => (
          <g key={i}>
            <path class="area" d={d.area} />
            <path class="curve" d={d.curve} />
          </g>
        ))}
      </svg>
      <p class="soft">{[most, about].filter(Boolean).join(" · ") || " "}</p>
    </figure>
  );
}

// lines are the parts of a curve between gaps.
function lines(points: readonly Point[], from: number, to: number, top: number): { curve: string; area: string }[] {
  const parts: [number, number][][] = [[]];
  for (const point of points) {
    if (point.value === null) parts.push([]);
    else {
      const x = to > from ? ((point.at - from) / (to - from)) * width : width;
      const y = height - 2 - (top > 0 ? (point.value / top) * (height - 6) : 0);
      parts.at(-1)?.push([Math.round(x * 10) / 10, Math.round(y * 10) / 10]);
    }
  }
  return parts
    .filter((part) => part.length > 0)
    .map((part) => {
      const first = part[0]!;
      const end = part.at(-1)!;
      const curve = "M" + (part.length === 1 ? [first, [first[0] + 0.1, first[1]]] : part).map((at) => at.join(" ")).join("L");
      return { curve, area: `${curve}L${end[0]} ${height}L${first[0]} ${height}Z` };
    });
}
