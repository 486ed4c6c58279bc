// A real hub for a file of tests, on a store, a port and a home of its own, and
// the ways in which other people's programs reach it: by a bridge that they start.
//
// HUBCLI names the executable. Nothing outside of a temporary folder is touched,
// and a hub ends with the process that started it, however that ends.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const hubcli = process.env.HUBCLI;
assert.ok(hubcli, "HUBCLI must name the executable; go run ./internal/check outside sets it");

// here is the folder of the tests; node_modules lies beside them.
export const here = dirname(fileURLToPath(import.meta.url));

// patience bounds, in ms, what is waited for and should be there at once.
export const patience = 20_000;

// eventually calls probe until it returns something true, and returns that.
export async function eventually(what, probe, within = patience) {
  const end = Date.now() + within;
  for (;;) {
    const found = await probe();
    if (found) return found;
    assert.ok(Date.now() < end, `not within ${within} ms: ${what}`);
    await new Promise((wake) => setTimeout(wake, 10));
  }
}

export class Hub {
  // make prepares a hub that does not run yet.
  static async make() {
    const hub = new Hub();
    hub.root = await mkdtemp(join(tmpdir(), "hubcli-outside-"));
    hub.port = await hub.freePort();
    hub.url = `http://127.0.0.1:${hub.port}`;
    // A harness passes little of its environment on; the bridge gets no more.
    hub.env = {
      PATH: process.env.PATH,
      HOME: hub.root,
      XDG_CONFIG_HOME: join(hub.root, ".config"),
      HUB_DATA_ROOT: join(hub.root, "data"),
      NO_COLOR: "1",
    };
    return hub;
  }

  // freePort returns a port of loopback that was free a moment ago.
  async freePort() {
    const probe = createServer();
    probe.listen(0, "127.0.0.1");
    await once(probe, "listening");
    const { port } = probe.address();
    probe.close();
    await once(probe, "close");
    return port;
  }

  static async start() {
    const hub = await Hub.make();
    await hub.run();
    return hub;
  }

  // run starts the hub on its port and its store, which may have been used before.
  async run() {
    const args = ["--host", "127.0.0.1", "--port", `${this.port}`, "--storage", join(this.root, "data", "app.db")];
    args.push("--quiet", "--stop-with-stdin");
    this.process = spawn(hubcli, args, { cwd: this.root, env: this.env, stdio: ["pipe", "ignore", "inherit"] });
    this.process.stdin.on("error", () => {}); // of a hub that was killed
    await eventually("the hub is ready", async () => {
      assert.equal(this.process.exitCode, null, "the hub ended");
      return (await fetch(`${this.url}/readyz`).catch(() => null))?.ok;
    });
  }

  // end ends the hub by a signal and waits for its end.
  async end(signal = "SIGTERM") {
    if (this.process?.exitCode === null && this.process.signalCode === null) {
      const ended = once(this.process, "exit");
      this.process.kill(signal);
      await ended;
    }
  }

  async restart(signal) {
    await this.end(signal);
    await this.run();
  }

  // close ends the hub and removes its folder.
  async close() {
    await this.end();
    await rm(this.root, { recursive: true, force: true, maxRetries: 5 });
  }

  // get returns the result of a read of the hub's HTTP surface.
  async get(path) {
    const answer = await (await fetch(this.url + path)).json();
    assert.ok(answer.ok, `GET ${path}: ${JSON.stringify(answer)}`);
    return answer.result;
  }

  // say posts as an agent that has nothing to do with a bridge.
  async say(body, fields = {}) {
    const headers = { "Content-Type": "application/json" };
    const message = JSON.stringify({ from_agent: "outsider", channel: "general", body, ...fields });
    const answer = await (await fetch(`${this.url}/v1/messages`, { method: "POST", headers, body: message })).json();
    assert.ok(answer.ok, JSON.stringify(answer));
    return answer.result;
  }

  // post makes something, and returns it.
  async post(path, body) {
    const headers = { "Content-Type": "application/json" };
    const answer = await (await fetch(this.url + path, { method: "POST", headers, body: JSON.stringify(body) })).json();
    assert.ok(answer.ok, JSON.stringify(answer));
    return answer.result;
  }

  // command runs hubcli as the person whose hub it is, and returns what it printed.
  async command(...args) {
    const got = await finish(hubcli, args, { env: { ...this.env, HUB_BASE_URL: this.url }, cwd: this.root });
    assert.equal(got.code, 0, got.all);
    return got.stdout;
  }

  // lock takes the lock on a file for an agent that works elsewhere.
  async lock(file, agent) {
    const headers = { "Content-Type": "application/json" };
    const answer = await (await fetch(`${this.url}/v1/locks`, { method: "POST", headers, body: JSON.stringify({ file_path: file, agent_id: agent }) })).json();
    assert.ok(answer.ok, JSON.stringify(answer));
  }

  // agents returns the ids of the agents that are there.
  async agents() {
    return (await this.get("/v1/agents")).map((session) => session.agent_id);
  }

  // parked returns how many polls wait at the hub.
  async parked() {
    return (await this.get("/v1/app/status")).counts.parked_polls;
  }

  // bridge tells a client how to start a bridge to this hub, as agent.
  bridge(agent, ...args) {
    args = ["mcp", "--agent", agent, "--base-url", this.url, "--no-ensure", ...args];
    return spoiled({ command: hubcli, args, env: this.env, cwd: this.root, stderr: "pipe" }, process.env.SPOIL);
  }
}

// spoiled puts between.mjs before a bridge, if there is a mode of it to put there.
export function spoiled(bridge, mode) {
  if (!mode) return bridge;
  const args = [join(here, "between.mjs"), mode, bridge.command, ...bridge.args];
  return { ...bridge, command: process.execPath, args };
}

// program runs one of the installed programs to its end and returns its exit
// code and what it wrote.
export async function program(script, args, { env = {}, cwd, within = 60_000 } = {}) {
  return finish(process.execPath, [join(here, "node_modules", script), ...args], { env, cwd, within });
}

// finish runs a command to its end.
export async function finish(command, args, { env = {}, cwd, within = 60_000 } = {}) {
  const path = `${dirname(process.execPath)}:${process.env.PATH}`; // scripts find the same Node.js
  const options = { cwd, env: { PATH: path, NO_COLOR: "1", ...env }, stdio: ["ignore", "pipe", "pipe"] };
  const child = spawn(command, args, { ...options, timeout: within, killSignal: "SIGKILL" });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (text) => (stdout += text));
  child.stderr.on("data", (text) => (stderr += text));
  const [code, signal] = await once(child, "close");
  return { code, signal, stdout, stderr, all: `${stdout}\n${stderr}` };
}
