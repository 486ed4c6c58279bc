// An unmodified harness asks its user whether a tool may run, and the hub shows that its agent
// waits for the answer. The model is scripted.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { after, before, describe } from "node:test";
import { eventually } from "../hub.mjs";
import { measured } from "../matrix.mjs";
import { agentOf, environment, harnesses, modules, settle, within } from "./harnesses.mjs";
import { Model } from "./model.mjs";

for (const harness of harnesses.filter(({ asks }) => asks)) {
  describe(`a prompt of ${harness.id}`, () => {
    let hub, project, model, session;
    before(async () => {
      ({ hub, project } = await settle(harness));
      const file = join(project, "made.txt");
      const steps = [() => ({ text: "done" }), (request) => harness.write(request, file, "made"), () => ({ text: "done" }), (request) => harness.write(request, file+"2", "made"), () => ({ text: "done" })];
      model = await Model.start(harness.api, async (request, n) => steps[n - 1]?.(request));
      session = await harness.stays({ hub, project, model, modules, within, command: harness.program, env: environment(harness, hub, model.url), asking: harness.writer ?? true });
      await session.go("go");
    });
    after(async () => {
      await session?.close();
      await model?.close();
      await hub?.close();
    });

    measured(harness.id, "prompt: the hub shows that the agent waits for its user", ["permission prompt"], { timeout: within }, async (note) => {
      const id = await agentOf(harness, hub);
      const me = async () => (await hub.get("/v1/agents")).find(({ agent_id }) => agent_id === id);
      await eventually("the agent is idle", async () => (await me()).activity !== "working");
      await session.say("write it");
      await eventually("the agent is at a prompt", async () => (await me()).activity === "at_prompt");
      assert.equal((await me()).prompt_tool, harness.asks);
      await eventually("the tool has run", async () => {
        await session.grant();
        await sleep(300); // a program that is still drawing its question takes no answer
        return model.requests.length === 3;
      });
      assert.equal((await readFile(join(project, "made.txt"), "utf8")).trim(), "made");
      await eventually("the agent is idle again", async () => !["at_prompt", "working"].includes((await me()).activity));
      if (process.env.EXPLORE) {
        await session.say("write it again");
        await eventually("the agent is at a prompt", async () => (await me()).activity === "at_prompt");
        await sleep(1500);
        session.refuse();
        await sleep(4000);
        console.log(await me(), model.requests.length, session.drawn().slice(-1500));
      }
      note("permission prompt", `shown with the tool, \`${harness.asks}\`, until it is answered`);
    });
  });
}
