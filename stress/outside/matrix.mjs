// What a run measured of each harness: a line of JSON for each cell, in the file that MATRIX
// names. The command that started the tests prints them as a table.

import { appendFileSync } from "node:fs";
import { it } from "node:test";

const file = process.env.MATRIX;

// note writes a cell down. A second note about the same cell adds to it.
export function note(harness, row, cell) {
  if (file) appendFileSync(file, `${JSON.stringify({ harness, row, cell })}\n`);
}

// measured is a test whose outcome is some cells of a harness: those that it notes, and if
// it fails, that it failed.
export function measured(harness, name, rows, options, test) {
  it(name, options, async (t) => {
    try {
      await test((row, cell) => note(harness, row, cell));
    } catch (failure) {
      for (const row of rows) note(harness, row, "FAILED");
      throw failure;
    }
  });
}
