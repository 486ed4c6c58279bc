// The harnesses themselves read what the adapters write, and connect. None of them
// logs in, asks a model or reaches a machine but this one: what they would ask for
// on the network is sent to a port at which nobody listens.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import { arch, platform } from "node:process";
import { after, before, describe, it } from "node:test";
import { join } from "node:path";
import { Hub, finish, here, hubcli } from "../hub.mjs";
import { measured } from "../matrix.mjs";

const modules = join(here, "harnesses", "node_modules");
const nowhere = "http://127.0.0.1:9";
const offline = { HTTP_PROXY: nowhere, HTTPS_PROXY: nowhere, NO_PROXY: "127.0.0.1,localhost" };
const within = 120_000; // of programs of 200 MB on a busy machine

// harnesses tell how each is run and what it says of a server that it has reached.
const harnesses = [
  {
    id: "claude-code",
    command: [join(modules, "@anthropic-ai", `claude-code-${platform}-${arch}`, "claude")],
    env: { ...offline, DISABLE_AUTOUPDATER: "1", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1" },
    file: ".claude.json",
    connected: /^hub: .* - ✔ Connected$/m,
  },
  {
    id: "gemini-cli",
    command: [process.execPath, join(modules, "@google/gemini-cli/bundle/gemini.js")],
    env: { ...offline, GEMINI_CLI_TRUST_WORKSPACE: "true" },
    file: ".gemini/extensions/hubcli/gemini-extension.json",
    connected: /✓ hub \(from hubcli\): .* - Connected$/m,
  },
  {
    id: "qwen-code",
    command: [process.execPath, join(modules, "@qwen-code/qwen-code/cli.js")],
    env: offline,
    file: ".qwen/settings.json",
    connected: /✓.* hub: .* - Connected$/m,
  },
  {
    // It fetches the types of its plugins from npm when it finds the first one.
    id: "opencode",
    command: [join(modules, `opencode-${platform}-${arch}`, "bin", "opencode")],
    env: { OPENCODE_DISABLE_AUTOUPDATE: "1" },
    file: ".config/opencode/plugins/hubcli-server.js",
    connected: /✓ hub .*connected/,
  },
  {
    // Its list connects to nothing; its turns do.
    id: "copilot-cli",
    command: [join(modules, "@github", `copilot-${platform}-${arch}`, "copilot")],
    env: { ...offline, COPILOT_OFFLINE: "true", COPILOT_AUTO_UPDATE: "false" },
    connected: /^ +hub \(local\)$/m,
  },
  {
    // Its list connects to nothing; the test below asks its server instead.
    id: "codex",
    command: [process.execPath, join(modules, "@openai/codex/bin/codex.js")],
    env: offline,
    connected: /^hub +\S+ +mcp --harness codex .* enabled/m,
  },
];

describe("harnesses", () => {
  let hub, project;
  before(async () => {
    hub = await Hub.start();
    project = join(hub.root, "project");
    await mkdir(project);
  });
  after(() => hub?.close());

  const adapter = (verb, id, ...flags) =>
    finish(hubcli, ["adapter", verb, id, "--base-url", hub.url, ...flags], { env: hub.env, cwd: hub.root });

  const list = async ({ command: [exe, ...args], env }) => {
    const run = await finish(exe, [...args, "mcp", "list"], { env: { ...hub.env, ...env }, cwd: project, within });
    assert.equal(run.code, 0, run.all);
    return run.all.replaceAll(/\x1b\[[0-9;]*m/g, "");
  };

  for (const harness of harnesses) {
    const { id, file, connected } = harness;
    measured(id, `harness ${id}: connects to what the adapter wrote`, ["connects"], { timeout: 2 * within }, async (note) => {
      const installed = await adapter("install", id, "--scope", "global", "--yes");
      assert.equal(installed.code, 0, installed.all);
      assert.match(await list(harness), connected);
      if (!file) return;
      note("connects", "yes");
      // The list tells a server that is there from one that is not.
      const written = await readFile(join(hub.root, file), "utf8");
      await writeFile(join(hub.root, file), written.replaceAll(hubcli, "/bin/false"));
      assert.doesNotMatch(await list(harness), connected);
      await writeFile(join(hub.root, file), written);
    });
  }

  // Where something would be lost in files of the hub's own, the entries are in the settings. opencode has
  // made its file by now.
  for (const [id, file, connected] of [
    ["gemini-cli", ".gemini/settings.json", /✓ hub: .* - Connected$/m],
    ["opencode", ".config/opencode/opencode.jsonc", /✓ hub .*connected/],
  ]) {
    it(`harness ${id}: connects to entries in its settings too, until they move`, { timeout: 2 * within }, async () => {
      const harness = harnesses.find((row) => row.id === id);
      const settings = () => readFile(join(hub.root, file), "utf8").catch(() => "");
      const edits = await adapter("install", id, "--scope", "global", "--yes", "--plugin=false");
      assert.equal(edits.code, 0, edits.all);
      assert.match(await settings(), /--harness/);
      assert.match(await list(harness), connected);
      const moved = await adapter("install", id, "--scope", "global", "--yes");
      assert.equal(moved.code, 0, moved.all);
      assert.doesNotMatch(await settings(), /--harness/);
      assert.match(await list(harness), harness.connected);
    });
  }

  measured("codex", "harness codex: starts the server, sees its tools, and takes the hooks without a complaint", ["connects"], { timeout: within }, async (note) => {
    const { command, env } = harnesses.find(({ id }) => id === "codex");
    const server = await AppServer.start(command, { ...hub.env, ...env }, project);
    try {
      const { data: servers } = await server.ask("mcpServerStatus/list", {});
      const found = servers.find(({ name }) => name === "hub");
      assert.equal(found?.serverInfo?.name, "hubcli", JSON.stringify(servers).slice(0, 1000));
      assert.ok(Object.hasOwn(found.tools, "hub_post_message"));
      note("connects", "yes");
      const { data: hooks } = await server.ask("hooks/list", { cwds: [project] });
      assert.deepEqual(hooks.flatMap(({ warnings, errors }) => [...warnings, ...errors]), []);
      assert.deepEqual(hooks[0].hooks.map(({ eventName }) => eventName).toSorted(), [
        "permissionRequest", "postToolUse", "preToolUse", "sessionEnd", "sessionStart", "stop", "userPromptSubmit",
      ]);
      // The user has to trust them; no adapter does it in his place.
      for (const hook of hooks[0].hooks) assert.equal(hook.trustStatus, "untrusted");
    } finally {
      await server.close();
    }
  });

  it("harness claude-code: finds nothing wrong with its settings", { timeout: within }, async () => {
    const { command, env } = harnesses.find(({ id }) => id === "claude-code");
    const doctor = await finish(command[0], ["doctor"], { env: { ...hub.env, ...env }, cwd: project, within });
    assert.equal(doctor.code, 0, doctor.all);
    assert.match(doctor.all, /No installation issues found/);
    assert.doesNotMatch(doctor.all, /invalid settings/i);
  });

  it("harnesses: nothing is left when the adapters are taken out", { timeout: within }, async () => {
    for (const { id } of harnesses) {
      const removed = await adapter("uninstall", id, "--scope", "global", "--yes");
      assert.equal(removed.code, 0, removed.all);
    }
    const left = [];
    for (const entry of await readdir(hub.root, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      if (!entry.isFile() || path.startsWith(join(hub.root, "data")) || path.includes("node_modules")) continue;
      if (!/\.(json|toml|js)$/.test(path)) continue;
      if ((await readFile(path, "utf8")).includes("--harness")) left.push(path);
    }
    assert.deepEqual(left, []);
  });
});

// AppServer is the server that Codex's own editors speak with.
class AppServer {
  static async start([exe, ...args], env, cwd) {
    const server = new AppServer();
    server.process = spawn(exe, [...args, "app-server"], { env, cwd, stdio: ["pipe", "pipe", "ignore"] });
    server.waiting = new Map();
    createInterface({ input: server.process.stdout }).on("line", (line) => {
      const { id, result, error } = JSON.parse(line);
      server.waiting.get(id)?.(result ?? { error });
    });
    await server.ask("initialize", { clientInfo: { name: "outside", title: "outside", version: "1.0.0" } });
    server.process.stdin.write(`${JSON.stringify({ method: "initialized" })}\n`);
    return server;
  }

  ask(method, params) {
    const id = this.waiting.size + 1;
    const answer = new Promise((resolve) => this.waiting.set(id, resolve));
    this.process.stdin.write(`${JSON.stringify({ id, method, params })}\n`);
    return answer;
  }

  close() {
    const ended = new Promise((resolve) => this.process.once("exit", resolve));
    this.process.stdin.end();
    this.process.kill();
    return ended;
  }
}
