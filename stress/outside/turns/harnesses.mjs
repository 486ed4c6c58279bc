// The harnesses that the tests drive, and the room in which each works.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { mkdir, readFile, realpath, writeFile } from "node:fs/promises";
import { arch, platform } from "node:process";
import { dirname, join } from "node:path";
import { Hub, here } from "../hub.mjs";
import { anthropic } from "./anthropic.mjs";
import { chat } from "./chat.mjs";
import { gemini } from "./gemini.mjs";
import { responses } from "./responses.mjs";
import * as sessions from "./sessions.mjs";

// modules is where the harnesses are installed, and the file beside it names those that are.
export const modules = process.env.HARNESSES ?? join(here, "turns", "node_modules");
export const { devDependencies } = JSON.parse(await readFile(join(await realpath(modules), "..", "package.json"), "utf8"));

// within bounds, in ms, a turn of a program of 400 MB on a busy machine.
export const within = 120_000;
const key = "made-up-key-of-a-test";
const nowhere = "http://127.0.0.1:9"; // a proxy at whose port nobody listens

const copilot = join(modules, "@github", `copilot-${platform}-${arch}`, "copilot");
const cline = join(modules, "@cline", `cli-${platform}-${arch}`, "bin", "cline");
const droid = join(modules, "@factory", `cli-${platform}-${arch}`, "bin", "droid");
const kimi = [process.execPath, join(modules, "@moonshot-ai/kimi-code/dist/main.mjs")];
const opencode = join(modules, `opencode-${platform}-${arch}`, "bin", "opencode");

// A row tells how a harness works a turn without a human, against which API, and where its
// hooks stand.
const rows = [
  {
    id: "claude-code",
    from: "@anthropic-ai/claude-code",
    api: anthropic,
    command: () => [join(modules, "@anthropic-ai", `claude-code-${platform}-${arch}`, "claude"), "-p", "go", "--allowedTools", "mcp__hub,Write,Read"],
    env: (url) => ({ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: key, DISABLE_AUTOUPDATER: "1", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1" }),
    hooks: [".claude", "settings.json"],
    again: ["--continue"], // beside its command, which then goes on with the last session
    compact: "/compact",
    entry: [".claude.json"],
    tool: "PostToolBatch",
    stays: sessions.claude,
    program: [join(modules, "@anthropic-ai", `claude-code-${platform}-${arch}`, "claude"), "--permission-mode", "default", "--allowedTools", "mcp__hub"],
    terminal: { name: "claude", path: join(modules, "@anthropic-ai", `claude-code-${platform}-${arch}`), args: ["--permission-mode", "default", "--allowedTools", "mcp__hub"], ready: "\u276f" },
    plugin: true,
    fails: true, // a hook tells that its model failed
    alone: true, // a monitor of its plugin wakes it
    asks: "Write",
    permits: (project) => ["Write", "--path", project], // a rule that covers what it writes
    write: ({ tools }, file_path, content) => ({ tool: tools.Write, input: { file_path, content } }),
    // reveal asks for tools that the model knows only by their names.
    reveal: ({ tools }, names) => ({ tool: tools.ToolSearch, input: { query: `select:${names.map((name) => `mcp__hub__${name}`)}` } }),
    find: ({ tools }, query) => ({ tool: tools.ToolSearch, input: { query, max_results: 3 } }),
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
    from: "@openai/codex",
    api: responses,
    command: (url, model = "stand-in") => {
      const config = {
        model, model_provider: "local", approval_policy: "never", check_for_update_on_startup: false, "analytics.enabled": false,
        "model_providers.local.name": "local", "model_providers.local.base_url": `${url}/v1`, "model_providers.local.wire_api": "responses",
        "model_providers.local.env_key": "OPENAI_API_KEY", "model_providers.local.request_max_retries": 0,
      };
      const settings = Object.entries(config).flatMap(([name, value]) => ["-c", `${name}=${JSON.stringify(value)}`]);
      // The user trusts the hooks once; without a human they are called by this flag alone.
      const flags = ["--skip-git-repo-check", "--dangerously-bypass-hook-trust", "--sandbox", "workspace-write"];
      return [process.execPath, join(modules, "@openai/codex/bin/codex.js"), "exec", ...flags, ...settings, "go"];
    },
    env: () => ({ OPENAI_API_KEY: key }),
    again: (command) => command.toSpliced(command.indexOf("go"), 1, "resume", "--last", "go"),
    compact: true,
    hooks: [".codex", "hooks.json"],
    entry: [".codex", "config.toml"],
    tool: "PostToolUse",
    stays: sessions.codex,
    asks: "apply_patch",
    names: "always", // what a hook adds ranks above its user's words, so that mail is only named
    needs: ["ws"], // for its sessions
    // By hubcli run. It takes no text for a session that has had no turn, and its user trusts the hooks first.
    terminal: { name: "codex", args: [], ready: "Ask Codex to do anything", question: ["hooks are new or changed", "2\r"], prepare: sessions.codexSettings, prompted: true },
    permits: () => ["apply_patch"], // a patch may touch many files, so no rule about a folder allows one
    program: [process.execPath, join(modules, "@openai/codex/bin/codex.js")],
    find: ({ tools }, query) => ({ tool: tools.tool_search, input: { query, limit: 3 } }),
    deaf: ["who am I"], // its search drops words that stand in every text, and finds nothing by these alone
    writer: "gpt-5.5", // a model of which it knows that it edits files by patches
    write: ({ tools }, file, content) => ({
      tool: tools.apply_patch, input: `*** Begin Patch\n*** Add File: ${file}\n+${content}\n*** End Patch\n`,
    }),
    prepare: async () => {},
  },
  {
    id: "gemini-cli",
    from: "@google/gemini-cli",
    api: gemini,
    // With a named model it asks no other model which one it should take.
    command: () => [process.execPath, join(modules, "@google/gemini-cli/bundle/gemini.js"), "-m", "gemini-2.5-flash", "--approval-mode", "auto_edit", "-p", "go"],
    env: (url) => ({
      GOOGLE_GEMINI_BASE_URL: url, GEMINI_API_KEY: key, GEMINI_CLI_TRUST_WORKSPACE: "true", GEMINI_TELEMETRY_ENABLED: "false",
      HTTP_PROXY: nowhere, HTTPS_PROXY: nowhere,
    }),
    hooks: [".gemini", "extensions", "hubcli", "hooks", "hooks.json"],
    entry: [".gemini", "extensions", "hubcli", "gemini-extension.json"],
    again: ["--resume", "latest"],
    compact: "/compress",
    stays: sessions.gemini,
    asks: "write_file",
    // What its hooks say about these events does not answer the question that it draws.
    unheard: { events: ["BeforeTool", "Notification"], question: "Apply this change?" },
    refused: "Request cancelled",
    wakes: false, // nothing begins a turn of an idle session
    program: [process.execPath, join(modules, "@google/gemini-cli/bundle/gemini.js"), "-m", "gemini-2.5-flash", "--approval-mode", "default"],
    driven: { name: "gemini", flags: [], args: ["-m", "gemini-2.5-flash", "--approval-mode", "default"] }, // by hubcli run
    tool: "AfterTool", end: "AfterAgent", edit: "BeforeTool", prompt: "BeforeAgent", permission: "Notification",
    write: ({ tools }, file_path, content) => ({ tool: tools.write_file, input: { file_path, content } }),
    async prepare(home) {
      const settings = {
        security: { auth: { selectedType: "gemini-api-key" } },
        privacy: { usageStatisticsEnabled: false },
        general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
      };
      await writeFile(join(home, ".gemini", "settings.json"), JSON.stringify(settings));
    },
  },
  {
    id: "qwen-code",
    from: "@qwen-code/qwen-code",
    api: chat,
    command: () => [process.execPath, join(modules, "@qwen-code/qwen-code/cli.js"), "--approval-mode", "auto-edit", "go"],
    stays: sessions.qwen,
    asks: "write_file",
    program: [process.execPath, join(modules, "@qwen-code/qwen-code/cli.js"), "--approval-mode", "default"],
    terminal: { name: "qwen", args: ["--approval-mode", "default"], ready: "Type your message" }, // by hubcli run, too
    driven: { name: "qwen", flags: ["--acp"], args: ["--approval-mode", "default"] },
    wakes: 2000, // ms; it looks at its input file each half second
    env: (url) => ({ OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: key, OPENAI_MODEL: "stand-in" }),
    hooks: [".qwen", "settings.json"],
    again: ["--continue"],
    tool: "PostToolUse",
    write: ({ tools }, file_path, content) => ({ tool: tools.write_file, input: { file_path, content } }),
    async prepare(home) {
      const file = join(home, ".qwen", "settings.json");
      const settings = JSON.parse(await readFile(file, "utf8"));
      settings.security = { auth: { selectedType: "openai" } };
      settings.privacy = { usageStatisticsEnabled: false };
      await writeFile(file, JSON.stringify(settings));
    },
  },
  {
    id: "opencode",
    from: "opencode-ai",
    api: chat,
    write: ({ tools }, filePath, content) => ({ tool: tools.write, input: { filePath, content } }),
    again: ["--continue"],
    compact: true,
    endless: false, // the program ends with its turn, whatever a plugin says
    command: () => [opencode, "run", "go"],
    stays: sessions.opencode,
    alone: true, // a stream of its plugin wakes it
    driven: { name: "opencode", path: dirname(opencode), flags: ["--acp"], args: [], prepare: sessions.askingOpencode },
    names: "idle", // what begins a turn counts as its user's words
    asks: "edit",
    program: [opencode],
    env: (url) => ({ STAND_IN_URL: `${url}/v1`, OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1" }),
    async prepare(home) {
      const file = join(home, ".config", "opencode", "opencode.json");
      const settings = {};
      settings.model = settings.small_model = "local/stand-in";
      settings.provider = {
        local: {
          npm: "@ai-sdk/openai-compatible", name: "local", options: { baseURL: "{env:STAND_IN_URL}", apiKey: key },
          models: { "stand-in": { name: "stand-in", tool_call: true, limit: { context: 100_000, output: 10_000 } } },
        },
      };
      await writeFile(file, JSON.stringify(settings));
    },
  },
  {
    id: "copilot-cli",
    from: "@github/copilot",
    api: chat,
    // A hook allows the tools of the hub; this allows its own edits.
    command: () => [copilot, "-p", "go", "--allow-tool=write"],
    env: (url) => ({
      COPILOT_OFFLINE: "true", COPILOT_AUTO_UPDATE: "false", COPILOT_PROVIDER_BASE_URL: `${url}/v1`, COPILOT_PROVIDER_API_KEY: key,
      COPILOT_MODEL: "stand-in", COPILOT_PROVIDER_MAX_PROMPT_TOKENS: "100000", COPILOT_PROVIDER_MAX_OUTPUT_TOKENS: "10000",
    }),
    hooks: [".copilot", "hooks", "hubcli.json"],
    again: ["--continue"],
    compact: "/compact",
    entry: [".copilot", "mcp-config.json"],
    start: "sessionStart", tool: "postToolUse", end: "agentStop", edit: "preToolUse", prompt: "userPromptSubmitted", permission: "notification",
    stays: sessions.copilot,
    names: "mixed", // what comes with a prompt and at the end of a turn counts as its user's words
    fails: true,
    wakes: false, // by itself; a watch that it runs in the background wakes it
    watches: ({ tools }, command) => ({ tool: tools.bash, input: { command, description: "wait for messages", mode: "async" } }),
    asks: "edit",
    refused: "Operation cancelled",
    permits: (project) => ["edit", "--path", project],
    program: [copilot],
    helps: ({ tools }, prompt) => ({ tool: tools.task, input: { agent_type: "task", description: "help", name: "helper", prompt } }),
    write: ({ tools }, path, file_text) => ({ tool: tools.create, input: { path, file_text } }),
    // prepare writes what a user answers when the harness runs first.
    async prepare(home, project) {
      await writeFile(join(home, ".copilot", "config.json"), JSON.stringify({ trustedFolders: [project] }));
    },
  },
  {
    id: "cline",
    from: "cline",
    api: chat,
    command: () => [cline, "go on"], // one word is taken for the name of a command
    mute: true, // the adapter has no hook of it
    env: () => ({ CLINE_NO_AUTO_UPDATE: "1", CLINE_SESSION_BACKEND_MODE: "local", HTTP_PROXY: nowhere, HTTPS_PROXY: nowhere }),
    async prepare(home) {
      const settings = { provider: "openai-compatible", apiKey: key, model: "stand-in", baseUrl: "http://stand-in/v1" };
      const provider = { settings, updatedAt: "2026-11-30T00:00:00.000Z", tokenSource: "manual" };
      await writeFile(join(home, ".cline", "data", "settings", "providers.json"), JSON.stringify({
        version: 1, lastUsedProvider: "openai-compatible", modes: {}, providers: { "openai-compatible": provider },
      }));
    },
    finds: [".cline", "data", "settings", "providers.json"],
  },
  {
    id: "droid",
    from: "droid",
    api: chat,
    command: () => [droid, "exec", "--auto", "high", // below that it calls no tool of a server that writes
      "-m", "custom:Stand-in-0", "go"],
    env: () => ({ FACTORY_DROID_AUTO_UPDATE_ENABLED: "false", HTTP_PROXY: nowhere, HTTPS_PROXY: nowhere }),
    hooks: [".factory", "hooks.json"],
    entry: [".factory", "mcp.json"],
    tool: "PostToolUse",
    names: "always", // what a hook adds counts as its user's words
    hides: "hub___", // the tools of the hub, until its model asks for them
    reveal: ({ tools }, names) => ({ tool: tools.ToolSearch, input: { query: `select:${names.map((name) => `hub___${name}`)}` } }),
    find: ({ tools }, query) => ({ tool: tools.ToolSearch, input: { query, max_results: 3 } }),
    write: ({ tools }, file_path, content) => ({ tool: tools.Create, input: { file_path, content } }),
    async prepare(home) {
      const model = { model: "stand-in", displayName: "Stand-in", baseUrl: "http://stand-in/v1", apiKey: key, provider: "generic-chat-completion-api", maxOutputTokens: 8000 };
      await writeFile(join(home, ".factory", "settings.json"), JSON.stringify({ customModels: [model] }));
    },
    finds: [".factory", "settings.json"],
  },
  {
    id: "kimi",
    from: "@moonshot-ai/kimi-code",
    api: chat,
    command: () => [...kimi, "-p", "go"],
    env: () => ({}),
    hooks: [".kimi-code", "config.toml"],
    again: ["--continue"],
    compact: "/compact",
    entry: [".kimi-code", "mcp.json"],
    names: "always", // what a hook adds counts as its user's words
    late: true, // its model reads nothing of a hook after a tool, and before one a refusal alone
    stays: sessions.kimi,
    program: kimi,
    wakes: false, // nothing begins a turn of an idle session
    fails: true,
    asks: "Write",
    write: ({ tools }, path, content) => ({ tool: tools.Write, input: { path, content } }),
    async prepare(home) {
      const file = join(home, ".kimi-code", "config.toml");
      const settings = await readFile(file, "utf8");
      await writeFile(file, [
        'default_model = "stand-in"', "telemetry = false",
        "[providers.local]", 'type = "openai"', 'base_url = "http://stand-in/v1"', `api_key = "${key}"`,
        "[models.stand-in]", 'provider = "local"', 'model = "stand-in"', "max_context_size = 100000", 'capabilities = ["tool_use"]', "", settings,
      ].join("\n"));
    },
    finds: [".kimi-code", "config.toml"],
  },
];

// harnesses are the rows of those that are installed, with their versions.
export const harnesses = rows.filter(({ from }) => from in devDependencies);
for (const row of harnesses) {
  row.version = JSON.parse(await readFile(join(modules, row.from, "package.json"), "utf8")).version;
}

// count returns how often a text stands in what was sent to the model.
export const count = (request, text) => request.sent.split(text).length - 1;

// settle starts a hub with a room that is bound to a folder, and installs what the adapter
// writes for a harness. It returns the hub, the folder and the room's id.
export async function settle(harness) {
  const hub = await Hub.start();
  const project = join(hub.root, "project");
  await mkdir(project);
  await hub.command("project", "create", "--name", "Shop");
  await hub.command("room", "create", "--project", "shop", "--name", "Till");
  const [room] = JSON.parse(await hub.command("room", "list", "--project", "shop", "--json"));
  await hub.command("room", "bind", room.room_id, project);
  const plugin = harness.plugin ? ["--plugin"] : [];
  await hub.command("adapter", "install", harness.id, "--scope", "global", "--yes", ...plugin);
  await harness.prepare(hub.root, project);
  return { hub, project, room: room.room_id };
}

// environment is that of a harness whose model is at an address. Some find it in a file alone.
export function environment(harness, hub, url) {
  if (harness.finds) {
    const file = join(hub.root, ...harness.finds);
    writeFileSync(file, readFileSync(file, "utf8").replace(/"http:[^"]+\/v1"/, `"${url}/v1"`));
  }
  return { ...hub.env, ...harness.env(url), NO_PROXY: "127.0.0.1,localhost" };
}

// agentOf returns the one agent that the session of a harness is.
export async function agentOf(harness, hub) {
  const mine = (await hub.agents()).filter((id) => id.startsWith(`${harness.id}-`) && !id.endsWith(".watch"));
  assert.equal(mine.length, 1, `the session is ${mine}`);
  return mine[0];
}
