// noticed runs tests with a fault planted and expects the named one to fail, and no
// test to hang.

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { finish, here } from "./hub.mjs";

// Each fault has the mode that SPOIL names, the file of the tests and a part of the test's name.
export function noticed(faults) {
  describe("faults", { concurrency: 2 }, () => {
    for (const { mode, file, test } of faults) {
      it(`fault ${mode} is noticed by ${file}: ${test}`, { timeout: 120_000 }, async () => {
        const args = ["--test", "--test-reporter=tap", `--test-name-pattern=${test}`, file];
        const env = { ...process.env, SPOIL: mode, NODE_TEST_CONTEXT: undefined };
        const run = await finish(process.execPath, args, { env, cwd: here, within: 110_000 });
        assert.equal(run.code, 1, `nothing failed, or all hung:\n${run.all}`);
        const failed = run.stdout.split("\n").filter((line) => /^\s+not ok \d+ - /.test(line) && line.includes(test));
        assert.ok(failed.length > 0, `another test failed than the one that guards:\n${run.all}`);
      });
    }
  });
}
