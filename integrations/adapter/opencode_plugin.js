import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

// "opencode run" ends with the first idle moment: what is told then is never shown.
const oneTurn = process.argv[2] === "run";

// A session that "hubcli run" drives is woken by that.
const driven = Boolean(process.env.HUB_DRIVEN);

// edits are opencode's tools that change files.
const edits = new Set(["edit", "multiedit", "write", "patch", "apply_patch"]);

// What opencode gets as a prompt is to its model its user's own words. So a prompt names the
// messages of other agents, and their words come in the result of a tool. A piece of news has
// both: "pointer" for a prompt and "text" for a result, and "ids" of the messages in it.
const said = (text) => ({ text, pointer: text, ids: [] }); // by a hook, which names messages alone
const news = (line) => {
  let event;
  try {
    event = JSON.parse(line);
  } catch {
    return []; // a line that was cut off when the stream ended
  }
  if (event.event === "messages") return [{ text: event.text, pointer: event.pointer, ids: event.messages.map(({ id }) => id) }];
  return event.outcome === "error" ? [said("Messages for you are no longer shown here. Read them yourself: hub_poll_messages")] : [];
};

// latest returns the id of the latest message in a list of news; 0: there is none.
const latest = (list) => Math.max(0, ...list.flatMap(({ ids }) => ids));

const mostFull = 200; // ids that are remembered for a session

// resultOf returns the text of a tool's result: a tool of a server has a list of contents, one
// of opencode's own a text.
const resultOf = ({ content, output }) => (Array.isArray(content) ? content.map((part) => part.text ?? "").join("\n") : (output ?? ""));

// headed returns the ids of the messages in a result. One heading may be of several: "#3 from", "#3, #5 from" or
// "#3 to #7 from".
function headed(result) {
  const of = (heading) => {
    const ids = Array.from(heading.matchAll(/#(\d+)/g), ([, n]) => Number(n));
    if (!heading.includes(" to ")) return ids;
    const [first, last] = ids;
    const begin = Math.max(first, last - mostFull + 1);
    return Array.from({ length: Math.max(0, last - begin + 1) }, (_, i) => begin + i);
  };
  return Array.from(result.matchAll(/^(#\d+(?: to #\d+|(?:, #\d+)*)) from /gm)).flatMap(([, heading]) => of(heading));
}

function hook(event, payload, more = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, ["hook", event, ...flags], { env: { ...env, ...more }, stdio: ["pipe", "pipe", "ignore"] });
    // A hook ends by itself two seconds after it has begun, which may take long on a busy
    // machine. The messages of one that is killed count as told and are never shown.
    const timer = setTimeout(() => child.kill(), 15_000);
    let out = "";
    child.on("error", () => resolve({}));
    child.stdout.on("data", (part) => (out += part));
    child.on("close", () => {
      clearTimeout(timer);
      try {
        resolve(JSON.parse(out));
      } catch {
        resolve({});
      }
    });
    child.stdin.on("error", () => {});
    child.stdin.end(JSON.stringify(payload));
  });
}

// begin calls the hook of a session's beginning. It returns the text for the agent and the
// variables that name the agent to later commands.
async function begin(payload) {
  const folder = await mkdtemp(join(tmpdir(), "hubcli-")).catch(() => undefined);
  const file = folder && join(folder, "variables");
  const answer = await hook("session-start", payload, file ? { HUB_ENV_FILE: file } : {});
  const lines = file ? await readFile(file, "utf8").catch(() => "") : "";
  if (folder) await rm(folder, { recursive: true, force: true }).catch(() => {});
  const variables = {};
  for (const [, name, value] of lines.matchAll(/^export (HUB_[A-Z_]+)='?([^'\n]*)'?$/gm)) variables[name] = value;
  return { text: answer.hookSpecificOutput?.additionalContext, variables };
}

export const Hub = async ({ client, directory }) => {
  const begun = new Map(); // session -> promise of what begin returns
  const children = new Map(); // session -> promise of whether another has begun it
  const busy = new Set(); // sessions that work a turn
  const asked = new Set(); // sessions that were asked for a turn and have not begun it
  const full = new Map(); // session -> ids of the latest messages that it has read in full
  const warnings = new Map(); // call of a tool -> what its result is to say too
  const lines = new Map(); // session -> news that it has not been shown
  const begins = new Map(); // session -> the latest message that the prompt of its next turn names
  const read = new Map(); // session -> the latest message that its turns have shown; the hooks tell the hub
  let stream; // of messages for the agent: { agent, child, session }
  let disposed = false;

  const isChild = (id) => {
    if (!children.has(id)) {
      const asked = client.session?.get?.({ path: { id } });
      children.set(id, Promise.resolve(asked).then((got) => Boolean(got?.data?.parentID), () => false));
    }
    return children.get(id);
  };
  const start = (id, source) => {
    if (!begun.has(id)) {
      const payload = { hook_event_name: "SessionStart", session_id: id, cwd: directory, source };
      begun.set(id, begin(payload).then((got) => {
        follow(id, got.variables);
        return got;
      }));
    }
    return begun.get(id);
  };
  const prompt = (id, text) => client.session.promptAsync({ path: { id }, body: { parts: [{ type: "text", text, synthetic: true }] } });

  // take returns the news that a session has not been shown.
  const take = (id) => {
    const list = lines.get(id) ?? [];
    lines.delete(id);
    return list;
  };
  // reads notes that a turn has begun with messages, or that a tool has shown them.
  const reads = (id, message) => {
    if (message > (read.get(id) ?? 0)) read.set(id, message);
  };
  const shownTo = (id) => ({ hub_told_id: read.get(id) });
  // add keeps news that the session has not read in full.
  const add = (id, ...more) => {
    const seen = full.get(id) ?? [];
    const left = [...take(id), ...more].filter(({ ids }) => ids.length === 0 || !ids.every((n) => seen.includes(n)));
    if (left.length > 0) lines.set(id, left);
  };
  // shown notes the messages that the result of a tool of the hub has shown in full, and drops news of them.
  const shown = (id, result) => {
    full.set(id, [...(full.get(id) ?? []), ...headed(result)].slice(-mostFull));
    add(id);
  };
  // show begins a turn with the pointers for an idle session. News for a busy one waits for
  // its next tool, or for the end of its turn. So each pointer begins a turn of its own, and
  // none depends on what opencode does with a prompt that comes while a turn ends.
  const show = async (id, pause = 1000) => {
    if (busy.has(id) || asked.has(id)) return;
    const list = take(id);
    if (list.length === 0) return;
    asked.add(id);
    try {
      const got = await prompt(id, list.map(({ pointer }) => pointer).join("\n"));
      if (got?.error) throw got.error;
      begins.set(id, Math.max(latest(list), begins.get(id) ?? 0));
    } catch {
      asked.delete(id);
      lines.set(id, [...list, ...(lines.get(id) ?? [])]);
      setTimeout(() => show(id, Math.min(2 * pause, 30_000)), pause).unref?.();
      return;
    }
    // No event says so if the turn does not begin.
    setTimeout(() => {
      asked.delete(id);
      show(id);
    }, 5000).unref?.();
  };
  // work tells the hub that a turn begins. What the hook says is shown later in the turn.
  const work = async (id) => {
    if (busy.has(id)) return;
    busy.add(id);
    reads(id, begins.get(id) ?? 0);
    begins.delete(id);
    if (oneTurn || !begun.has(id) || (await isChild(id))) return;
    const answer = await hook("prompt", { hook_event_name: "UserPromptSubmit", session_id: id, cwd: directory, ...shownTo(id) });
    const text = answer.hookSpecificOutput?.additionalContext;
    if (!text) return;
    add(id, said(text));
    await show(id); // the turn may have ended before the hook answered, and no other event comes
  };
  // follow keeps one stream of messages for the agent. They go to the session of the agent
  // that began last.
  const follow = (id, variables) => {
    const agent = variables.HUB_AGENT;
    if (oneTurn || driven || !agent) return;
    if (stream?.agent === agent) {
      stream.session = id;
      return;
    }
    stream?.child.kill();
    const child = spawn(command, ["watch", "--stream", "--json", "--path", directory], { env: { ...env, ...variables }, stdio: ["ignore", "pipe", "ignore"] });
    const mine = (stream = { agent, child, session: id });
    let rest = "";
    child.on("error", () => {});
    child.on("close", (_, signal) => {
      if (stream !== mine) return;
      stream = undefined; // the hooks tell of messages again, but they wake nobody
      // A stream that ends by itself has told the agent why. One that was killed has not.
      const again = () => disposed || stream || !begun.has(mine.session) || follow(mine.session, variables);
      if (signal) setTimeout(again, 1000).unref?.();
    });
    child.stdout.setEncoding("utf8");
    child.stdout.on("data", (part) => {
      const whole = (rest + part).split("\n");
      rest = whole.pop();
      if (whole.length === 0) return;
      add(mine.session, ...whole.flatMap(news));
      show(mine.session);
    });
  };

  // duringTurn returns the texts to show after a tool. After an edit the hook releases
  // the lock that was taken for it.
  const duringTurn = async (id, tool, args) => {
    const list = take(id);
    const texts = list.map(({ text }) => text);
    reads(id, latest(list));
    if (stream?.session === id && !edits.has(tool)) return texts;
    const payload = { hook_event_name: "PostToolUse", session_id: id, cwd: directory, tool_name: tool, tool_input: args };
    const answer = await hook("tool", payload);
    return [...texts, answer.hookSpecificOutput?.additionalContext];
  };

  return {
    event: async ({ event }) => {
      const info = event.properties?.info;
      const id = event.properties?.sessionID;
      if (event.type === "session.created" && info?.id) {
        children.set(info.id, Promise.resolve(Boolean(info.parentID)));
        if (!info.parentID) await start(info.id, "startup");
      }
      if (event.type === "session.status" && id) {
        if (event.properties.status?.type === "idle") busy.delete(id);
        else {
          asked.delete(id);
          await work(id);
        }
      }
      if (event.type === "session.idle" && id && !(await isChild(id))) {
        busy.delete(id);
        if (oneTurn) return;
        // Lines are also those of a stream that has ended. What the turn has shown, the hub hears in the next.
        if (lines.has(id)) return show(id);
        const answer = await hook("stop", { hook_event_name: "Stop", session_id: id, cwd: directory, ...shownTo(id) });
        if (answer.decision !== "block") return;
        add(id, said(answer.reason));
        await show(id); // unless another turn has begun meanwhile
      }
      if ((event.type === "permission.asked" || event.type === "permission.updated") && id) {
        const { permission, type } = event.properties;
        await hook("permission", { hook_event_name: "PermissionRequest", session_id: id, cwd: directory, tool_name: permission ?? type });
      }
      if (event.type === "session.deleted" && info?.id) {
        if (begun.has(info.id)) await hook("session-end", { hook_event_name: "SessionEnd", session_id: info.id, cwd: directory });
        if (stream?.session === info.id) stream.child.kill();
        for (const kept of [begun, children, busy, asked, lines, begins, read, full]) kept.delete(info.id);
      }
    },
    "experimental.chat.system.transform": async (input, output) => {
      const id = input?.sessionID;
      if (!id || (await isChild(id))) return;
      const { text } = await start(id, "resume"); // of a session from before this program
      if (text) output.system.push(text);
    },
    "tool.execute.before": async (input, output) => {
      if (!edits.has(input?.tool)) return;
      const payload = { hook_event_name: "PreToolUse", session_id: input.sessionID, cwd: directory, tool_name: input.tool, tool_input: output.args };
      const answer = (await hook("before-edit", payload)).hookSpecificOutput;
      if (answer?.permissionDecision === "deny") throw new Error(answer.permissionDecisionReason);
      if (answer?.additionalContext) warnings.set(input.callID, answer.additionalContext);
    },
    "tool.execute.after": async (input, output) => {
      const id = input?.sessionID;
      const warning = warnings.get(input?.callID);
      warnings.delete(input?.callID);
      if (id && input.tool?.startsWith("hub_")) shown(id, resultOf(output));
      const during = !id || (await isChild(id)) ? [] : await duringTurn(id, input.tool, input.args);
      const text = [warning, ...during].filter(Boolean).join("\n\n");
      if (!text) return;
      if (Array.isArray(output.content)) output.content.push({ type: "text", text });
      else output.output = (output.output ?? "") + "\n\n" + text;
    },
    "shell.env": async (input, output) => {
      const got = begun.get(input?.sessionID);
      if (got) Object.assign(output.env, (await got).variables);
    },
    dispose: async () => {
      disposed = true;
      stream?.child.kill();
      await Promise.all([...begun.keys()].map((id) => hook("session-end", { hook_event_name: "SessionEnd", session_id: id, cwd: directory })));
    },
  };
};
