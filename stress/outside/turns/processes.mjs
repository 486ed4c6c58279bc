// The bridges of a session, found among the processes of its harness and never by a name on
// the machine, and the turns by which a test gets a bridge back.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { eventually, hubcli, patience } from "../hub.mjs";

// processesOf returns the processes below a process, the nearest first.
export async function processesOf(root) {
  const { stdout } = await promisify(execFile)("ps", ["-A", "-ww", "-o", "pid=,ppid=,args="]);
  const all = stdout.split("\n").map((line) => line.trim().match(/^(\d+) +(\d+) +(.*)$/)).filter(Boolean);
  const below = new Set([`${root}`]);
  for (let before = 0; before < below.size; ) {
    before = below.size;
    for (const [, pid, parent] of all) if (below.has(parent)) below.add(pid);
  }
  const rows = new Map(all.map(([, pid, parent, args]) => [pid, { pid: Number(pid), parent: Number(parent), args }]));
  return [...below].slice(1).map((pid) => rows.get(pid)).filter(Boolean);
}

// bridgesOf returns the bridges below a process: the id of each, and of the process that has started it.
async function bridgesOf(root) {
  return (await processesOf(root)).filter(({ args }) => args.startsWith(`${hubcli} mcp`));
}

// Script answers each request of a session with a text, or, after call, so many times with a
// call of a tool whose answer shows no mail. A bridge wakes its session after the first call.
// It reads messages that are named to it without their words, once or, after call, again.
export class Script {
  calls = 0;
  read = new Set(); // ids of messages that it has tried to read
  first; // what happens once, before the next answer

  call(times = 1) {
    this.calls = times;
    this.read.clear();
  }

  next; // what is answered once, before all else

  async answer(request, harness) {
    const first = this.first;
    this.first = undefined;
    await first?.();
    const next = this.next;
    this.next = undefined;
    if (next) return next(request);
    const wanted = named(request).filter((id) => !this.read.has(id));
    // Where the model is shown no tool of the hub at first, it asks for those that it needs.
    const hidden = harness?.hides && !tool(request, "hub_poll_messages");
    if (hidden && (this.calls > 0 || wanted.length > 0)) return harness.reveal(request, ["hub_post_message", "hub_poll_messages"]);
    if (this.calls > 0) {
      this.calls--;
      return tool(request, "hub_post_message", { body: "I work on." }) ?? { text: "done" };
    }
    for (const id of wanted) this.read.add(id);
    return (wanted.length > 0 && tool(request, "hub_poll_messages", { timeout_seconds: 0 })) || { text: "done" };
  }
}

// tool is the answer that calls a tool of the hub, if the model has it.
export function tool({ tools }, name, input) {
  if (tools.tool_call) return { tool: tools.tool_call, input: { name: `mcp__hub__${name}`, arguments: input } };
  const known = Object.keys(tools).find((shown) => shown.endsWith(name));
  return known && { tool: tools[known], input };
}

// named returns the ids of messages that a request names, and of which it has no words yet.
export function named({ sent }) {
  const ids = (pattern) => Array.from(sent.matchAll(pattern), ([, id]) => id);
  const shown = new Set(ids(/#(\d+) from [\w.:-]+(?: \([^)]*\))?[,:]/g));
  return ids(/#(\d+) from [\w.:-]+ \([^)]*\)(?![,:])/g).filter((id) => !shown.has(id));
}

// turn lets a session work a turn on a text of its user.
export async function turn(session, model, text) {
  const before = model.requests.length;
  await session.say(text);
  await eventually("the model is asked", async () => model.requests.length > before);
  await eventually("the turn has ended", () => session.idle(), 3 * patience); // a call of a killed bridge may take a while
}

// killBridge kills the bridge of a session.
export async function killBridge(session) {
  const pids = (await bridgesOf(session.pid)).map(({ pid }) => pid);
  assert.ok(pids.length > 0, "there is no bridge to kill");
  for (const pid of pids) process.kill(pid, "SIGKILL");
  await eventually("the bridge is gone", async () => !(await bridgesOf(session.pid)).some(({ pid }) => pids.includes(pid)));
}

// killHarness kills the program that runs the session: the one that has started its bridge.
export async function killHarness(session) {
  const bridges = await bridgesOf(session.pid);
  assert.ok(bridges.length > 0, "there is no bridge, so its harness is not known");
  for (const pid of new Set(bridges.map(({ parent }) => parent))) process.kill(pid, "SIGKILL");
}

// reviveBridge waits for a new bridge, and for a call of its tool. Its user starts it anew
// where the harness does not do that at a call, which it then does not repeat.
export async function reviveBridge(session, model, script) {
  if (session.reconnect) {
    await session.reconnect();
    await eventually("the user has a bridge again", async () => (await bridgesOf(session.pid)).length > 0);
    await sleep(2000); // a program that is still connecting takes no text of its user
  }
  script.call(session.reconnect ? 1 : 2);
  await turn(session, model, "call");
  await eventually("the harness has a bridge again", async () => (await bridgesOf(session.pid)).length > 0);
}
