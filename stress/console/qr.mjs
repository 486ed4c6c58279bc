// A reader of QR codes of versions 1 to 6 with error correction M and bytes, written for the tests
// alone: it shares nothing with what draws them. read takes the modules row by row, as booleans.

import assert from "node:assert/strict";

const ecc = [0, 10, 16, 26, 18, 24, 16];
const blocks = [0, 1, 1, 1, 2, 2, 4];

function times(a, b) {
  let product = 0;
  for (; b; b >>= 1, a = a & 128 ? ((a << 1) ^ 0x11d) & 255 : a << 1) if (b & 1) product ^= a;
  return product;
}

// whole says whether a block with its error correction has no mistake: it is 0 at each root.
function whole(block, count) {
  for (let i = 0, root = 1; i < count; i++, root = times(root, 2)) {
    if (block.reduce((sum, one) => times(sum, root) ^ one, 0) !== 0) return false;
  }
  return true;
}

const masks = [
  (r, c) => (r + c) % 2, (r) => r % 2, (r, c) => c % 3, (r, c) => (r + c) % 3, (r, c) => (Math.floor(r / 2) + Math.floor(c / 3)) % 2,
  (r, c) => ((r * c) % 2) + ((r * c) % 3), (r, c) => (((r * c) % 2) + ((r * c) % 3)) % 2, (r, c) => (((r + c) % 2) + ((r * c) % 3)) % 2,
];

function isFunction(r, c, size) {
  if ((r < 9 && c < 9) || (r < 9 && c >= size - 8) || (r >= size - 8 && c < 9)) return true;
  if (r === 6 || c === 6) return true;
  return size > 21 && Math.abs(r - (size - 7)) <= 2 && Math.abs(c - (size - 7)) <= 2;
}

export function read(grid) {
  const size = grid.length;
  const version = (size - 17) / 4;
  let format = 0;
  for (const [r, c] of [[8, 0], [8, 1], [8, 2], [8, 3], [8, 4], [8, 5], [8, 7], [8, 8], [7, 8], [5, 8], [4, 8], [3, 8], [2, 8], [1, 8], [0, 8]]) {
    format = format * 2 + (grid[r][c] ? 1 : 0);
  }
  format ^= 0b101010000010010;
  assert.equal(format >> 13, 0, "error correction M");
  const mask = masks[(format >> 10) & 7];
  const bits = [];
  let up = true;
  for (let right = size - 1; right > 0; right -= 2, up = !up) {
    if (right === 6) right--;
    for (let i = 0; i < size; i++) {
      const r = up ? size - 1 - i : i;
      for (const c of [right, right - 1]) if (!isFunction(r, c, size)) bits.push((grid[r][c] ? 1 : 0) ^ (mask(r, c) === 0 ? 1 : 0));
    }
  }
  const bytes = Array.from({ length: Math.floor(bits.length / 8) }, (_, i) => parseInt(bits.slice(i * 8, i * 8 + 8).join(""), 2));
  const count = blocks[version];
  const parts = Array.from({ length: count }, (_, i) => bytes.filter((_, j) => j % count === i));
  for (const part of parts) assert.ok(whole(part, ecc[version]), "the error correction fits");
  const data = parts.flatMap((part) => part.slice(0, -ecc[version]));
  const stream = data.map((byte) => byte.toString(2).padStart(8, "0")).join("");
  assert.equal(stream.slice(0, 4), "0100", "bytes");
  const length = parseInt(stream.slice(4, 12), 2);
  return Buffer.from(Array.from({ length }, (_, i) => parseInt(stream.slice(12 + i * 8, 20 + i * 8), 2))).toString();
}
