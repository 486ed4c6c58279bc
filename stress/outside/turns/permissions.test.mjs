// The operator answers the permission prompts of an unmodified harness in the hub's inbox, or a
// rule does. The model is scripted.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { after, before, describe } from "node:test";
import { eventually, finish, hubcli } from "../hub.mjs";
import { measured } from "../matrix.mjs";
import { devDependencies, environment, harnesses, modules, settle, within } from "./harnesses.mjs";
import { Model } from "./model.mjs";

const row = "permission prompt in the inbox";

for (const harness of harnesses.filter(({ permits, needs = [] }) => permits && needs.every((name) => name in devDependencies))) {
  describe(`permissions of ${harness.id}`, () => {
    let hub, project, model, session;
    const file = (name) => join(project, name);
    const exists = (name) => readFile(file(name), "utf8").then(() => true, () => false);
    // human runs a command as the person at the terminal.
    const human = async (...args) => {
      const got = await finish(hubcli, args, { env: { ...hub.env, HUB_BASE_URL: hub.url }, cwd: project });
      assert.equal(got.code, 0, got.all);
      return got.stdout;
    };
    const questions = async (...args) => JSON.parse(await human("app", "inbox", "--json", ...args));
    const requests = (n) => eventually(`the model has got request ${n}`, () => model.requests.length >= n, within);
    before(async () => {
      ({ hub, project } = await settle(harness));
      const writes = (name) => (request) => harness.write(request, file(name), "made");
      const done = () => ({ text: "done" });
      const steps = [done, writes("asked.txt"), done, writes("ruled.txt"), done, writes("denied.txt"), done, writes("late.txt"), done];
      model = await Model.start(harness.api, async (request, n) => steps[n - 1]?.(request));
      session = await harness.stays({ hub, project, model, modules, within, command: harness.program, env: environment(harness, hub, model.url), asking: harness.writer ?? true });
      await human("app", "permissions", "on", "--wait", "55s");
      await session.go("go");
    });
    after(async () => {
      await session?.close();
      await model?.close();
      await hub?.close();
    });

    measured(harness.id, "the operator answers, a rule answers, and without an answer the harness asks", [row], { timeout: 3 * within }, async (note) => {
      // The operator allows.
      await session.say("write it");
      let open = [];
      await eventually("the prompt is in the inbox", async () => (open = await questions()).length === 1, within);
      assert.match(JSON.stringify(open[0]), /asked\.txt/);
      assert.equal(await exists("asked.txt"), false);
      await human("app", "answer", open[0].ask_id, "allow");
      await requests(3);
      assert.equal(await exists("asked.txt"), true);

      // A rule allows, and nobody is asked.
      await eventually("the turn has ended", session.idle, within);
      await human("app", "permissions", "allow", ...harness.permits(project));
      await session.say("write another");
      await requests(5);
      assert.equal(await exists("ruled.txt"), true);
      assert.deepEqual(await questions(), []);

      // A rule refuses, and the model is told.
      await eventually("the turn has ended", session.idle, within);
      await human("app", "permissions", "deny", harness.asks, "--path", project, "--at", "1");
      await session.say("write a third");
      await requests(7);
      assert.equal(await exists("denied.txt"), false);

      // Nobody answers: the harness asks its own user.
      await eventually("the turn has ended", session.idle, within);
      await human("app", "permissions", "remove", "1");
      await human("app", "permissions", "remove", "1");
      await human("app", "permissions", "on", "--wait", "2s");
      await session.say("write a fourth");
      await eventually("the prompt is in the inbox", async () => (await questions()).length === 1, within);
      await eventually("the prompt has left the inbox", async () => (await questions()).length === 0, within);
      await eventually("the tool has run", async () => {
        await session.grant();
        await sleep(300); // a program that is still drawing its question takes no answer
        return model.requests.length >= 9;
      }, within);
      assert.equal(await exists("late.txt"), true);
      note(row, "answered there, or by a rule; without an answer its own prompt goes on");
    });
  });
}
