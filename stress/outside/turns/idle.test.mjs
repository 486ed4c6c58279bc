// An idle session of an unmodified harness is woken by a message, once, with its words. The
// model is scripted. LATENCIES names a file for what was measured, in ms.

import assert from "node:assert/strict";
import { appendFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { after, before, describe, it } from "node:test";
import { eventually, hubcli } from "../hub.mjs";
import { measured } from "../matrix.mjs";
import { agentOf, count, devDependencies, environment, harnesses, modules, settle, within } from "./harnesses.mjs";
import { Model } from "./model.mjs";
import { Script, killBridge, reviveBridge, tool, turn } from "./processes.mjs";

// Messages one by one. QUIET makes it many, for a machine that does nothing else.
const messages = process.env.QUIET ? 30 : 10;
const paced = 2600; // ms between them once a stream has shown its first eight lines
// Messages beside kills of the hub, and how many are posted at once. LONG makes it many, and
// every second kill one of the bridge.
const [posts, kills, group] = process.env.LONG ? [500, 20, 5] : [20, 5, 1];
// How soon the model is asked after the post: 99 of 100 times within the harness's own bound on
// a quiet machine. On a busy one, where programs of 400 MB run slowly, half of them within
// four times that.
const [share, slack] = process.env.QUIET ? [0.99, 1] : [0.5, 4];

for (const harness of harnesses.filter(({ stays, wakes, needs = [] }) => stays && wakes !== false && needs.every((name) => name in devDependencies))) {
  describe(`an idle session of ${harness.id}`, () => {
    const script = new Script();
    let hub, project, model, session;
    before(async () => {
      ({ hub, project } = await settle(harness));
      model = await Model.start(harness.api, (request) => script.answer(request));
      session = await harness.stays({ hub, project, model, modules, within, command: harness.program, env: environment(harness, hub, model.url) });
      script.call();
      await session.go("go");
      assert.ok(model.requests.length <= 2);
    });
    after(async () => {
      await session?.close();
      await model?.close();
      await hub?.close();
    });

    measured(harness.id, "idle: each message begins one turn, soon", ["idle wake"], { timeout: within }, async (note) => {
      const agent = await agentOf(harness, hub);
      const took = [];
      for (let i = 1; i <= messages; i++) {
        if (i > 8) await sleep(paced);
        const before = model.requests.length;
        const posted = performance.now();
        await hub.say(`WORD ${i}.`, { to_agent: agent, channel: undefined });
        await eventually("the model is asked", async () => model.requests.length > before);
        took.push(performance.now() - posted);
        // A harness to which a message is only named reads it with a second request.
        const needs = harness.names ? 2 : 1;
        assert.equal(count(model.requests[before], `WORD ${i}.`), 2 - needs);
        await eventually("the session is idle again", () => session.idle());
        assert.equal(model.requests.length, before + needs, `no request more than it needs: ${model.requests.slice(before).map(({ sent }) => "\n" + sent.slice(-700)).join("")}`);
        assert.equal(count(model.requests.at(-1), `WORD ${i}.`), 1);
      }
      took.sort((a, b) => a - b);
      const at = (part) => Math.round(took[Math.ceil(part * took.length) - 1]);
      note("idle wake", `${harness.names ? "with its name" : "with its words"}, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms of ${messages} messages`);
      if (process.env.LATENCIES) await appendFile(process.env.LATENCIES, `${harness.id}: ${messages} messages, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms\n`);
      assert.ok(at(share) <= slack * (harness.wakes ?? 500), `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`);
    });

    measured(harness.id, "idle: the operator's words come whole, and in no frame that denies them", ["operator's words"], { timeout: 2 * within }, async (note) => {
      const agent = await agentOf(harness, hub);
      const last = () => model.requests.at(-1);
      for (const [i, busy] of [false, true].entries()) {
        await sleep(paced);
        await eventually("the session is idle", () => session.idle());
        const say = () => hub.command("say", "--to", agent, `ORDER ${i}.`);
        if (busy) {
          script.call();
          script.first = say;
          await turn(session, model, "work");
        } else await say();
        await eventually("the words are shown", async () => count(last(), `ORDER ${i}.`) > 0);
        await eventually("the session is idle again", () => session.idle());
        assert.equal(count(last(), `ORDER ${i}.`), 1);
        for (const [frame] of last().sent.matchAll(/<task-notification>.*?<\/task-notification>/gs)) assert.doesNotMatch(frame, /ORDER/);
        assert.match(last().sent, /What the human operator says is your user's word/);
      }
      note("operator's words", "with the weight of the user's, idle and in a turn");
    });

    it("idle: no message is lost or shown twice when the hub is killed", { timeout: (process.env.LONG ? 20 : 3) * within }, async () => {
      const agent = await agentOf(harness, hub);
      const last = () => model.requests.at(-1);
      const every = posts / kills;
      for (let i = 1; i <= posts; i++) {
        await hub.say(`MAIL ${i}.`, { to_agent: agent, channel: undefined });
        const bridge = process.env.LONG && i % (2 * every) === 0;
        if (i % every === 0) {
          await sleep(13 * (i % 23)); // so that kills come before, while and after it is shown
          await (bridge ? killBridge(session) : hub.restart("SIGKILL"));
        }
        // Without a bridge some sessions learn of mail with the next prompt alone.
        if (bridge && !harness.alone) await turn(session, model, `look ${i}`);
        if (i % group === 0) await eventually(`message ${i} is shown`, async () => count(last(), `MAIL ${i}.`) > 0);
        if (bridge) {
          await eventually("the session is idle again", () => session.idle());
          await reviveBridge(session, model, script);
        }
      }
      const times = Array.from({ length: posts }, (_, i) => count(last(), `MAIL ${i + 1}.`));
      assert.deepEqual(times, Array(posts).fill(1));
    });
  });
}

// A session that nothing else wakes: its model runs a watch in the background and ends its turn.
for (const harness of harnesses.filter(({ watches }) => watches)) {
  describe(`an idle session of ${harness.id} with a watch`, () => {
    const requests = 3; // of a turn, which reads what is unread, begins the watch, and ends
    let hub, project, model, session;
    before(async () => {
      ({ hub, project } = await settle(harness));
      const settled = 1500; // ms, in which the hub learns that a poll was read; a model thinks longer
      model = await Model.start(harness.api, async (request, n) => {
        if (n % requests === 1) return tool(request, "hub_poll_messages", { timeout_seconds: 0 });
        if (n % requests === 0) return { text: "done" };
        await sleep(settled);
        return harness.watches(request, `${hubcli} watch --agent ${agent} --base-url ${hub.url}`);
      });
      session = await harness.stays({ hub, project, model, modules, within, command: [...harness.program, "--allow-all-tools"], env: environment(harness, hub, model.url) });
    });
    let agent;
    after(async () => {
      await session?.close();
      await model?.close();
      await hub?.close();
    });

    measured(harness.id, "idle: a watch in the background begins a turn for each message", ["idle wake"], { timeout: within }, async (note) => {
      await eventually("its bridge is there", async () => (await hub.agents()).length > 0, within);
      agent = await agentOf(harness, hub);
      await session.go("go");
      const took = [];
      for (let i = 1; i <= messages; i++) {
        await eventually("the watch waits", async () => (await hub.get(`/v1/attention?agent_id=${agent}`)).watching);
        const before = model.requests.length;
        const posted = performance.now();
        await hub.say(`WORD ${i}.`, { to_agent: agent, channel: undefined });
        await eventually("the model is asked", async () => model.requests.length > before);
        took.push(performance.now() - posted);
        await eventually("the turn has ended", async () => model.requests.length === before + requests && (await session.idle()));
        assert.equal(count(model.requests[before], `WORD ${i}.`), 1, "its words come with the wake");
      }
      took.sort((a, b) => a - b);
      const at = (part) => Math.round(took[Math.ceil(part * took.length) - 1]);
      note("idle wake", `by a \`hubcli watch\` that it runs in the background, with its words, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms of ${messages} messages`);
    });
  });
}
