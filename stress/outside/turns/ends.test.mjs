// A session of an unmodified harness ends: its program is killed, or its terminal is quit. The model is
// scripted.

import assert from "node:assert/strict";
import { after, before, describe } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "../hub.mjs";
import { measured } from "../matrix.mjs";
import { agentOf, count, devDependencies, environment, harnesses, modules, settle, within } from "./harnesses.mjs";
import { Model } from "./model.mjs";
import { Script, killHarness, turn } from "./processes.mjs";

const soon = 5_000; // ms, in which the others hear of it

for (const harness of harnesses.filter(({ stays, needs = [] }) => stays && needs.every((name) => name in devDependencies))) {
  describe(`the end of ${harness.id}`, () => {
    const script = new Script();
    let hub, project, model, session;
    before(async () => {
      ({ hub, project } = await settle(harness));
      model = await Model.start(harness.api, (request) => script.answer(request));
      session = await harness.stays({ hub, project, model, modules, within, command: harness.program, env: environment(harness, hub, model.url) });
      script.call();
      await session.go("go");
    });
    after(async () => {
      await session?.close();
      await model?.close();
      await hub?.close();
    });

    // Of the others idle.test.mjs tells.
    measured(harness.id, "end: before it the operator's words come whole", ["operator's words"], { timeout: 2 * within, skip: harness.wakes !== false }, async (note) => {
      const agent = await agentOf(harness, hub);
      const last = () => model.requests.at(-1);
      for (const [i, busy] of [false, true].entries()) {
        const say = () => hub.command("say", "--to", agent, `ORDER ${i}.`);
        if (busy) {
          script.call();
          script.first = say;
        } else await say();
        await turn(session, model, `work ${i}`);
        await eventually("the words are shown", async () => count(last(), `ORDER ${i}.`) > 0);
        await eventually("the session is idle again", () => session.idle());
        assert.equal(count(last(), `ORDER ${i}.`), 1);
        assert.match(last().sent, /What the human operator says is your user's word/);
      }
      note("operator's words", "with the weight of the user's, with a prompt and in a turn");
    });

    measured(harness.id, "end: nobody's session is not woken", ["terminal quit"], { timeout: 2 * within }, async (note) => {
      if (!session.quit) return note("terminal quit", "ends the session");
      const agent = await agentOf(harness, hub);
      const row = async () => (await hub.get("/v1/agents")).find(({ agent_id }) => agent_id === agent);
      await eventually("it waits for messages", async () => (await row()).listener === "armed");
      await session.quit();
      await eventually("it is shown without a terminal", async () => (await row()).activity === "no_terminal", 3 * soon);
      const before = model.requests.length;
      await hub.say("NOBODY.", { to_agent: agent, channel: undefined });
      await sleep(soon);
      assert.equal(model.requests.length, before, "a model works for nobody");
      await session.resume();
      await eventually("it is woken when a terminal follows it", async () => count(model.requests.at(-1), "NOBODY.") > 0, 3 * soon);
      note("terminal quit", "not woken, shown as `no terminal`; woken when one follows it again");
    });

    measured(harness.id, "end: a killed harness is gone soon", ["harness killed"], { timeout: within }, async (note) => {
      const agent = await agentOf(harness, hub);
      await killHarness(session);
      const killed = performance.now();
      await eventually("the agent is gone", async () => !(await hub.agents()).includes(agent), 3 * soon);
      const took = performance.now() - killed;
      assert.ok(took <= soon, `it was gone after ${Math.round(took)} ms`);
      note("harness killed", `the agent is gone within ${Math.max(1, Math.ceil(took / 1000))} s`);
    });
  });
}
