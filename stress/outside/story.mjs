// What every client must find at a bridge, whichever SDK and protocol it speaks.
//
// open(how) starts a bridge by how, as StdioClientTransport takes it, and returns
// the client: list() → tools, call(name, args, options) → result, close(),
// errors, the failures that the client noticed by itself, and protocol. Options
// are those of the SDKs: signal, timeout, onprogress, resetTimeoutOnProgress.

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Hub, eventually, patience, spoiled } from "./hub.mjs";

// live are the tools that the progressive surface shows.
const live = [
  "hub_call_tool",
  "hub_describe_tool",
  "hub_poll_messages",
  "hub_post_message",
  "hub_search_tools",
];

export function behaves(label, open, protocol) {
  describe(label, () => {
    let hub;
    const clients = [];
    before(async () => {
      hub = await Hub.start();
    });
    after(async () => {
      for (const client of clients) await client.close();
      await hub?.close();
    });
    // connect opens a client that ends with the tests, if not before.
    async function connect(agent, { args = ["--full-tools"], how = (bridge) => bridge } = {}) {
      const client = await open(how(hub.bridge(agent, ...args)));
      clients.push(client);
      return client;
    }
    // test names a test so that it is told from that of another client.
    const test = (name, run) => it(`${label}: ${name}`, { timeout: 90_000 }, run);

    test("connects and lists", async () => {
      const full = await connect("lister");
      assert.equal(full.protocol(), protocol);
      const all = (await full.list()).map((tool) => tool.name);
      assert.deepEqual(all, all.toSorted(), "the order is that of the names");
      for (const name of all) assert.match(name, /^hub_[a-z_]{1,36}$/);
      const few = await connect("lister-2", { args: ["--progressive-tools"] });
      assert.deepEqual((await few.list()).map((tool) => tool.name), live);
      for (const name of live) assert.ok(all.includes(name), `${name} is among all tools`);
      for (const tool of await full.list()) {
        assert.ok(tool.title && tool.description, `${tool.name} is described`);
        const { openWorldHint, destructiveHint } = tool.annotations;
        assert.equal(openWorldHint, false, `${tool.name}.openWorldHint`);
        assert.equal(destructiveHint, false, `${tool.name}.destructiveHint`);
      }
      assert.deepEqual(full.errors.concat(few.errors), []);
    });

    test("answers with structured content and a line", async () => {
      const client = await connect("speaker");
      const posted = await client.call("hub_post_message", { body: "hello", channel: "general" });
      const line = posted.content.map((part) => part.text).join("\n");
      assert.ok(!posted.isError, line);
      const { id, next } = posted.structuredContent;
      assert.match(line, new RegExp(`#${id}\\b`));
      assert.ok(line.startsWith(next), "the line says what to do next");
      const { body, from_agent, assurance } = await hub.get(`/v1/messages/${id}`);
      assert.deepEqual({ body, from_agent, assurance }, { body: "hello", from_agent: "speaker", assurance: "session" });
    });

    test("has tools for all that agents do together", async () => {
      const client = await connect("worker");
      const named = new Set((await client.list()).map((tool) => tool.name));
      // use calls a tool and returns its structured content, which the SDK has
      // checked if the tool has a schema for it.
      const use = async (name, args = {}) => {
        const result = await client.call(name, args);
        assert.ok(!result.isError, `${name}: ${result.content[0].text}`);
        assert.equal(typeof result.structuredContent.next, "string", `${name} says what to do next`);
        named.delete(name);
        return result.structuredContent;
      };
      await everything(use, label);
      for (const name of ["hub_poll_messages", "hub_rpc_call", "hub_spawn"]) named.delete(name); // they need another agent
      assert.deepEqual([...named], [], "no tool is left out");
    });

    test("refuses an unknown tool, and arguments that do not fit", async () => {
      const client = await connect("wrong");
      await assert.rejects(client.call("hub_no_such_tool", {}), (error) => error.code === -32602);
      for (const args of [{}, { body: 42 }, { body: "x", kind: "no-kind" }, { body: "x", channel: "no-channel" }]) {
        const refused = await client.call("hub_post_message", args);
        assert.equal(refused.isError, true, JSON.stringify(args));
        assert.match(refused.content[0].text, /hub_|channel|kind/, "it says what to do");
      }
      assert.ok(!(await client.call("hub_post_message", { body: "still here" })).isError);
    });

    test("wakes a waiting poll", async () => {
      const client = await connect("waiter");
      const { latest_id: since_id } = (await client.call("hub_whoami", { verbose: true })).structuredContent;
      const waiting = client.call("hub_poll_messages", { since_id, timeout_seconds: 20, verbose: true });
      await eventually("the poll is parked", async () => (await hub.parked()) === 1);
      const { id } = await hub.say("wake up");
      const { structuredContent } = await waiting;
      assert.deepEqual(structuredContent.messages.map((message) => message.id), [id]);
    });

    test("sends progress while it waits, which keeps the call alive", async () => {
      const client = await connect("patient");
      const { latest_id: since_id } = (await client.call("hub_whoami", { verbose: true })).structuredContent;
      const seen = [];
      const waiting = client.call(
        "hub_poll_messages",
        { since_id, timeout_seconds: 40, verbose: true },
        { timeout: 12_000, resetTimeoutOnProgress: true, onprogress: (progress) => seen.push(progress.progress) },
      );
      await eventually("progress was told", () => seen.length === 1, 12_000);
      await hub.say("enough");
      assert.equal((await waiting).structuredContent.messages.length, 1);
      assert.deepEqual(seen, seen.toSorted((a, b) => a - b), "progress rises");
    });

    test("frees the hub of what is cancelled or takes too long", async () => {
      const client = await connect("hasty");
      const { latest_id: since_id } = (await client.call("hub_whoami", { verbose: true })).structuredContent;
      const poll = (options) => client.call("hub_poll_messages", { since_id, timeout_seconds: 40, verbose: true }, options);
      const stop = new AbortController();
      const cancelled = poll({ signal: stop.signal });
      await eventually("the poll is parked", async () => (await hub.parked()) === 1);
      stop.abort();
      await assert.rejects(cancelled);
      await eventually("the hub is rid of it", async () => (await hub.parked()) === 0, 5_000);
      await assert.rejects(poll({ timeout: 300 }), (error) => [-32001, "REQUEST_TIMEOUT"].includes(error.code));
      await eventually("the hub is rid of it too", async () => (await hub.parked()) === 0, 5_000);
      assert.ok(!(await client.call("hub_post_message", { body: "still here" })).isError);
    });

    test("survives every malformed frame", async () => {
      const client = await connect("noisy", { how: (bridge) => spoiled(bridge, "noise") });
      for (let i = 0; i < 5; i++) {
        assert.ok(!(await client.call("hub_post_message", { body: `through the noise ${i}` })).isError);
      }
      assert.equal((await client.call("hub_whoami", {})).structuredContent.agent_id, "noisy");
    });

    test("lets two clients at once speak with each other", async () => {
      const [ping, pong] = await Promise.all([connect("ping"), connect("pong")]);
      const rounds = 20;
      const heard = { ping: [], pong: [] };
      // serve answers every ball until the last.
      const serve = async (client, me, other) => {
        let since_id = 0;
        while (heard[me].length < rounds) {
          const { structuredContent } = await client.call("hub_poll_messages", { since_id, timeout_seconds: 20, verbose: true });
          since_id = structuredContent.cursor;
          for (const { from, to, body } of structuredContent.messages) {
            if (from !== other || to !== me) continue;
            heard[me].push(unfenced(body));
            if (me === "ping") await progress(client, heard[me].length); // or the hub takes them for a loop
            if (me === "pong" || heard[me].length < rounds) {
              const next = me === "pong" ? unfenced(body) : `ball ${heard[me].length}`;
              await client.call("hub_dm", { to_agent: other, body: next });
            }
          }
        }
      };
      const match = Promise.all([serve(ping, "ping", "pong"), serve(pong, "pong", "ping")]);
      await ping.call("hub_dm", { to_agent: "pong", body: "ball 0" });
      await match;
      const balls = Array.from({ length: rounds }, (_, i) => `ball ${i}`);
      assert.deepEqual(heard, { ping: balls, pong: balls });
    });

    for (const signal of ["SIGTERM", "SIGKILL"]) {
      test(`goes on as who it was when the hub restarts by ${signal}`, async () => {
        const client = await connect(`survivor-${signal}`);
        const before = await client.call("hub_post_message", { body: "before" });
        await hub.restart(signal);
        const after = await client.call("hub_post_message", { body: "after" });
        assert.ok(!after.isError, after.content[0].text);
        assert.ok(after.structuredContent.id > before.structuredContent.id);
        const rows = await hub.get("/v1/messages?channel=general&tail=1&limit=50");
        const mine = rows.filter((row) => row.from_agent === `survivor-${signal}`).map((row) => row.body);
        assert.deepEqual(mine, ["before", "after"], "neither lost nor twice");
      });
    }

    test("leaves when its client closes it", async () => {
      const client = await connect("leaver");
      await client.call("hub_post_message", { body: "I am here" });
      assert.ok((await hub.agents()).includes("leaver"));
      const pid = client.pid();
      const begin = performance.now();
      await client.close();
      await eventually("its process has ended", () => !alive(pid), 2_000);
      assert.ok(performance.now() - begin < 2_000);
      await eventually("it is no agent any more", async () => !(await hub.agents()).includes("leaver"), patience);
    });
  });
}

// unfenced returns the words of a peer, which stand in lines that begin with |
// between two marks.
function unfenced(text) {
  return text.split("\n").slice(1, -1).map((line) => line.slice(2)).join("\n");
}

// progress has an agent show that it gets on: it takes a claim and gives it back.
async function progress(client, round) {
  for (const tool of ["hub_claim", "hub_release"]) {
    assert.ok(!(await client.call(tool, { claim_key: `round-${round}` })).isError);
  }
}

// everything uses each tool that an agent can use alone.
async function everything(use, label) {
  const { agent_id } = await use("hub_whoami");
  assert.equal(agent_id, "worker");
  await use("hub_start");
  await use("hub_list_agents");
  const channel = `barn-${label.replaceAll(/\W/g, "")}`.toLowerCase();
  await use("hub_create_channel", { name: channel });
  const { id } = await use("hub_post_message", { channel, body: "fetch the needle", kind: "task", thread_id: "hay" });
  const read = await use("hub_get_message", { message_id: id });
  assert.match(JSON.stringify(read), /fetch the needle/);
  assert.match(JSON.stringify(await use("hub_get_thread", { thread_id: "hay" })), /fetch the needle/);
  await use("hub_dm", { to_agent: "worker", body: "note to myself" });

  await use("hub_claim", { claim_key: "needle", task_id: id });
  await use("hub_refresh_claim", { claim_key: "needle", ttl_sec: 60 });
  await use("hub_release", { claim_key: "needle" });
  await use("hub_lock", { file_path: "hay/stack.txt" });
  await use("hub_unlock", { file_path: "hay/stack.txt" });
  await use("hub_update_task", { task_id: id, status: "in_progress" });
  assert.match(JSON.stringify(await use("hub_list_tasks", { status: "active" })), new RegExp(`${id}`));
  await use("hub_complete_task", { task_id: id, note: "found it" });
  const { id: second } = await use("hub_post_message", { channel, body: "fetch the thread", kind: "task" });
  const taken = await use("hub_take", { task_id: second, files: ["hay/stack.txt"] });
  assert.equal(taken.taken, true);
  assert.match((await use("hub_done", { task_id: second, note: "here" })).next, /released/);

  await use("hub_create_project", { name: `Barn ${label}`, slug: channel });
  const { room_id } = await use("hub_create_room", { project: channel, name: "Hayloft" });
  await use("hub_list_rooms");
  const { tasks } = await use("hub_plan", { room_id, title: "hay", tasks: [{ title: "mow" }, { title: "bale", after: ["1"] }] });
  assert.ok(tasks["2"] > tasks["1"]);
  const { code } = await use("hub_create_invite", { room_id });
  await use("hub_join", { code });
  await use("hub_room_status", { room_id });
  await use("hub_record_decision", { room_id, title: "Look at the bottom first" });
  assert.match(JSON.stringify(await use("hub_list_decisions", { room_id })), /bottom first/);
  await use("hub_add_artifact", { room_id, title: "map", kind: "text", body: "x marks the needle" });
  assert.match(JSON.stringify(await use("hub_get_artifact", { room_id, title: "map" })), /x marks the needle/);
  await use("hub_remember", { room_id, text: "needles shine", key: "shine" });
  assert.match(JSON.stringify(await use("hub_recall", { room_id })), /needles shine/);
  await use("hub_forget", { room_id, key: "shine" });
  assert.match(JSON.stringify(await use("hub_search", { query: "needle" })), /needle/);
  await use("hub_ask_human", { question: "Which barn?", options: ["red", "blue"], default: "red", deadline_sec: 60 });
  await use("hub_watch", { room_id, until: [`tasks-complete:${id}`] });

  assert.match(JSON.stringify(await use("hub_search_tools", { query: "lock a file" })), /hub_lock/);
  await use("hub_describe_tool", { name: "hub_lock" });
  await use("hub_call_tool", { name: "hub_whoami", arguments: {} });
}

// alive reports whether a process is there.
function alive(pid) {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
