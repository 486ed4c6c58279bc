// Unmodified harnesses, with what the adapter wrote, work turns against a scripted model.
// Every assertion is about what the harness sent to its model.
//
// SPOIL takes some of what the adapter wrote out again, so that a test must fail: see
// faults.mjs.

import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { arch, platform } from "node:process";
import { after, before, describe, it } from "node:test";
import { join } from "node:path";
import { Hub, eventually, finish, here, hubcli } from "../hub.mjs";
import { anthropic } from "./anthropic.mjs";
import { chat } from "./chat.mjs";
import { Model } from "./model.mjs";
import { responses } from "./responses.mjs";

const modules = join(here, "turns", "node_modules");
const within = 120_000; // of a program of 400 MB on a busy machine
const key = "made-up-key-of-a-test";

// harnesses tell how each works a turn without a human, against which API, and where its
// hooks stand.
const harnesses = [
  {
    id: "claude-code",
    api: anthropic,
    command: () => [join(modules, "@anthropic-ai", `claude-code-${platform}-${arch}`, "claude"), "-p", "go", "--allowedTools", "mcp__hub"],
    env: (url) => ({ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: key, DISABLE_AUTOUPDATER: "1", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1" }),
    hooks: [".claude", "settings.json"],
    tool: "PostToolBatch",
    // prepare writes what a user answers when the harness runs first.
    async prepare(home, project) {
      const file = join(home, ".claude.json");
      const settings = JSON.parse(await readFile(file, "utf8"));
      settings.hasCompletedOnboarding = true;
      settings.customApiKeyResponses = { approved: [key.slice(-20)], rejected: [] };
      settings.projects = { [project]: { hasTrustDialogAccepted: true } };
      await writeFile(file, JSON.stringify(settings));
    },
  },
  {
    id: "codex",
    api: responses,
    command: (url) => {
      const config = {
        model: "stand-in", model_provider: "local", approval_policy: "never", check_for_update_on_startup: false, "analytics.enabled": false,
        "model_providers.local.name": "local", "model_providers.local.base_url": `${url}/v1`, "model_providers.local.wire_api": "responses",
        "model_providers.local.env_key": "OPENAI_API_KEY", "model_providers.local.request_max_retries": 0,
      };
      const settings = Object.entries(config).flatMap(([name, value]) => ["-c", `${name}=${JSON.stringify(value)}`]);
      // The user trusts the hooks once; without a human they are called by this flag alone.
      const flags = ["--skip-git-repo-check", "--dangerously-bypass-hook-trust"];
      return [process.execPath, join(modules, "@openai/codex/bin/codex.js"), "exec", ...flags, ...settings, "go"];
    },
    env: () => ({ OPENAI_API_KEY: key }),
    hooks: [".codex", "hooks.json"],
    tool: "PostToolUse",
    prepare: async () => {},
  },
  {
    id: "qwen-code",
    api: chat,
    command: () => [process.execPath, join(modules, "@qwen-code/qwen-code/cli.js"), "--approval-mode", "default", "go"],
    env: (url) => ({ OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: key, OPENAI_MODEL: "stand-in" }),
    hooks: [".qwen", "settings.json"],
    tool: "PostToolUse",
    async prepare(home) {
      const file = join(home, ".qwen", "settings.json");
      const settings = JSON.parse(await readFile(file, "utf8"));
      settings.security = { auth: { selectedType: "openai" } };
      settings.privacy = { usageStatisticsEnabled: false };
      await writeFile(file, JSON.stringify(settings));
    },
  },
];

// count returns how often a text stands in what was sent to the model.
const count = (request, text) => request.sent.split(text).length - 1;

for (const harness of harnesses) {
  describe(`a turn of ${harness.id}`, () => {
    let hub, project;
    before(async () => {
      hub = await Hub.start();
      project = join(hub.root, "project");
      await mkdir(project);
      const run = async (...args) => {
        const got = await finish(hubcli, args, { env: { ...hub.env, HUB_BASE_URL: hub.url }, cwd: hub.root });
        assert.equal(got.code, 0, got.all);
        return got.stdout;
      };
      await run("project", "create", "--name", "Shop");
      await run("room", "create", "--project", "shop", "--name", "Till");
      const [room] = (await run("room", "list", "--project", "shop", "--json")).trim().split("\n").map((line) => JSON.parse(line));
      await run("room", "bind", room.room_id, project);
      await run("adapter", "install", harness.id, "--scope", "global", "--yes");
      await harness.prepare(hub.root, project);
      await spoil(harness, hub.root);
    });
    after(() => hub?.close());

    // work runs one turn in print mode and returns what the model was asked.
    async function work(answer) {
      const model = await Model.start(harness.api, answer);
      try {
        const [exe, ...args] = harness.command(model.url);
        const env = { ...hub.env, ...harness.env(model.url), NO_PROXY: "127.0.0.1,localhost" };
        const run = await finish(exe, args, { env, cwd: project, within });
        assert.deepEqual(model.failures, []);
        assert.equal(run.code, 0, run.all);
        return model.requests;
      } finally {
        await model.close();
      }
    }

    // me returns the one agent that the harness session is.
    async function me() {
      const mine = (await hub.agents()).filter((id) => id.startsWith(`${harness.id}-`));
      assert.equal(mine.length, 1, `the session is ${mine}`);
      return mine[0];
    }

    // calls is a step that calls a tool of the hub.
    const calls = ({ tools }, name, input) => {
      const found = Object.keys(tools).find((shown) => shown.endsWith(name));
      // Qwen Code shows no tool of a server; its model calls them by another tool.
      if (!found && tools.tool_call) return { tool: tools.tool_call, input: { name: `mcp__hub__${name}`, arguments: input ?? {} } };
      assert.ok(found, `the model is shown ${Object.keys(tools)}`);
      return { tool: tools[found], input };
    };
    const whoami = (request) => calls(request, "hub_start");

    it("turn: a session is one agent, which knows its name", { timeout: within }, async () => {
      let agent;
      const requests = await work(async (request, n) => {
        if (n > 1) return { text: "done" };
        agent = await eventually("the agent is there", async () => (await hub.agents()).find((id) => id.startsWith(`${harness.id}-`)));
        return whoami(request);
      });
      assert.equal(requests.length, 2);
      assert.equal(count(requests[0], `You are agent ${agent} `), 1, "the session's beginning says who it is");
      assert.ok(count(requests[1], agent) > 1, "the tool answers as the same agent");
      assert.doesNotMatch(requests[0].sent, /hubcli (poll|post) --agent/, "commands would end the bridge's session");
    });

    it("turn: mail in the middle and at the end reaches the model once each", { timeout: within }, async () => {
      const requests = await work(async (request, n) => {
        if (n === 1) {
          await eventually("the agent is there", async () => (await hub.agents()).some((id) => id.startsWith(`${harness.id}-`)));
          await hub.say("MIDDLE of the turn", { to_agent: await me(), channel: undefined });
          return calls(request, "hub_post_message", { body: "I have begun." }); // its answer shows no mail
        }
        if (n === 2) await hub.say("END of the turn", { to_agent: await me(), channel: undefined });
        return { text: "done" };
      });
      assert.equal(requests.length, 3, "one request more for what came at the end, and none for what was shown");
      assert.equal(count(requests[1], "MIDDLE of the turn"), 1, "after the tools");
      assert.equal(count(requests[2], "MIDDLE of the turn"), 1);
      assert.equal(count(requests[2], "END of the turn"), 1, "before the turn ends");
    });

    it("turn: mail that the agent has read holds no turn", { timeout: within }, async () => {
      const requests = await work(async (request, n) => {
        if (n > 1) return { text: "done" };
        await eventually("the agent is there", async () => (await hub.agents()).some((id) => id.startsWith(`${harness.id}-`)));
        await hub.say("READ at once", { to_agent: await me(), channel: undefined });
        return calls(request, "hub_poll_messages", { timeout_seconds: 0 });
      });
      assert.equal(requests.length, 2);
      assert.equal(count(requests[1], "READ at once"), 1);
    });

    it("turn: an agent is gone when its session ends", { timeout: within }, async () => {
      await work(async (request, n) => (n === 1 ? whoami(request) : { text: "done" }));
      await eventually("no agent of the harness is left", async () => !(await hub.agents()).some((id) => id.startsWith(`${harness.id}-`)));
    });
  });
}

// spoil takes out of the harness's settings what a test must miss.
async function spoil({ hooks, tool }, home) {
  const mode = process.env.SPOIL;
  if (!mode) return;
  const file = join(home, ...hooks);
  const settings = JSON.parse(await readFile(file, "utf8"));
  const gone = { start: "SessionStart", middle: tool, end: "Stop" }[mode];
  assert.ok(settings.hooks[gone], `there is no way ${mode} to spoil`);
  delete settings.hooks[gone];
  await writeFile(file, JSON.stringify(settings));
}
