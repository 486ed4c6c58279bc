// A line diff of two texts, by the algorithm of Myers, with bounds: a page never computes for long
// and never shows more than a person reads.

export interface Changed {
  sign: "+" | "-" | " ";
  text: string;
  old: number; // its line in the old text, from 1; 0: it is not there
  now: number; // the same for the new one
}

const maxLines = 20_000; // of each text
const maxChanges = 1_500; // the work grows with their square

// diff returns the lines of both texts in order, or null if they are too long or too different.
export function diff(before: string, after: string): Changed[] | null {
  const old = before.split("\n");
  const now = after.split("\n");
  if (old.length > maxLines || now.length > maxLines) return null;
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) head++;
  let tail = 0;
  while (tail < old.length - head && tail < now.length - head && old[old.length - 1 - tail] === now[now.length - 1 - tail]) tail++;
  const steps = shortest(old.slice(head, old.length - tail), now.slice(head, now.length - tail));
  if (!steps) return null;
  const out: Changed[] = [];
  let x = 0;
  let y = 0;
  const put = (sign: Changed["sign"]) => {
    const text = (sign === "+" ? now[y] : old[x]) ?? "";
    out.push({ sign, text, old: sign === "+" ? 0 : ++x, now: sign === "-" ? 0 : ++y });
  };
  for (let i = 0; i < head; i++) put(" ");
  for (const sign of steps) put(sign);
  for (let i = 0; i < tail; i++) put(" ");
  return out;
}

// shortest returns the fewest steps from a to b, or null if there are more changes than maxChanges.
function shortest(a: string[], b: string[]): Changed["sign"][] | null {
  const most = Math.min(a.length + b.length, maxChanges);
  const mid = most + 1;
  const v = new Int32Array(2 * mid + 1);
  const trace: Int32Array[] = [];
  for (let d = 0; d <= most; d++) {
    trace.push(v.slice(mid - d - 1, mid + d + 2)); // around k = 0, which is at d + 1
    for (let k = -d; k <= d; k += 2) {
      const down = k === -d || (k !== d && at(v, mid + k - 1) < at(v, mid + k + 1));
      let x = down ? at(v, mid + k + 1) : at(v, mid + k - 1) + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++;
      v[mid + k] = x;
      if (x >= a.length && x - k >= b.length) return walk(trace, a.length, b.length);
    }
  }
  return null;
}

const at = (v: Int32Array, i: number) => v[i] ?? 0;

// walk goes back from the end through what shortest has kept of each round.
function walk(trace: Int32Array[], x: number, y: number): Changed["sign"][] {
  const steps: Changed["sign"][] = [];
  for (let d = trace.length - 1; d > 0; d--) {
    const v = trace[d]!;
    const mid = d + 1;
    const k = x - y;
    const down = k === -d || (k !== d && at(v, mid + k - 1) < at(v, mid + k + 1));
    const fromK = down ? k + 1 : k - 1;
    const fromX = at(v, mid + fromK);
    const fromY = fromX - fromK;
    while (x > fromX && y > fromY) {
      steps.push(" ");
      x--;
      y--;
    }
    steps.push(down ? "+" : "-");
    x = fromX;
    y = fromY;
  }
  while (x > 0 && y > 0) {
    steps.push(" ");
    x--;
    y--;
  }
  return steps.reverse();
}

// hunks leaves out what has not changed, but for some lines around each change. A gap is null.
export function hunks(lines: readonly Changed[], around = 3): (Changed | null)[] {
  const near = new Uint8Array(lines.length);
  lines.forEach((line, i) => {
    if (line.sign !== " ") near.fill(1, Math.max(0, i - around), i + around + 1);
  });
  const out: (Changed | null)[] = [];
  lines.forEach((line, i) => {
    if (near[i]) out.push(line);
    else if (out.at(-1) !== null || out.length === 0) out.push(null);
  });
  return out;
}
