// Unmodified harnesses, with what the adapter wrote, work turns against a scripted model.
// Every assertion is about what the harness sent to its model.
//
// SPOIL takes some of what the adapter wrote out again, so that a test must fail: see
// faults.mjs.

import assert from "node:assert/strict";
import { readFile, realpath, writeFile } from "node:fs/promises";
import { after, before, describe, it } from "node:test";
import { join } from "node:path";
import { eventually, finish } from "../hub.mjs";
import { agentOf, count, environment, harnesses, settle, within } from "./harnesses.mjs";
import { Model } from "./model.mjs";

for (const harness of harnesses) {
  describe(`a turn of ${harness.id}`, () => {
    let hub, project, room;
    before(async () => {
      ({ hub, project, room } = await settle(harness));
      await spoil(harness, hub.root);
    });
    after(() => hub?.close());

    // work runs one turn in print mode and returns what the model was asked.
    async function work(answer, name) {
      const model = await Model.start(harness.api, answer);
      try {
        const [exe, ...args] = harness.command(model.url, name);
        const run = await finish(exe, args, { env: environment(harness, hub, model.url), cwd: project, within });
        assert.deepEqual(model.failures, []);
        assert.equal(run.code, 0, run.all);
        return model.requests;
      } finally {
        await model.close();
      }
    }

    const me = () => agentOf(harness, hub);

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
      let agent, last;
      const requests = await work(async (request, n) => {
        if (n === 1) {
          await eventually("the agent is there", async () => (await hub.agents()).some((id) => id.startsWith(`${harness.id}-`)));
          agent = await me();
          await hub.say("MIDDLE of the turn", { to_agent: agent, channel: undefined });
          return calls(request, "hub_post_message", { body: "I have begun." }); // its answer shows no mail
        }
        if (n === 2) last = await hub.say("END of the turn", { to_agent: agent, channel: undefined });
        return { text: "done" };
      });
      assert.equal(count(requests[1], "MIDDLE of the turn"), 1, "after the tools");
      if (harness.endless === false) {
        assert.equal(requests.length, 2);
        const { told_id: told } = await hub.get(`/v1/attention?agent_id=${agent}`);
        assert.ok(told < last.id, "what was not shown does not count as told");
        return;
      }
      assert.equal(requests.length, 3, "one request more for what came at the end, and none for what was shown");
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

    it("turn: an agent that writes a locked file is warned, or refused where the room wants it", { timeout: within, skip: !harness.write }, async () => {
      const write = async (policy) => {
        const file = join(await realpath(project), `${policy}.txt`);
        await hub.put(`/v1/rooms/${room}/locks`, { locks: policy });
        await hub.lock(file, "colleague");
        const requests = await work(async (request, n) => (n > 1 ? { text: "done" } : harness.write(request, file, "mine")), harness.writer);
        return { sent: requests.at(-1).sent, left: await readFile(file, "utf8").catch(() => "") };
      };
      const warned = await write("warn");
      assert.match(warned.sent, /colleague holds the lock on .* for at most/);
      assert.equal(warned.left.trim(), "mine");
      const refused = await write("refuse");
      assert.match(refused.sent, /Your room refuses such an edit/);
      assert.equal(refused.left, "");
    });

    it("turn: an agent is gone when its session ends", { timeout: within }, async () => {
      await work(async (request, n) => (n === 1 ? whoami(request) : { text: "done" }));
      await eventually("no agent of the harness is left", async () => !(await hub.agents()).some((id) => id.startsWith(`${harness.id}-`)));
    });
  });
}

// spoil takes out of the harness's settings what a test must miss.
async function spoil({ hooks, tool, end = "Stop", edit = "PreToolUse" }, home) {
  const mode = process.env.SPOIL;
  if (!mode) return;
  const file = join(home, ...hooks);
  const settings = JSON.parse(await readFile(file, "utf8"));
  const gone = { start: "SessionStart", middle: tool, end, edit }[mode];
  assert.ok(settings.hooks[gone], `there is no way ${mode} to spoil`);
  delete settings.hooks[gone];
  await writeFile(file, JSON.stringify(settings));
}
