// Sessions of harnesses that stay when their turn has ended, without a human. Each function
// opens one: go gives it a text as its user, idle says whether its turn has ended, and close
// ends all that was started.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { eventually, finish, here } from "../hub.mjs";

// opencode serves its sessions over HTTP.
export async function opencode({ hub, project, env, command, within }) {
  const port = await hub.freePort();
  const server = spawn(command[0], ["serve", "--hostname", "127.0.0.1", "--port", `${port}`], { env, cwd: project, stdio: "ignore" });
  const base = `http://127.0.0.1:${port}`;
  const call = async (path, body) => {
    const answer = await fetch(base + path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
    assert.ok(answer.ok, `${path}: ${answer.status} ${answer.ok ? "" : await answer.text()}`);
    return answer.status === 204 ? undefined : answer.json();
  };
  await eventually("the harness serves", async () => (await fetch(`${base}/session`, { signal: AbortSignal.timeout(2000) }).catch(() => null))?.ok, within);
  const session = await call("/session", {});
  return {
    go: (text) => call(`/session/${session.id}/message`, { parts: [{ type: "text", text }] }),
    async idle() {
      const states = await (await fetch(`${base}/session/status`)).json();
      return (states[session.id]?.type ?? "idle") === "idle";
    },
    async close() {
      if (server.exitCode !== null) return;
      server.kill();
      await once(server, "close");
    },
  };
}

// codex runs the sessions of terminals in a daemon. A client of its socket does what a
// terminal does: it trusts the hooks, begins a thread, and follows its turns.
export async function codex({ hub, project, env, command, model, modules, within }) {
  const file = join(hub.root, ".codex", "config.toml");
  const settings = await readFile(file, "utf8");
  await writeFile(file, `model = "stand-in"\nmodel_provider = "local"\napproval_policy = "never"\ncheck_for_update_on_startup = false\n${settings}`);
  await appendFile(file, [
    "\n[analytics]", "enabled = false",
    "[model_providers.local]", 'name = "local"', `base_url = "${model.url}/v1"`, 'wire_api = "responses"', 'env_key = "OPENAI_API_KEY"', "request_max_retries = 0",
    `[projects.${JSON.stringify(project)}]`, 'trust_level = "trusted"', "",
  ].join("\n"));
  const daemon = async (verb) => {
    const [exe, ...args] = command;
    const got = await finish(exe, [...args, "app-server", "daemon", verb], { env, cwd: project });
    assert.equal(got.code, 0, got.all);
    return got.stdout;
  };
  const { socketPath } = JSON.parse(await daemon("start"));
  const { default: WebSocket } = await import(join(modules, "ws", "wrapper.mjs"));
  const socket = new WebSocket(`ws+unix://${socketPath}:/`);
  const answers = new Map();
  let calls = 0;
  let working = false;
  socket.on("message", (text) => {
    const { id, method, result, error } = JSON.parse(text);
    if (answers.has(id)) answers.get(id)(error ?? result);
    if (method === "turn/started") working = true;
    if (method === "turn/completed") working = false;
  });
  await once(socket, "open");
  const call = (method, params) => new Promise((resolve) => {
    answers.set(++calls, resolve);
    socket.send(JSON.stringify({ id: calls, method, params }));
  });
  await call("initialize", { clientInfo: { name: "outside-turns", title: "outside-turns", version: "1" }, capabilities: { experimentalApi: true } });
  socket.send(JSON.stringify({ method: "initialized" }));
  const { data } = await call("hooks/list", { cwds: [project] });
  const trusted = Object.fromEntries(data.flatMap(({ hooks }) => hooks).map(({ key, currentHash }) => [key, { trusted_hash: currentHash }]));
  assert.ok(Object.keys(trusted).length > 0, "the harness has no hooks");
  await call("config/batchWrite", { edits: [{ keyPath: "hooks.state", value: trusted, mergeStrategy: "upsert" }], reloadUserConfig: true });
  const { thread } = await call("thread/start", { cwd: project });
  return {
    async go(text) {
      working = true;
      await call("turn/start", { threadId: thread.id, input: [{ type: "text", text }] });
      await eventually("the turn ends", async () => !working, within);
    },
    idle: async () => !working,
    async close() {
      socket.terminate();
      await daemon("stop");
      // What would update the daemon runs on.
      const updater = await readFile(join(hub.root, ".codex", "app-server-daemon", "daemon-updater.pid"), "utf8").catch(() => "{}");
      const { pid } = JSON.parse(updater);
      if (pid) process.kill(pid);
    },
  };
}

// claude runs in a terminal, with the plugin whose monitor wakes it.
export async function claude({ hub, project, env, command, within }) {
  const [exe, ...args] = command;
  const terminal = spawn("python3", [join(here, "turns", "terminal.py"), exe, ...args], {
    env: { ...env, TERM: "xterm-256color" }, cwd: project, stdio: ["pipe", "pipe", "inherit"],
  });
  let drawn = "";
  terminal.stdout.on("data", (chunk) => { drawn += chunk; });
  const turn = async () => {
    const agents = (await hub.agents()).filter((id) => id.startsWith("claude-code-") && !id.endsWith(".watch"));
    return agents.length === 0 ? "" : (await hub.get(`/v1/attention?agent_id=${agents[0]}`)).turn;
  };
  await eventually("the terminal is ready", async () => drawn.includes("\u276f"), within); // its prompt
  return {
    async go(text) {
      terminal.stdin.write(text);
      await sleep(500); // a line that comes with its end is taken for pasted text
      terminal.stdin.write("\r");
      await eventually("the turn ends", async () => (await turn()) === "idle", within);
    },
    idle: async () => (await turn()) === "idle",
    async close() {
      if (terminal.exitCode !== null) return;
      terminal.stdin.end();
      await once(terminal, "close");
    },
  };
}
