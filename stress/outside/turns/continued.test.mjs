// A session of an unmodified harness goes on: it is begun anew where it ended, or what its model has read is put
// together. It is the same agent then, and each message reaches the model once. The model is scripted.

import assert from "node:assert/strict";
import { after, before, describe } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { eventually, finish } from "../hub.mjs";
import { measured } from "../matrix.mjs";
import { agentOf, count, devDependencies, environment, harnesses, modules, settle, within } from "./harnesses.mjs";
import { Model } from "./model.mjs";
import { Script, turn } from "./processes.mjs";

for (const harness of harnesses.filter(({ again }) => again)) {
  describe(`a resumed session of ${harness.id}`, () => {
    let hub, project;
    before(async () => {
      ({ hub, project } = await settle(harness));
    });
    after(() => hub?.close());

    measured(harness.id, "resumed: which agent it is, and whether it gets what came meanwhile", ["resumed"], { timeout: 2 * within }, async (note) => {
      const script = new Script();
      // go lets it work a turn, and returns the agent that it was and the last request.
      const go = async (change) => {
        let agent;
        const model = await Model.start(harness.api, async (request) => {
          await eventually("the agent is there", async () => (await hub.agents()).some((id) => id.startsWith(`${harness.id}-`)));
          agent ??= await agentOf(harness, hub);
          return script.answer(request, harness);
        });
        try {
          const [exe, ...args] = await change(harness.command(model.url));
          const run = await finish(exe, args, { env: environment(harness, hub, model.url), cwd: project, within });
          assert.equal(run.code, 0, run.all);
        } finally {
          await model.close();
        }
        return { agent, last: model.requests.at(-1) };
      };
      script.call();
      const { agent } = await go((command) => command);
      await eventually("the agent is gone", async () => (await hub.agents()).length === 0);
      await hub.say("MAIL 1.", { to_agent: agent, channel: undefined });
      const resumes = typeof harness.again === "function" ? harness.again : (command) => [...command, ...harness.again];
      const resumed = await go((command) => resumes(command, hub.root));
      if (harness.renews) {
        assert.notEqual(resumed.agent, agent);
        assert.equal(count(resumed.last, "MAIL 1."), 0);
        return note("resumed", "another agent; what came meanwhile stays unread");
      }
      assert.equal(resumed.agent, agent);
      assert.equal(count(resumed.last, "MAIL 1."), 1);
      note("resumed", "the same agent; what came meanwhile is shown once");
    });
  });
}

for (const harness of harnesses.filter(({ compact, stays, needs = [] }) => compact && stays && needs.every((name) => name in devDependencies))) {
  describe(`a compacted session of ${harness.id}`, () => {
    const script = new Script();
    let hub, project, model, session;
    before(async () => {
      ({ hub, project } = await settle(harness));
      model = await Model.start(harness.api, (request) => script.answer(request, harness));
      session = await harness.stays({ hub, project, model, modules, within, command: harness.program, env: environment(harness, hub, model.url) });
      script.call();
      await session.go("go");
    });
    after(async () => {
      await session?.close();
      await model?.close();
      await hub?.close();
    });

    measured(harness.id, "compacted: the text of the beginning is there once, and so is each message", ["compacted"], { timeout: 2 * within }, async (note) => {
      const agent = await agentOf(harness, hub);
      const last = () => model.requests.at(-1);
      // learned waits until the model has read a message. A session that nothing wakes is given a prompt.
      const learned = async (i) => {
        if (harness.wakes === false) await turn(session, model, `look ${i}`);
        await eventually(`message ${i} is shown`, async () => count(last(), `MAIL ${i}.`) > 0);
        await eventually("the session is idle again", () => session.idle());
      };
      const send = (i) => hub.say(`MAIL ${i}.`, { to_agent: agent, channel: undefined });
      await send(1);
      await learned(1);
      await sleep(1500); // what a tool has shown counts as read a second later
      const before = model.requests.length;
      await (session.compact ?? (() => session.say(harness.compact)))();
      await eventually("the model has put it together", async () => model.requests.length > before || session.compact);
      await sleep(2000);
      await eventually("the session is idle again", () => session.idle());
      await send(2);
      await learned(2);
      await turn(session, model, "the last");
      assert.equal(count(last(), "MAIL 2."), 1);
      assert.ok(count(last(), "MAIL 1.") <= 1);
      assert.equal(count(last(), `You are agent ${agent} `), 1, last().sent.slice(-3000));
      note("compacted", "the session-start text comes again; each message once");
    });
  });
}
