// An unmodified Claude Code, with what the adapter wrote, works a turn against a scripted
// model. Every assertion is about what the harness sent to its model.
//
// SPOIL takes some of what the adapter wrote out again, so that a test must fail: see
// faults.mjs.

import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { arch, platform } from "node:process";
import { after, before, describe, it } from "node:test";
import { join } from "node:path";
import { Hub, eventually, finish, here, hubcli } from "../hub.mjs";
import { Model } from "./anthropic.mjs";

const claude = join(here, "turns", "node_modules", "@anthropic-ai", `claude-code-${platform}-${arch}`, "claude");
const within = 120_000; // of a program of 400 MB on a busy machine

// count returns how often a text stands in what was sent to the model.
const count = (request, text) => JSON.stringify(request.messages).split(text).length - 1;

describe("a turn of claude-code", () => {
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
    await run("adapter", "install", "claude-code", "--scope", "global", "--yes");
    await answerFirstQuestions(hub.root, project);
    await spoil(hub.root);
  });
  after(() => hub?.close());

  // work runs one turn in print mode and returns what the model was asked.
  async function work(answer) {
    const model = await Model.start(answer);
    try {
      const env = {
        ...hub.env,
        ANTHROPIC_BASE_URL: model.url,
        ANTHROPIC_API_KEY: "made-up-key-of-a-test",
        NO_PROXY: "127.0.0.1,localhost",
        DISABLE_AUTOUPDATER: "1",
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      };
      const run = await finish(claude, ["-p", "go", "--allowedTools", "mcp__hub"], { env, cwd: project, within });
      assert.deepEqual(model.failures, []);
      assert.equal(run.code, 0, run.all);
      return model.requests;
    } finally {
      await model.close();
    }
  }

  // me returns the one agent that the harness session is.
  async function me() {
    const mine = (await hub.agents()).filter((id) => id.startsWith("claude-code-"));
    assert.equal(mine.length, 1, `the session is ${mine}`);
    return mine[0];
  }

  const whoami = ({ tools }) => {
    const tool = tools.find(({ name }) => name.endsWith("hub_whoami") || name.endsWith("hub_start"));
    assert.ok(tool, `the model is shown ${tools.map(({ name }) => name)}`);
    return { tool: tool.name };
  };

  it("turn: a session is one agent, which knows its name", { timeout: within }, async () => {
    let agent;
    const requests = await work(async (request, n) => {
      if (n > 1) return { text: "done" };
      agent = await eventually("the agent is there", async () => (await hub.agents()).find((id) => id.startsWith("claude-code-")));
      return whoami(request);
    });
    assert.equal(requests.length, 2);
    assert.equal(count(requests[0], `You are agent ${agent} `), 1, "the session's beginning says who it is");
    assert.ok(count(requests[1], agent) > 1, "the tool answers as the same agent");
    assert.doesNotMatch(JSON.stringify(requests[0].messages), /hubcli (poll|post) --agent/, "commands would end the bridge's session");
  });

  it("turn: mail in the middle and at the end reaches the model once each", { timeout: within }, async () => {
    const requests = await work(async (request, n) => {
      if (n === 1) {
        await eventually("the agent is there", async () => (await hub.agents()).some((id) => id.startsWith("claude-code-")));
        await hub.say("MIDDLE of the turn", { to_agent: await me(), channel: undefined });
        const post = request.tools.find(({ name }) => name.endsWith("hub_post_message")); // its answer shows no mail
        return { tool: post.name, input: { body: "I have begun." } };
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
      await eventually("the agent is there", async () => (await hub.agents()).some((id) => id.startsWith("claude-code-")));
      await hub.say("READ at once", { to_agent: await me(), channel: undefined });
      const poll = request.tools.find(({ name }) => name.endsWith("hub_poll_messages"));
      return { tool: poll.name, input: { timeout_seconds: 0 } };
    });
    assert.equal(requests.length, 2);
    assert.equal(count(requests[1], "READ at once"), 1);
  });

  it("turn: an agent is gone when its session ends", { timeout: within }, async () => {
    await work(async (request, n) => (n === 1 ? whoami(request) : { text: "done" }));
    await eventually("no agent of the harness is left", async () => !(await hub.agents()).some((id) => id.startsWith("claude-code-")));
  });
});

// answerFirstQuestions writes what a user answers when the harness runs first.
async function answerFirstQuestions(home, project) {
  const file = join(home, ".claude.json");
  const settings = JSON.parse(await readFile(file, "utf8"));
  settings.hasCompletedOnboarding = true;
  settings.customApiKeyResponses = { approved: ["made-up-key-of-a-test".slice(-20)], rejected: [] };
  settings.projects = { [project]: { hasTrustDialogAccepted: true } };
  await writeFile(file, JSON.stringify(settings));
}

// spoil takes out of the harness's settings what a test must miss.
async function spoil(home) {
  const mode = process.env.SPOIL;
  if (!mode) return;
  const file = join(home, ".claude", "settings.json");
  const settings = JSON.parse(await readFile(file, "utf8"));
  const gone = { start: ["SessionStart"], middle: ["PostToolBatch"], end: ["Stop"] }[mode];
  assert.ok(gone, `there is no way ${mode} to spoil`);
  for (const event of gone) delete settings.hooks[event];
  await writeFile(file, JSON.stringify(settings));
}
