// A QR code of a short text: byte mode, error correction M, versions 1 to 6 (106 bytes), by
// ISO/IEC 18004. It draws nothing; qr returns which modules are dark.

const ecc = [0, 10, 16, 26, 18, 24, 16]; // codewords of error correction of each block, by version
const blocks = [0, 1, 1, 1, 2, 2, 4];
const total = [0, 26, 44, 70, 100, 134, 172]; // codewords

const exp = new Uint8Array(512);
const log = new Uint8Array(256);
for (let i = 0, x = 1; i < 255; i++) {
  exp[i] = exp[i + 255] = x;
  log[x] = i;
  x = x & 128 ? (x << 1) ^ 0x11d : x << 1;
}
const times = (a: number, b: number) => (a === 0 || b === 0 ? 0 : exp[log[a]! + log[b]!]!);

// remainder is the error correction of a block, by Reed and Solomon.
function remainder(data: readonly number[], count: number): number[] {
  let generator = [1];
  for (let i = 0; i < count; i++) {
    const next = [...generator, 0];
    generator.forEach((factor, j) => (next[j + 1]! ^= times(factor, exp[i]!)));
    generator = next;
  }
  const rest = [...data, ...new Array<number>(count).fill(0)];
  for (let i = 0; i < data.length; i++) {
    const lead = rest[i]!;
    generator.forEach((factor, j) => (rest[i + j]! ^= times(factor, lead)));
  }
  return rest.slice(data.length);
}

// codewords are the data of a text with its error correction, interleaved.
function codewords(bytes: Uint8Array, version: number): number[] {
  const capacity = total[version]! - ecc[version]! * blocks[version]!;
  const bits = [0, 1, 0, 0];
  const put = (value: number, count: number) => {
    for (let i = count - 1; i >= 0; i--) bits.push((value >> i) & 1);
  };
  put(bytes.length, 8);
  for (const byte of bytes) put(byte, 8);
  put(0, Math.min(4, capacity * 8 - bits.length));
  while (bits.length % 8) bits.push(0);
  const data: number[] = [];
  for (let i = 0; i < bits.length; i += 8) data.push(bits.slice(i, i + 8).reduce((byte, bit) => byte * 2 + bit, 0));
  for (let pad = 0xec; data.length < capacity; pad ^= 0xec ^ 0x11) data.push(pad);
  const size = capacity / blocks[version]!;
  const parts = Array.from({ length: blocks[version]! }, (_, i) => data.slice(i * size, (i + 1) * size));
  const checks = parts.map((part) => remainder(part, ecc[version]!));
  const woven = (rows: number[][]) => (rows[0] ?? []).flatMap((_, i) => rows.map((row) => row[i]!));
  return [...woven(parts), ...woven(checks)];
}

const masks: ((x: number, y: number) => boolean)[] = [
  (x, y) => (x + y) % 2 === 0,
  (_, y) => y % 2 === 0,
  (x) => x % 3 === 0,
  (x, y) => (x + y) % 3 === 0,
  (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2 === 0,
  (x, y) => ((x * y) % 2) + ((x * y) % 3) === 0,
  (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2 === 0,
  (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2 === 0,
];

type Grid = (boolean | null)[][]; // grid[y][x]; null: not set yet

// frame draws what is the same in all codes of a version, and light modules where the format goes.
function frame(version: number): Grid {
  const size = 17 + 4 * version;
  const grid: Grid = Array.from({ length: size }, () => new Array<boolean | null>(size).fill(null));
  const set = (x: number, y: number, dark: boolean) => {
    if (x >= 0 && y >= 0 && x < size && y < size) grid[y]![x] = dark;
  };
  const square = (cx: number, cy: number, reach: number, dark: (ring: number) => boolean) => {
    for (let y = -reach; y <= reach; y++) for (let x = -reach; x <= reach; x++) set(cx + x, cy + y, dark(Math.max(Math.abs(x), Math.abs(y))));
  };
  for (let i = 0; i < size; i++) {
    set(6, i, i % 2 === 0);
    set(i, 6, i % 2 === 0);
  }
  for (const [x, y] of [[3, 3], [size - 4, 3], [3, size - 4]] as const) square(x, y, 4, (ring) => ring !== 2 && ring !== 4);
  if (version > 1) square(size - 7, size - 7, 2, (ring) => ring !== 1);
  format(grid, 0);
  return grid;
}

// format says the error correction and the mask, twice.
function format(grid: Grid, mask: number): void {
  const size = grid.length;
  let rest = mask << 10; // M is 00
  for (let i = 14; i >= 10; i--) if ((rest >> i) & 1) rest ^= 0x537 << (i - 10);
  const word = ((mask << 10) | rest) ^ 0x5412;
  for (let i = 0; i < 15; i++) {
    const dark = ((word >> i) & 1) === 1;
    const along = i < 6 ? i : i < 8 ? i + 1 : size - 15 + i;
    grid[along]![8] = dark;
    const across = i < 8 ? size - 1 - i : i < 9 ? 7 : 14 - i;
    grid[8]![across] = dark;
  }
  grid[size - 8]![8] = true;
}

// fill writes the bits along the zigzag, and returns where they are.
function fill(grid: Grid, data: readonly number[]): [number, number][] {
  const size = grid.length;
  const places: [number, number][] = [];
  for (let right = size - 1; right > 0; right -= 2) {
    if (right === 6) right = 5;
    const up = ((right + 1) & 2) === 0;
    for (let i = 0; i < size; i++) {
      for (const x of [right, right - 1]) {
        const y = up ? size - 1 - i : i;
        if (grid[y]![x] === null) places.push([x, y]);
      }
    }
  }
  places.forEach(([x, y], i) => (grid[y]![x] = (((data[i >> 3] ?? 0) >> (7 - (i & 7))) & 1) === 1));
  return places;
}

// penalty is how hard a code is to read; the mask with the least is taken.
function penalty(grid: Grid): number {
  const size = grid.length;
  let points = 0;
  let dark = 0;
  const columns = grid.map((_, x) => grid.map((row) => row[x]!));
  for (const row of [...grid, ...columns]) {
    const text = row.map((one) => (one ? "1" : "0")).join("");
    for (const run of text.match(/0{5,}|1{5,}/g) ?? []) points += run.length - 2;
    for (let i = 0; i + 11 <= size; i++) if (["10111010000", "00001011101"].includes(text.slice(i, i + 11))) points += 40;
  }
  for (let y = 0; y < size; y++) {
    for (let x = 0; x < size; x++) {
      const one = grid[y]![x];
      if (one) dark++;
      if (x > 0 && y > 0 && one === grid[y]![x - 1] && one === grid[y - 1]![x] && one === grid[y - 1]![x - 1]) points += 3;
    }
  }
  return points + Math.floor(Math.abs((dark * 20) / (size * size) - 10)) * 10;
}

// qr returns the modules of a code, row by row, or null if the text is too long.
export function qr(text: string): boolean[][] | null {
  const bytes = new TextEncoder().encode(text);
  let version = 1;
  while (version < 7 && bytes.length + 2 > total[version]! - ecc[version]! * blocks[version]!) version++;
  if (version === 7) return null;
  let best: Grid | null = null;
  let least = Infinity;
  masks.forEach((mask, i) => {
    const grid = frame(version);
    for (const [x, y] of fill(grid, codewords(bytes, version))) if (mask(x, y)) grid[y]![x] = !grid[y]![x];
    format(grid, i);
    const points = penalty(grid);
    if (points < least) [best, least] = [grid, points];
  });
  return best;
}
