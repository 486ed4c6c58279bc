// An unmodified harness asks its user whether a tool may run, and the hub shows that its agent
// waits for the answer. The model is scripted.

import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { after, before, describe } from "node:test";
import { eventually } from "../hub.mjs";
import { measured } from "../matrix.mjs";
import { agentOf, devDependencies, environment, harnesses, modules, settle, within } from "./harnesses.mjs";
import { Model } from "./model.mjs";
import { spoil } from "./spoil.mjs";

for (const harness of harnesses.filter(({ asks, needs = [] }) => asks && needs.every((name) => name in devDependencies))) {
  describe(`a prompt of ${harness.id}`, () => {
    let hub, project, model, session;
    before(async () => {
      ({ hub, project } = await settle(harness));
      await spoil(harness, hub.root);
      if (harness.unheard) await allow(harness, hub.root);
      const writes = (name) => (request) => harness.write(request, join(project, name), "made");
      const done = () => ({ text: "done" });
      const steps = [done, writes("made.txt"), done, writes("refused.txt"), done];
      model = await Model.start(harness.api, async (request, n) => steps[n - 1]?.(request));
      session = await harness.stays({ hub, project, model, modules, within, command: harness.program, env: environment(harness, hub, model.url), asking: harness.writer ?? true });
      await session.go("go");
    });
    after(async () => {
      await session?.close();
      await model?.close();
      await hub?.close();
    });

    measured(harness.id, "prompt: the hub shows that the agent waits for its user", ["permission prompt", ...(harness.unheard ? ["permission prompt in the inbox"] : [])], { timeout: within }, async (note) => {
      const id = await agentOf(harness, hub);
      const me = async () => (await hub.get("/v1/agents")).find(({ agent_id }) => agent_id === id);
      await eventually("the agent is idle", async () => (await me()).activity !== "working");
      const began = Date.now();
      await session.say("write it");
      await eventually("the agent is at a prompt", async () => (await me()).activity === "at_prompt");
      const { prompt_tool: tool, activity_since: since } = await me();
      assert.equal(tool, harness.asks);
      assert.ok(began <= Date.parse(since) && Date.parse(since) <= Date.now(), `it is at the prompt since ${since}`);
      if (harness.unheard) {
        await eventually("the harness draws its question", () => session.drawn().includes(harness.unheard.question));
        assert.equal(model.requests.length, 2);
        assert.ok((await readFile(join(hub.root, "allowed"), "utf8")).split("\n").length > harness.unheard.events.length, "a hook was not called");
        note("permission prompt in the inbox", "cannot be answered there: no answer of its hooks allows a tool");
      }
      await eventually("the tool has run", async () => {
        await session.grant();
        await sleep(300); // a program that is still drawing its question takes no answer
        return model.requests.length === 3;
      });
      assert.equal((await readFile(join(project, "made.txt"), "utf8")).trim(), "made");
      await eventually("the agent is idle again", async () => !["at_prompt", "working"].includes((await me()).activity));
      note("permission prompt", `shown with the tool, \`${harness.asks}\`, until it is answered`);
      if (!harness.refused) return;

      // Its user refuses, which ends the turn and calls no hook. The next prompt tells.
      await session.say("write another");
      await eventually("the agent is at a prompt again", async () => (await me()).activity === "at_prompt");
      await eventually("the user has refused", async () => {
        session.refuse();
        await sleep(300);
        return session.drawn().includes(harness.refused);
      });
      assert.equal((await me()).activity, "at_prompt");
      await session.say("go on");
      await eventually("the agent is idle at last", async () => model.requests.length === 5 && !["at_prompt", "working"].includes((await me()).activity));
      note("permission prompt", "if it is refused, until the next prompt");
    });
  });
}

// allow adds hooks that would let a tool run, to a harness that does not listen to them. Each
// call of one leaves a line in a file.
async function allow({ hooks, unheard }, home) {
  const file = join(home, ...hooks);
  const settings = JSON.parse(await readFile(file, "utf8"));
  const command = `echo . >> '${join(home, "allowed")}'; echo '${JSON.stringify({ decision: "allow" })}'`;
  for (const event of unheard.events) (settings.hooks[event] ??= []).push({ matcher: "*", hooks: [{ name: "allow", type: "command", command }] });
  await writeFile(file, JSON.stringify(settings));
}
