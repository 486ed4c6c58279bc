// hubcli run --background starts sessions of unmodified harnesses that go on without it: by
// opencode serve, by an app server of Codex, by claude --bg, and over ACP. The model is scripted.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { eventually, finish, here, hubcli } from "../hub.mjs";
import { count, environment, harnesses, modules, settle, within } from "./harnesses.mjs";
import { Model } from "./model.mjs";
import { Script, processesOf, tool } from "./processes.mjs";

const agent = "ada";

// pause is the time between two starts of a session that sleeps.
const pause = 61_000;

// How each is started, and what the harness's own command for a terminal begins with.
const rows = {
  opencode: { name: "opencode", attach: "attach", path: ({ program }) => dirname(program[0]) },
  codex: {
    name: "codex",
    attach: "resume",
    skips: "hooks are new or changed", // a question of the terminal; 3 goes on without them
    blind: true, // without trusted hooks what wakes it names no message
    async prepare(home, project, url) {
      const file = join(home, ".codex", "config.toml");
      const settings = await readFile(file, "utf8");
      await writeFile(file, [
        'model = "stand-in"', 'model_provider = "local"', 'approval_policy = "never"', "check_for_update_on_startup = false", settings,
        "[analytics]", "enabled = false",
        "[model_providers.local]", 'name = "local"', `base_url = "${url}/v1"`, 'wire_api = "responses"', 'env_key = "OPENAI_API_KEY"', "request_max_retries = 0",
        `[projects.${JSON.stringify(project)}]`, 'trust_level = "trusted"', "",
      ].join("\n"));
    },
  },
  "claude-code": {
    name: "claude", attach: "attach", copies: true, // it goes on with a copy of a session that was stopped a moment ago
    path: ({ program }) => dirname(program[0]), args: ["--permission-mode", "default", "--allowedTools", "mcp__hub"],
    cleanup: async (run, harness) => run(harness.program[0], "daemon", "stop", "--any"),
  },
  "gemini-cli": { name: "gemini", args: ["-m", "gemini-2.5-flash", "--approval-mode", "default"] },
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
    const start = (name, ...more) => ok("run", how.name, "--background", "--as", name, ...more, "--", ...(how.args ?? []));
    const there = async (name = agent) => (await hub.agents()).includes(name);
    // attached opens the session in a terminal of its own until it shows a text.
    const attached = async (text) => {
      const command = ["python3", join(here, "turns", "terminal.py"), hubcli, "run", "--attach", agent];
      const terminal = spawn(command[0], command.slice(1), { env: { ...env, TERM: "xterm-256color" }, cwd: project, stdio: ["pipe", "pipe", "inherit"] });
      let drawn = "";
      terminal.stdout.on("data", (chunk) => { drawn += chunk; });
      try {
        if (how.skips) {
          await eventually(`the terminal asks: ${how.skips}`, () => drawn.includes(how.skips), within / 4);
          const type = setInterval(() => drawn.includes(text) || terminal.stdin.write("3"), 1000); // it may not read at once
          terminal.once("close", () => clearInterval(type));
        }
        await eventually(`the terminal shows ${text}`, () => drawn.includes(text), within / 4);
      } catch (failed) {
        throw new Error(`${failed.message}: ${JSON.stringify(drawn.slice(-3000))}`);
      } finally {
        terminal.stdin.end();
        await once(terminal, "close");
      }
    };
    const ended = (pid) => { try { return !process.kill(pid, 0); } catch { return true; } };
    before(async () => {
      ({ hub, project } = await settle(harness));
      model = await Model.start(harness.api, (request) => script.answer(request));
      await how.prepare?.(hub.root, project, model.url);
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

    it("background: a session has its name, a message wakes it, and it ends", { timeout: 3 * within }, async () => {
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

      if (how.attach) {
        await attached("done");
        assert.ok(await there(), "it goes on without the terminal");
      }
      const processes = [session.pid, ...(await processesOf(session.pid)).map(({ pid }) => pid)];
      assert.match(await ok("run", "--end", agent), /the session of ada has ended/);
      assert.equal(await there(), false, "the agent is gone");
      await eventually("no process is left", () => processes.every(ended));
      assert.deepEqual(await list(), []);
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
      const taken = await run(hubcli, "run", how.name, "--background", "--as", agent, "--", ...(how.args ?? []));
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

    it("background: a session goes on with --continue", { timeout: 3 * within, skip: harness.id === "gemini-cli" && "background.txt does that with a stand-in" }, async () => {
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

    it("background: a session that was killed sleeps, and a message starts it again", { timeout: 3 * within + pause, skip: harness.id === "gemini-cli" && "background_sleep.txt does that with a stand-in" }, async () => {
      script.call();
      await start("eve", "--resume", "--prompt", "THIRD WORDS.");
      await eventually("its bridge is there", () => there("eve"), within);
      await eventually("its turn has ended", () => model.requests.some((request) => count(request, "THIRD WORDS.") > 0 && count(request, "I work on.") > 0), within);
      const [{ pid, attach }] = await list();
      if (how.copies) assert.equal((await run(harness.program[0], "stop", attach.at(-1))).code, 0);
      else for (const child of await processesOf(pid)) process.kill(child.pid, "SIGKILL");
      await eventually("it sleeps", async () => (await list())[0]?.state === "sleeping", within);
      await eventually("the agent is gone", async () => !(await there("eve")), within);

      const before = model.requests.length;
      await hub.say("FOURTH WORDS.", { to_agent: "eve", channel: undefined });
      await eventually("it is started again, and knows what was before", () => model.requests.slice(before).some((request) => count(request, "THIRD WORDS.") > 0 && count(request, "for you (eve)") > 0), within + pause);
      await eventually("its bridge is there again", () => there("eve"), within);
      const [again] = await list();
      assert.deepEqual([again.starts, again.resume, /sleeping|ended/.test(again.state)], [1, true, false]);
      await ok("run", "--end", "eve");
      assert.deepEqual(await list(), []);
    });
  });
}
