// Unmodified harnesses, with what the adapter wrote, work turns against a scripted model.
// Every assertion is about what the harness sent to its model.
//
// SPOIL takes some of what the adapter wrote out again, so that a test must fail: see
// faults.mjs.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, readdir, realpath } from "node:fs/promises";
import { after, before, describe, it } from "node:test";
import { join } from "node:path";
import { eventually, finish, hubcli } from "../hub.mjs";
import { measured, note } from "../matrix.mjs";
import { agentOf, count, environment, harnesses, settle, within } from "./harnesses.mjs";
import { Model } from "./model.mjs";
import { killHarness, named as namedIn } from "./processes.mjs";
import { spoil } from "./spoil.mjs";

for (const harness of harnesses) {
  describe(`a turn of ${harness.id}`, () => {
    let hub, project, room;
    before(async () => {
      note(harness.id, "version", harness.version);
      ({ hub, project, room } = await settle(harness));
      await spoil(harness, hub.root);
    });
    after(() => hub?.close());

    // work runs one turn in print mode and returns what the model was asked. Each step answers
    // one request.
    async function work(steps, name) {
      // Where the model is shown no tool of the hub at first, one request more is for that.
      const hidden = harness.hides && name !== "searches" ? 1 : 0;
      const ours = ["hub_start", "hub_lock", "hub_unlock", "hub_post_message", "hub_poll_messages", "hub_get_message"];
      const model = await Model.start(harness.api, async (request, n) => (n <= hidden ? harness.reveal(request, ours) : steps[n - 1 - hidden]?.(request)));
      let run;
      try {
        const [exe, ...args] = harness.command(model.url, name);
        run = await finish(exe, args, { env: environment(harness, hub, model.url), cwd: project, within });
      } finally {
        await model.close();
      }
      assert.equal(run.code, 0, run.all);
      assert.equal(model.requests.length, steps.length + hidden, "the turn ended too early");
      return model.requests.slice(hidden);
    }

    const done = () => ({ text: "done" });

    // present returns the agent that the session is, once it is there.
    const present = async () => {
      await eventually("the agent is there", async () => (await hub.agents()).some((id) => id.startsWith(`${harness.id}-`)));
      return agentOf(harness, hub);
    };
    // calls is a step that calls a tool of the hub.
    const calls = ({ tools }, name, input) => {
      const found = Object.keys(tools).find((shown) => shown.endsWith(name));
      // Qwen Code shows no tool of a server; its model calls them by another tool.
      if (!found && tools.tool_call) return { tool: tools.tool_call, input: { name: `mcp__hub__${name}`, arguments: input ?? {} } };
      assert.ok(found, `the model is shown ${Object.keys(tools)}`);
      return { tool: tools[found], input };
    };
    measured(harness.id, "turn: a session is one agent, which knows its name", ["tools seen", "session-start text", "identity", "tool calls allowed"], { timeout: within }, async (note) => {
      let agent;
      const begin = async (request) => {
        agent = await present();
        note("tools seen", harness.hides ? `none; names alone, as \`${harness.hides}hub_start\`` : seen(request));
        return calls(request, "hub_start");
      };
      const requests = await work([begin, done]);
      assert.equal(count(requests[0], `You are agent ${agent} `), harness.mute ? 0 : 1, "the session's beginning says who it is");
      note("session-start text", harness.mute ? "none: the adapter has no hook of it" : "reaches the model once");
      note("tokens", tokens(requests[0], agent));
      assert.ok(count(requests[1], agent) > 1, "the tool answers as the same agent");
      if (["copilot-cli", "cline", "droid", "kimi"].includes(harness.id)) note("connects", "yes"); // no list of theirs connects
      note("identity", harness.mute ? "its bridge is one agent; it calls no hook" : "hook and bridge are one agent");
      note("tool calls allowed", "`hub_start`");
      assert.doesNotMatch(requests[0].sent, /hubcli (poll|post) --agent/, "commands would end the bridge's session");
    });

    if (harness.find) {
      measured(harness.id, "turn: the harness's own search finds the tools", ["deferred tools"], { timeout: within }, async (note) => {
        const wanted = { "send a message": ["hub_dm", "hub_post_message"], "who am I": ["hub_whoami"], "ask my user": ["hub_ask_human"], "lock file": ["hub_lock"] };
        const queries = Object.keys(wanted).filter((query) => !harness.deaf?.includes(query));
        const searches = queries.map((query, i) => async (request) => {
          if (i === 0) await present();
          return harness.find(request, query);
        });
        const requests = await work([...searches, done], harness.writer ?? "searches");
        for (const [i, query] of queries.entries()) {
          const { sent } = requests[i + 1];
          const found = Array.from(sent.slice(sent.lastIndexOf(JSON.stringify(query))).matchAll(/"(?:tool_)?name":"(?:mcp__hub__)?(hub_\w+)"/g), ([, name]) => name);
          const shown = Object.keys(requests[i].tools).some((name) => wanted[query].some((tool) => name.endsWith(tool))); // without a search
          const loaded = harness.hides && Object.keys(requests[i + 1].tools).some((name) => wanted[query].some((tool) => name.endsWith(tool)));
          assert.ok(shown || loaded || wanted[query].includes(found[0]), `${query}: ${found}`);
        }
        note("deferred tools", `found first by its own search, or shown: ${queries.map((query) => `"${query}"`).join(", ")}`);
      });
    }

    measured(harness.id, "turn: the tools that write are allowed", ["tool calls allowed"], { timeout: within }, async (note) => {
      const file = join(await realpath(project), "mine.txt");
      const held = async () => (await hub.get("/v1/locks?active_only=true")).filter((lock) => lock.file_path === file).length;
      const lock = async (request) => {
        await present();
        return calls(request, "hub_lock", { file_path: file });
      };
      const unlock = async (request) => {
        assert.equal(await held(), 1, "hub_lock did not reach the hub");
        return calls(request, "hub_unlock", { file_path: file });
      };
      const end = async () => {
        assert.equal(await held(), 0, "hub_unlock did not reach the hub");
        return done();
      };
      await work([...(harness.reveal ? [(request) => harness.reveal(request, ["hub_lock", "hub_unlock"])] : []), lock, unlock, end]);
      note("tool calls allowed", "`hub_lock`, `hub_unlock`");
    });

    measured(harness.id, "turn: mail in the middle and at the end reaches the model once each", ["mail during a turn", "mail at the end of a turn"], { timeout: within }, async (note) => {
      let agent, last;
      const begin = async (request) => {
        agent = await present();
        await hub.say("MIDDLE of the turn", { to_agent: agent, channel: undefined });
        return calls(request, "hub_post_message", { body: "I have begun." }); // its answer shows no mail
      };
      const end = async () => {
        last = await hub.say("END of the turn", { to_agent: agent, channel: undefined });
        return done();
      };
      // Where messages are named alone, the model reads them by a tool.
      const read = (request) => {
        assert.equal(namedIn(request).length, 1, "one message is named");
        assert.equal(count(request, "of the turn"), count(request, "MIDDLE of the turn"), "no word of it is there");
        // A poll would also show what a hook has shown with its words: that is told, not read.
        return harness.names === "always" ? calls(request, "hub_poll_messages", { timeout_seconds: 0 }) : calls(request, "hub_get_message", { message_id: last.id });
      };
      if (harness.mute) {
        await work([begin, end]);
        assert.equal((await hub.get(`/v1/attention?agent_id=${agent}`)).unread, 2);
        for (const row of ["mail during a turn", "mail at the end of a turn"]) note(row, "not shown, stays unread");
        return;
      }
      if (harness.late) {
        const [, before, after, read] = await work([begin, end, (request) => calls(request, "hub_poll_messages", { timeout_seconds: 0 }), done]);
        assert.equal(namedIn(before).length, 0);
        assert.equal(namedIn(after).length, 2, "both are named");
        for (const word of ["MIDDLE", "END"]) assert.equal(count(read, `${word} of the turn`), 1);
        note("mail during a turn", "named at its end");
        note("mail at the end of a turn", "named once, with one request more; read by a tool");
        return;
      }
      // One request more is for what came at the end. There is none for what was shown.
      const named = harness.names && harness.endless !== false;
      const steps = harness.names === "always" ? [begin, read, end, read, done] : harness.endless === false ? [begin, end] : named ? [begin, end, read, done] : [begin, end, done];
      const requests = (await work(steps)).filter((_, i) => steps[i] !== read);
      assert.equal(count(requests[1], "MIDDLE of the turn"), 1, "after the tools");
      note("mail during a turn", harness.names === "always" ? "named once, with the next request; read by a tool" : "once, with the next request");
      if (harness.endless === false) {
        const { told_id: told } = await hub.get(`/v1/attention?agent_id=${agent}`);
        assert.ok(told < last.id, "what was not shown does not count as told");
        note("mail at the end of a turn", "not shown, stays unread");
        return;
      }
      assert.equal(count(requests[2], "MIDDLE of the turn"), 1);
      assert.equal(count(requests[2], "END of the turn"), 1, "before the turn ends");
      note("mail at the end of a turn", named ? "named once, with one request more; read by a tool" : "once, with one request more");
    });

    measured(harness.id, "turn: mail that the agent has read holds no turn", ["mail that was read"], { timeout: within }, async (note) => {
      const read = async (request) => {
        await hub.say("READ at once", { to_agent: await present(), channel: undefined });
        return calls(request, "hub_poll_messages", { timeout_seconds: 0 });
      };
      const requests = await work([read, done]);
      assert.equal(count(requests[1], "READ at once"), 1);
      note("mail that was read", "holds no turn");
    });

    measured(harness.id, "turn: an agent that writes a locked file is warned, or refused where the room wants it", ["edit of a locked file"], { timeout: within, skip: !harness.write }, async (note) => {
      const write = async (policy) => {
        const file = join(await realpath(project), `${policy}.txt`);
        await hub.command("room", "locks", room, policy);
        await hub.lock(file, "colleague");
        const requests = await work([(request) => harness.write(request, file, "mine"), done], harness.writer);
        return { sent: requests.at(-1).sent, left: await readFile(file, "utf8").catch(() => "") };
      };
      const warned = await write("warn");
      if (!harness.late) assert.match(warned.sent, /colleague holds the lock on .* for at most/);
      assert.equal(warned.left.trim(), "mine");
      const refused = await write("refuse");
      assert.match(refused.sent, /Your room refuses such an edit/);
      assert.equal(refused.left, "");
      note("edit of a locked file", `${harness.late ? "not warned" : "warned"}; refused where the room wants it`);
    });

    measured(harness.id, "turn: a sub-agent is an agent of its own", ["sub-agents"], { timeout: within, skip: !harness.helps }, async (note) => {
      const file = join(await realpath(project), "theirs.txt");
      const holders = async () => (await hub.get("/v1/locks?active_only=true")).filter((lock) => lock.file_path === file).map((lock) => lock.agent_id);
      let agent, helper;
      const begin = async (request) => {
        agent = await present();
        await hub.say("MAIL for the main agent", { to_agent: agent, channel: undefined });
        return harness.helps(request, "HELP with it");
      };
      const lock = async (request) => {
        assert.match(request.sent, /HELP with it/);
        assert.equal(count(request, `You are a sub-agent of ${agent}`), 1);
        return calls(request, "hub_lock", { file_path: file });
      };
      const tell = async (request) => {
        [helper] = await holders();
        assert.match(helper, new RegExp(`^${agent}:`), "the lock is the sub-agent's");
        assert.equal(count(request, "MAIL for the main agent"), 0, "it is not given its main agent's mail");
        return { text: "I have helped." };
      };
      const end = async (request) => {
        assert.match(request.sent, /I have helped/);
        assert.equal(count(request, "MAIL for the main agent"), 1, "the main agent gets its mail");
        assert.deepEqual(await holders(), [], "its locks end with it");
        assert.ok(!(await hub.agents()).includes(helper), "it is gone");
        return done();
      };
      await work([begin, lock, tell, end]);
      note("sub-agents", "agents of their own, told so when they begin; their locks end with them");
    });

    measured(harness.id, "turn: the room is told that the model failed", ["error of the model"], { timeout: within, skip: !harness.fails }, async (note) => {
      const model = await Model.start(harness.api, async () => ({ fails: true }));
      const [exe, ...args] = harness.command(model.url);
      await finish(exe, args, { env: environment(harness, hub, model.url), cwd: project, within });
      await model.close();
      const told = async () => (await hub.get(`/v1/messages?channel=room-${room}&limit=100`)).filter(({ from_agent: from, body }) => from === "system" && body.includes("is stuck: its model failed"));
      const notices = await eventually("the room is told", async () => ((found) => found.length && found)(await told()));
      assert.equal(notices.length, 1, "the room is told once");
      note("error of the model", "told to the room, once");
    });

    // Of the others ends.test.mjs tells.
    measured(harness.id, "turn: a killed harness is gone soon", ["harness killed"], { timeout: within, skip: Boolean(harness.stays) }, async (note) => {
      let agent, killed, child;
      const model = await Model.start(harness.api, async () => {
        agent = await present();
        await killHarness(child);
        killed = performance.now();
        return done();
      });
      const [exe, ...args] = harness.command(model.url);
      child = spawn(exe, args, { env: environment(harness, hub, model.url), cwd: project, stdio: "ignore" });
      await once(child, "close");
      await eventually("the agent is gone", async () => !(await hub.agents()).includes(agent));
      const took = performance.now() - killed;
      await model.close();
      assert.ok(took <= 5000, `it was gone after ${Math.round(took)} ms`);
      note("harness killed", `the agent is gone within ${Math.max(1, Math.ceil(took / 1000))} s`);
    });

    measured(harness.id, "turn: an agent is gone when its session ends", ["end of session"], { timeout: within }, async (note) => {
      await work([(request) => calls(request, "hub_start"), done]);
      await eventually("no agent of the harness is left", async () => !(await hub.agents()).some((id) => id.startsWith(`${harness.id}-`)));
      note("end of session", "the agent is gone at once");
    });

    // The harness has worked many turns with these files by now, and has written what it writes.
    it("turn: after its sessions the adapter is whole, and can be repaired and taken out", { timeout: within }, async () => {
      const states = async () => JSON.parse(await hub.command("adapter", "status", harness.id, "--json"));
      assert.doesNotMatch(JSON.stringify(await states()), /"state":"(drifted|conflict|unreadable)"|"outdated":true/);
      await hub.command("adapter", "repair", harness.id, "--yes");
      await hub.command("adapter", "uninstall", harness.id, "--yes");
      const left = [];
      for (const entry of await readdir(hub.root, { recursive: true, withFileTypes: true })) {
        const path = join(entry.parentPath, entry.name);
        const own = [join(hub.root, "data"), join(hub.root, "project"), join(hub.root, ".cache")].some((folder) => path.startsWith(folder));
        if (own || !entry.isFile() || !/(settings|config|hooks|hubcli|plugin|extension|servers|claude|opencode)[^/]*\.(json|toml|js)$/.test(path) || path.includes("node_modules")) continue;
        if ((await readFile(path, "utf8")).includes(hubcli)) left.push(path);
      }
      assert.deepEqual(left, []);
    });
  });
}

// tokens says how many tokens of a request are the hub's, at four bytes to one: what the API is told of its
// tools, and the text at the session's beginning.
function tokens({ schemas, sent }, agent) {
  const size = (text) => `${Math.round(Buffer.byteLength(text) / 4)}`;
  const ours = Object.entries(schemas).filter(([name]) => /hub_\w+$/.test(name)).map(([, schema]) => JSON.stringify(schema)).join("");
  const [start] = sent.match(new RegExp(`You are agent ${agent} .*?To wait for others[^"\\\\]*`, "s")) ?? [""];
  return `tools ${size(ours)}, session start ${size(start.replaceAll("\\n", "\n"))}`;
}

// seen says which tools of the hub the model is shown.
function seen({ tools }) {
  const ours = Object.keys(tools).filter((name) => /hub_\w+$/.test(name));
  if (ours.length === 0) return tools.tool_call ? "none; called by `tool_call`" : "none";
  return `${ours.length} at once, as \`${[tools[ours[0]]].flat().map((tool) => (tool.namespace ? `${tool.namespace}: ${tool.name}` : tool))[0]}\``;
}
