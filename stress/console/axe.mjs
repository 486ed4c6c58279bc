// axe-core looks at a page. Its script runs in a world of its own beside the page. So the policy
// of the page, which allows scripts of the hub alone, stays as it is.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";

const source = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

// ofColors are the rules whose answer depends on the theme. The other ones are asked in one theme
// at each width, which halves the time.
export const ofColors = JSON.stringify({ runOnly: ["color-contrast", "link-in-text-block"], resultTypes: ["violations"] });
export const all = JSON.stringify({ resultTypes: ["violations"] });

// violations says what is wrong with what a page shows now.
export async function violations(page, options) {
  const session = await page.context().newCDPSession(page);
  const { frameTree } = await session.send("Page.getFrameTree");
  const { executionContextId: contextId } = await session.send("Page.createIsolatedWorld", { frameId: frameTree.frame.id, worldName: "axe" });
  const evaluate = async (expression) => {
    const { result, exceptionDetails } = await session.send("Runtime.evaluate", { contextId, expression, awaitPromise: true, returnByValue: true });
    assert.equal(exceptionDetails, undefined, exceptionDetails?.exception?.description);
    return result.value;
  };
  await evaluate(`${source}; 0`);
  const found = await evaluate(`axe.run(document, ${options}).then(({ violations, passes }) => ({
    passes: passes.length,
    broken: violations.map(({ id, help, nodes }) => ({ id, help, count: nodes.length, nodes: nodes.slice(0, 3).map((n) => n.html.slice(0, 200) + " | " + (n.any[0]?.message ?? n.all[0]?.message ?? n.none[0]?.message)) })),
  }))`);
  await session.detach();
  assert.ok(found.passes > 5 || options !== all, `axe looked at nothing: ${found.passes}`);
  return found.broken;
}
