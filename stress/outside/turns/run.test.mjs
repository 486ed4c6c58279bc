// hubcli run drives an unmodified harness over ACP: a message begins a turn of an idle session,
// the operator answers its permission prompts in the inbox, and Ctrl-C cancels a turn. The model
// is scripted. LATENCIES names a file for what was measured, in ms.

import assert from "node:assert/strict";
import { once } from "node:events";
import { appendFile, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { after, before, describe, it } from "node:test";
import { eventually, finish, hubcli } from "../hub.mjs";
import { measured } from "../matrix.mjs";
import { count, environment, harnesses, modules, settle, within } from "./harnesses.mjs";
import { Model } from "./model.mjs";
import { Script, processesOf, turn } from "./processes.mjs";
import { driven, started } from "./sessions.mjs";

const agent = "ada";
const row = "driven by `hubcli run`";
// Messages one by one, and messages beside kills of the hub. QUIET and LONG make them many, for a
// machine that does nothing else.
const messages = process.env.QUIET ? 30 : 10;
const [posts, kills] = process.env.LONG ? [60, 20] : [20, 5];
const paced = 2600; // ms between them once a stream has shown its first eight
const [share, slack] = process.env.QUIET ? [0.99, 1] : [0.5, 4];
const soon = 2000; // ms

for (const harness of harnesses.filter((one) => one.driven)) {
  describe(`hubcli run ${harness.driven.name}`, () => {
    const script = new Script();
    let hub, project, model, session;
    const file = (name) => join(project, name);
    const exists = (name) => readFile(file(name), "utf8").then(() => true, () => false);
    const last = () => model.requests.at(-1);
    const human = async (...args) => {
      const got = await finish(hubcli, args, { env: { ...hub.env, HUB_BASE_URL: hub.url }, cwd: project });
      assert.equal(got.code, 0, got.all);
      return got.stdout;
    };
    const questions = async () => JSON.parse(await human("app", "inbox", "--json"));
    const idle = () => eventually("the session is idle", session.idle, within);
    const there = async () => (await hub.agents()).includes(agent);
    const open = (more) => driven({ hub, project, env: environment(harness, hub, model.url), modules, within, agent, driven: harness.driven, more });
    before(async () => {
      ({ hub, project } = await settle(harness));
      await harness.driven.prepare?.(hub.root);
      model = await Model.start(harness.api, (request) => script.answer(request));
      session = await open();
      script.call();
      await session.go("go");
    });
    after(async () => {
      if (process.env.SHOW) console.log(session?.said());
      await session?.close();
      await model?.close();
      await hub?.close();
    });

    measured(harness.id, "run: each message begins one turn, soon, and is named without its words", [row], { timeout: within }, async (note) => {
      const took = [];
      for (let i = 1; i <= messages; i++) {
        if (i > 8) await sleep(paced);
        const before = model.requests.length;
        const posted = performance.now();
        await hub.say(`WORD ${i}.`, { to_agent: agent, channel: undefined });
        await eventually("the model is asked", async () => model.requests.length > before);
        took.push(performance.now() - posted);
        assert.equal(count(model.requests[before], `WORD ${i}.`), 0);
        await idle();
        assert.equal(model.requests.length, before + 2, `no request more than it needs: ${model.requests.slice(before).map(({ sent }) => "\n" + sent.slice(-700)).join("")}`);
        assert.equal(count(last(), `WORD ${i}.`), 1);
      }
      took.sort((a, b) => a - b);
      const at = (part) => Math.round(took[Math.ceil(part * took.length) - 1]);
      note(row, `wakes with its name, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms of ${messages} messages`);
      if (process.env.LATENCIES) await appendFile(process.env.LATENCIES, `${harness.id} by hubcli run: ${messages} messages, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms\n`);
      assert.ok(at(share) <= slack * soon, `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`);
    });

    measured(harness.id, "run: the operator's words come whole", [row], { timeout: within }, async (note) => {
      await sleep(paced);
      await idle();
      await hub.command("say", "--to", agent, "ORDER 1.");
      await eventually("the words are shown", async () => count(last(), "ORDER 1.") > 0);
      await idle();
      assert.equal(count(last(), "ORDER 1."), 1);
      assert.match(last().sent, /What the human operator says is your user's word/);
      note(row, "the operator's words whole");
    });

    measured(harness.id, "run: the operator answers permission prompts", [row], { timeout: within }, async (note) => {
      await human("app", "permissions", "on", "--wait", "55s");
      for (const [name, answer, made] of [["allowed.txt", "allow", true], ["denied.txt", "deny", false]]) {
        const before = model.requests.length;
        script.next = (request) => harness.write(request, file(name), "made");
        await session.say(`write ${name}`);
        let open = [];
        await eventually("the prompt is in the inbox", async () => (open = await questions()).length === 1, within);
        assert.match(JSON.stringify(open[0]), new RegExp(name));
        assert.equal(await exists(name), false);
        assert.equal((await hub.get(`/v1/attention?agent_id=${agent}`)).turn, "at_prompt");
        await human("app", "answer", open[0].ask_id, answer);
        if (made) await eventually("the model is told", () => model.requests.length >= before + 2, within);
        await idle();
        assert.equal(await exists(name), made);
      }
      await human("app", "permissions", "off");
      note(row, "prompts answered in the inbox");
    });

    measured(harness.id, "run: Ctrl-C cancels the turn alone", [row], { timeout: within }, async (note) => {
      const before = model.requests.length;
      let release;
      script.first = () => new Promise((resolve) => { release = resolve; });
      await session.say("think for long");
      await eventually("the model is asked", async () => model.requests.length > before);
      session.interrupt();
      await eventually("the turn is cancelled", () => session.said().includes("[cancelled]"), within);
      await idle();
      release();
      await turn(session, model, "go on");
      note(row, "Ctrl-C cancels a turn");
    });

    it("run: no message is lost or shown twice when the hub is killed", { timeout: 3 * within }, async () => {
      for (let i = 1; i <= posts; i++) {
        await hub.say(`MAIL ${i}.`, { to_agent: agent, channel: undefined });
        if (i % (posts / kills) === 0) {
          await sleep(13 * (i % 23)); // so that kills come before, while and after it is shown
          await hub.restart("SIGKILL");
        }
        await eventually(`message ${i} is read`, async () => count(last(), `MAIL ${i}.`) > 0, within);
      }
      await idle();
      const times = Array.from({ length: posts }, (_, i) => count(last(), `MAIL ${i + 1}.`));
      assert.deepEqual(times, Array(posts).fill(1));
    });

    measured(harness.id, "run: the agent is gone when the harness or the command is killed", [row], { timeout: 2 * within }, async (note) => {
      const ends = async (pid, whose) => {
        const ended = once(session.process, "close");
        const processes = (await processesOf(session.pid)).map(({ pid: one }) => one);
        process.kill(pid, "SIGKILL");
        const killed = performance.now();
        await eventually(`the agent is gone, ${whose} killed`, async () => !(await there()));
        const took = performance.now() - killed;
        assert.ok(took <= 5000, `${took} ms`);
        await ended;
        await eventually("no process is left", () => processes.every((one) => { try { return !process.kill(one, 0); } catch { return true; } }));
      };
      assert.ok(await there());
      const [, program] = await processesOf(session.pid); // the first is its keeper
      await ends(program.pid, "the harness");
      assert.match(session.said(), /a signal has ended it: SIGKILL/);
      session = await open(["--headless", "--prompt", "go"]);
      await eventually("the bridge is there", there);
      await eventually("the turn has ended", session.idle, within);
      await ends(session.pid, "the command");
      note(row, "gone within 5 s of a kill");
    });
  });
}

for (const harness of harnesses.filter((one) => one.terminal)) {
  describe(`hubcli run ${harness.terminal.name} in a terminal`, () => {
    const script = new Script();
    let hub, project, model, session;
    before(async () => {
      ({ hub, project } = await settle(harness));
      model = await Model.start(harness.api, (request) => script.answer(request));
      await harness.terminal.prepare?.(hub.root, project, model);
      session = await started({ hub, project, env: environment(harness, hub, model.url), modules, within, agent }, harness.id, harness.terminal);
    });
    after(async () => {
      await session?.close();
      await model?.close();
      await hub?.close();
    });

    it("run: the session has the name, and a message wakes it before its agent has called a tool", { timeout: 2 * within }, async () => {
      if (harness.terminal.prompted) await session.go("go");
      const there = async () => (await hub.agents()).filter((id) => !id.endsWith(".watch"));
      await eventually("the agent is there", async () => (await there()).length > 0, within);
      assert.deepEqual(await there(), [agent]);
      for (let i = 1; i <= 3; i++) {
        await hub.say(`WORD ${i}.`, { to_agent: agent, channel: undefined });
        await eventually(`message ${i} is shown`, () => model.requests.some((request) => count(request, `WORD ${i}.`) > 0), within);
        await eventually("the session is idle again", session.idle, within);
      }
      for (const request of model.requests) for (let i = 1; i <= 3; i++) assert.ok(count(request, `WORD ${i}.`) <= 1, "it is shown once");
      assert.deepEqual(await there(), [agent]);
    });
  });
}
