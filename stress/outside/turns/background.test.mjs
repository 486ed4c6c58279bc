// hubcli run --background starts sessions of unmodified harnesses that go on without it: by
// opencode serve, by an app server of Codex, by claude --bg, and over ACP. The model is scripted.

import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { eventually, finish, hubcli } from "../hub.mjs";
import { measured } from "../matrix.mjs";
import { count, environment, harnesses, modules, settle, within } from "./harnesses.mjs";
import { Model } from "./model.mjs";
import { Script, processesOf, tool } from "./processes.mjs";

const row = "in the background by `hubcli run`";
const agent = "ada";

// How each is started, and what the harness's own command for a terminal begins with.
const rows = {
  opencode: { name: "opencode", attach: "attach", path: ({ program }) => dirname(program[0]) },
  codex: {
    name: "codex",
    attach: "resume",
    blind: true, // without trusted hooks what wakes it names no message
    args: (url) => {
      const config = {
        model: "stand-in", model_provider: "local", approval_policy: "never", "analytics.enabled": false,
        "model_providers.local.name": "local", "model_providers.local.base_url": `${url}/v1`, "model_providers.local.wire_api": "responses",
        "model_providers.local.env_key": "OPENAI_API_KEY", "model_providers.local.request_max_retries": 0,
      };
      return Object.entries(config).flatMap(([name, value]) => ["-c", `${name}=${JSON.stringify(value)}`]);
    },
  },
  "claude-code": {
    name: "claude", attach: "attach", copies: true, // it goes on with a copy of a session that was stopped a moment ago
    path: ({ program }) => dirname(program[0]), args: () => ["--permission-mode", "default", "--allowedTools", "mcp__hub"],
    cleanup: async (run, harness) => run(harness.program[0], "daemon", "stop", "--any"),
  },
  "gemini-cli": { name: "gemini", args: () => ["-m", "gemini-2.5-flash", "--approval-mode", "default"] },
};

for (const harness of harnesses.filter(({ id }) => id in rows)) {
  const how = rows[harness.id];
  describe(`hubcli run ${how.name} --background`, () => {
    const script = new Script();
    let hub, project, model, env;
    const run = (program, ...args) => finish(program, args, { env, cwd: project });
    const ok = async (...args) => {
      const got = await run(hubcli, ...args);
      assert.equal(got.code, 0, got.all);
      return got.stdout;
    };
    const list = async () => JSON.parse(await ok("run", "--list", "--json"));
    const start = (name, ...more) => ok("run", how.name, "--background", "--as", name, ...more, "--", ...(how.args?.(model.url) ?? []));
    const there = async (name = agent) => (await hub.agents()).includes(name);
    const ended = (pid) => { try { return !process.kill(pid, 0); } catch { return true; } };
    before(async () => {
      ({ hub, project } = await settle(harness));
      model = await Model.start(harness.api, (request) => script.answer(request));
      const path = how.path?.(harness) ?? join(modules, ".bin");
      env = { ...environment(harness, hub, model.url), HUB_BASE_URL: hub.url };
      env.PATH = [path, dirname(process.execPath), env.PATH].join(":");
    });
    after(async () => {
      for (const { agent_id } of await list().catch(() => [])) await run(hubcli, "run", "--end", agent_id);
      await how.cleanup?.(run, harness);
      await model?.close();
      await hub?.close();
    });

    measured(harness.id, "background: a session has its name, a message wakes it, and it ends", [row], { timeout: 3 * within }, async (note) => {
      script.call();
      const said = await start(agent, "--prompt", "go");
      assert.match(said, new RegExp(`works in the background as agent ${agent}; go to it with: hubcli (run --attach|say --to) ${agent}`));
      await eventually("its bridge is there", there, within);
      await eventually("its turn has ended", () => model.requests.length >= 2, within);
      assert.deepEqual((await hub.agents()).filter((id) => !id.endsWith(".watch")), [agent]);
      const [session, ...others] = await list();
      assert.deepEqual(others, []);
      assert.equal(session.agent_id, agent);
      assert.equal(session.folder, project);
      assert.doesNotMatch(session.state, /ended|hub/);
      assert.deepEqual(session.attach.slice(1, 2), how.attach ? [how.attach] : []);

      if (how.blind) script.next = (request) => tool(request, "hub_poll_messages", { timeout_seconds: 0 });
      await hub.say("WORD 1.", { to_agent: agent, channel: undefined });
      await eventually("the message is shown", async () => model.requests.some((request) => count(request, "WORD 1.") > 0), within);

      const processes = [session.pid, ...(await processesOf(session.pid)).map(({ pid }) => pid)];
      assert.match(await ok("run", "--end", agent), /the session of ada has ended/);
      assert.equal(await there(), false, "the agent is gone");
      await eventually("no process is left", () => processes.every(ended));
      assert.deepEqual(await list(), []);
      note(row, `started, listed${how.attach ? ", attached" : ""} and ended, woken by messages`);
    });

    it("background: two at once have names of their own, and one that is killed is forgotten", { timeout: 3 * within }, async () => {
      for (const name of [agent, "bo"]) {
        script.call();
        await start(name, "--prompt", "go");
        await eventually(`the bridge of ${name} is there`, () => there(name), within);
      }
      assert.deepEqual((await hub.agents()).filter((id) => !id.endsWith(".watch")).sort(), [agent, "bo"]);
      const sessions = await list();
      assert.deepEqual(sessions.map(({ agent_id }) => agent_id), [agent, "bo"]);
      const taken = await run(hubcli, "run", how.name, "--background", "--as", agent, "--", ...(how.args?.(model.url) ?? []));
      assert.equal(taken.code, 1, taken.all);
      assert.match(taken.all, /ada is the name of an agent that is at work/);

      const processes = (await processesOf(sessions[0].pid)).map(({ pid }) => pid);
      process.kill(sessions[0].pid, "SIGKILL");
      await eventually("no process is left", () => processes.every(ended));
      await eventually("the agent is gone", async () => !(await there()), within);
      assert.deepEqual((await list()).map(({ agent_id, state }) => `${agent_id} ${state === "ended"}`), ["ada true", "bo false"]);
      assert.deepEqual((await list()).map(({ agent_id }) => agent_id), ["bo"]);
      await ok("run", "--end", "bo");
      assert.deepEqual(await list(), []);
    });

    it("background: a session goes on with --continue", { timeout: 3 * within, skip: harness.id === "gemini-cli" && "its sessions are loaded in run.txt" }, async () => {
      script.call();
      await start("cy", "--prompt", "FIRST WORDS.");
      await eventually("its bridge is there", () => there("cy"), within);
      await eventually("its turn has ended", () => model.requests.some((request) => count(request, "FIRST WORDS.") > 0), within);
      const [{ session }] = await list();
      await ok("run", "--end", "cy");
      await start("cy", "--continue", "--prompt", "SECOND WORDS.");
      await eventually("it remembers", () => model.requests.some((request) => count(request, "FIRST WORDS.") > 0 && count(request, "SECOND WORDS.") > 0), within);
      const [again] = await list();
      if (!how.copies) assert.equal(again.session, session);
      await ok("run", "--end", "cy");
    });
  });
}
