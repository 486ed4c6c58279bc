// Sessions of harnesses that stay when their turn has ended, without a human. Each function
// opens one: go gives it a text as its user, idle says whether its turn has ended, and close
// ends all that was started.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFile, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { eventually, finish, here, hubcli } from "../hub.mjs";

// askingOpencode has opencode ask its user before it changes a file.
export async function askingOpencode(home) {
  const file = join(home, ".config", "opencode", "opencode.json");
  const settings = JSON.parse(await readFile(file, "utf8"));
  settings.permission = { edit: "ask" };
  await writeFile(file, JSON.stringify(settings));
}

// opencode serves its sessions over HTTP.
export async function opencode({ hub, project, env, command, within, asking, continues }) {
  if (asking) await askingOpencode(hub.root);
  const port = await hub.freePort();
  const server = spawn(command[0], ["serve", "--hostname", "127.0.0.1", "--port", `${port}`], { env, cwd: project, stdio: "ignore" });
  const base = `http://127.0.0.1:${port}`;
  const call = async (path, body) => {
    const answer = await fetch(base + path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
    assert.ok(answer.ok, `${path}: ${answer.status} ${answer.ok ? "" : await answer.text()}`);
    return answer.status === 204 ? undefined : answer.json();
  };
  await eventually("the harness serves", async () => (await fetch(`${base}/session`, { signal: AbortSignal.timeout(2000) }).catch(() => null))?.ok, within);
  const session = continues ? { id: continues } : await call("/session", {});
  const go = (text) => call(`/session/${session.id}/message`, { parts: [{ type: "text", text }] });
  return {
    pid: server.pid,
    id: session.id,
    compact: () => call(`/session/${session.id}/summarize`, { providerID: "local", modelID: "stand-in" }),
    reconnect: () => call("/mcp/hub/connect", {}),
    go,
    say: (text) => call(`/session/${session.id}/prompt_async`, { parts: [{ type: "text", text }] }),
    async grant() {
      for (const { id } of await (await fetch(`${base}/permission`)).json()) await call(`/permission/${id}/reply`, { reply: "once" });
    },
    async idle() {
      const states = await (await fetch(`${base}/session/status`)).json();
      return (states[session.id]?.type ?? "idle") === "idle";
    },
    async close() {
      if (server.exitCode !== null || server.signalCode !== null) return; // a killed one has no exit code
      server.kill();
      await once(server, "close");
    },
  };
}

// codexSettings writes what a user of Codex sets: where the model is, and that the folder is trusted.
export async function codexSettings(home, project, model) {
  const file = join(home, ".codex", "config.toml");
  const settings = await readFile(file, "utf8");
  await writeFile(file, `model = "stand-in"\nmodel_provider = "local"\napproval_policy = "never"\ncheck_for_update_on_startup = false\n${settings}`);
  await appendFile(file, [
    "\n[analytics]", "enabled = false",
    "[model_providers.local]", 'name = "local"', `base_url = "${model.url}/v1"`, 'wire_api = "responses"', 'env_key = "OPENAI_API_KEY"', "request_max_retries = 0",
    `[projects.${JSON.stringify(project)}]`, 'trust_level = "trusted"', "",
  ].join("\n"));
}

// codex runs the sessions of terminals in a daemon. A client of its socket does what a
// terminal does: it trusts the hooks, begins a thread, and follows its turns.
export async function codex({ hub, project, env, command, model, modules, within, asking, continues }) {
  if (!continues) await codexSettings(hub.root, project, model);
  const daemon = async (verb) => {
    const [exe, ...args] = command;
    const got = await finish(exe, [...args, "app-server", "daemon", verb], { env, cwd: project });
    assert.equal(got.code, 0, got.all);
    return got.stdout;
  };
  const { socketPath, pid } = JSON.parse(await daemon("start"));
  const { default: WebSocket } = await import(join(modules, "ws", "wrapper.mjs"));
  const answers = new Map();
  let calls = 0;
  let working = false;
  let asked; // the question whether a tool may run
  let socket;
  const call = (method, params) => new Promise((resolve) => {
    answers.set(++calls, resolve);
    socket.send(JSON.stringify({ id: calls, method, params }));
  });
  const connect = async () => {
    socket = new WebSocket(`ws+unix://${socketPath}:/`);
    socket.on("message", (text) => {
      const { id, method, result, error } = JSON.parse(text);
      if (method?.endsWith("/requestApproval")) asked = id;
      else if (answers.has(id)) answers.get(id)(error ?? result);
      if (method === "turn/started") working = true;
      if (method === "turn/completed") working = false;
    });
    await once(socket, "open");
    await call("initialize", { clientInfo: { name: "outside-turns", title: "outside-turns", version: "1" }, capabilities: { experimentalApi: true } });
    socket.send(JSON.stringify({ method: "initialized" }));
  };
  await connect();
  const { data } = await call("hooks/list", { cwds: [project] });
  const trusted = Object.fromEntries(data.flatMap(({ hooks }) => hooks).map(({ key, currentHash }) => [key, { trusted_hash: currentHash }]));
  assert.ok(Object.keys(trusted).length > 0, "the harness has no hooks");
  await call("config/batchWrite", { edits: [{ keyPath: "hooks.state", value: trusted, mergeStrategy: "upsert" }], reloadUserConfig: true });
  const asks = asking ? { model: asking, approvalPolicy: "untrusted", sandbox: "read-only" } : {};
  const { thread } = await (continues ? call("thread/resume", { threadId: continues }) : call("thread/start", { cwd: project, ...asks }));
  return {
    pid,
    id: thread.id,
    compact: () => call("thread/compact/start", { threadId: thread.id }),
    reconnect: () => call("config/mcpServer/reload", null),
    say: (text) => call("turn/start", { threadId: thread.id, input: [{ type: "text", text }] }),
    async grant() {
      if (asked !== undefined) socket.send(JSON.stringify({ id: asked, result: { decision: "accept" } }));
    },
    async go(text) {
      working = true;
      await call("turn/start", { threadId: thread.id, input: [{ type: "text", text }] });
      await eventually("the turn ends", async () => !working, within);
    },
    idle: async () => !working,
    quit: async () => socket.terminate(), // as a terminal does; the daemon keeps the session
    async resume() {
      await connect();
      await call("thread/resume", { threadId: thread.id });
    },
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

// claude runs in a terminal. Its plugin has a monitor that wakes it.
export const claude = (given) => inTerminal(given, "claude-code", "\u276f", "/mcp reconnect hub");

// gemini runs in a terminal. Nothing wakes it.
export const gemini = (given) => inTerminal(given, "gemini-cli", "Type your message", "/mcp reload");

// copilot runs in a terminal. A command that it runs in the background wakes it when it ends.
export const copilot = (given) => inTerminal(given, "copilot-cli", "open sidebar", "/mcp reload");

// kimi runs in a terminal. Nothing wakes it. Its user trusts the folder, and unless the test is about that, lets
// it run every tool without a question.
export const kimi = (given) =>
  inTerminal({ ...given, command: [...given.command, ...(given.asking ? [] : ["--auto"])] }, "kimi", "No session yet", undefined, "Trust this folder?");

// qwen runs in a terminal. It takes texts from a file that its command line names.
export async function qwen(given) {
  const file = join(given.hub.root, "input.jsonl");
  await writeFile(file, "");
  return inTerminal({ ...given, command: [...given.command, "--input-file", file] }, "qwen-code", "Type your message");
}

// findable is an environment in which hubcli run finds a harness, and the hub.
const findable = (hub, env, modules, path) => ({
  ...env, HUB_BASE_URL: hub.url, PATH: [path ?? join(modules, ".bin"), dirname(process.execPath), env.PATH].join(":"),
});

// started is a session that hubcli run starts in a terminal.
export const started = (given, id, { name, path, args, ready, question }) =>
  inTerminal({ ...given, env: findable(given.hub, given.env, given.modules, path), command: [hubcli, "run", name, "--as", given.agent, "--", ...args] }, id, ready, undefined, question);

// driven is a session that hubcli run drives over ACP, with what its user types in a pipe.
export async function driven({ hub, project, env, modules, within, agent, driven: { name, path, flags, args }, more = [] }) {
  const all = ["run", name, ...flags, "--as", agent, ...more, "--", ...args];
  const command = spawn(hubcli, all, { env: findable(hub, env, modules, path), cwd: project, stdio: ["pipe", "pipe", "pipe"] });
  let said = "";
  for (const stream of [command.stdout, command.stderr]) stream.on("data", (text) => { said += text; });
  command.stdin.on("error", () => {}); // of a session that was killed
  // A hub that was killed meanwhile does not know of the turn; without a terminal nothing is drawn.
  const drawn = async () => said.endsWith(`${agent}> `);
  const idle = more.includes("--headless") ? async () => (await hub.get(`/v1/attention?agent_id=${agent}`)).turn === "idle" : drawn;
  const session = {
    pid: command.pid,
    process: command,
    said: () => said,
    idle,
    say: async (text) => { command.stdin.write(`${text}\n`); },
    async go(text) {
      const prompt = said.lastIndexOf(`${agent}> `);
      await session.say(text);
      await eventually("the turn ends", () => said.lastIndexOf(`${agent}> `) > prompt, within);
    },
    interrupt: () => command.kill("SIGINT"),
    async close() {
      if (command.exitCode !== null || command.signalCode !== null) return;
      command.stdin.end();
      const late = setTimeout(() => command.kill("SIGKILL"), within);
      await once(command, "close");
      clearTimeout(late);
    },
  };
  await eventually("the session begins", () => {
    assert.equal(command.exitCode, null, said);
    return more.includes("--headless") ? said.includes("[session]") : said.endsWith(`${agent}> `);
  }, within);
  return session;
}

// inTerminal opens a session of a program that is ready when it has drawn a text. By the
// text reconnect its user starts a bridge anew. What it asks first, if it does, is answered by yes, or by keys.
export async function inTerminal({ hub, project, env, command, within, agent: named }, id, ready, reconnect, question) {
  const terminal = await Terminal.open({ project, env, command });
  const [asked, keys = "\r"] = [question].flat();
  if (asked) {
    await eventually("the terminal asks", () => terminal.drawn.includes(asked), within);
    for (const key of keys) {
      await sleep(1000); // a program that is still drawing its question takes no answer
      terminal.type(key);
    }
  }
  await eventually("the terminal is ready", () => terminal.drawn.includes(ready), within);
  const turn = async () => {
    const agent = named ?? (await hub.agents()).find((name) => name.startsWith(`${id}-`) && !name.endsWith(".watch"));
    return agent && (await hub.get(`/v1/attention?agent_id=${agent}`)).turn;
  };
  const idle = async () => (await turn()) === "idle";
  const say = async (text) => {
    terminal.type(text);
    await sleep(500); // text that comes with the end of its line is taken for pasted text
    terminal.type("\r");
  };
  return {
    pid: terminal.process.pid,
    reconnect: reconnect && (() => say(reconnect)),
    say,
    idle,
    async go(text) {
      await say(text);
      await eventually("the turn ends", idle, within);
    },
    grant: () => terminal.type("\r"), // the first answer is yes
    refuse: () => terminal.type("\u001b"),
    drawn: () => terminal.drawn,
    close: () => terminal.close(),
  };
}

// Terminal is a program that draws, in a terminal of its own.
export class Terminal {
  static async open({ project, env, command }) {
    const terminal = new Terminal();
    terminal.drawn = "";
    terminal.process = spawn("python3", [join(here, "turns", "terminal.py"), ...command], {
      env: { ...env, TERM: "xterm-256color" }, cwd: project, stdio: ["pipe", "pipe", "inherit"],
    });
    terminal.process.stdout.on("data", (chunk) => { terminal.drawn += chunk; });
    await once(terminal.process, "spawn");
    return terminal;
  }

  type(keys) {
    this.process.stdin.write(keys);
  }

  async close() {
    if (this.process.exitCode !== null) return;
    this.process.stdin.end();
    await once(this.process, "close");
  }
}
