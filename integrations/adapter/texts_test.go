package adapter

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testprogram"
)

// TestOpenCodeServer: the plugin adds the server to the settings of opencode, beside those of
// others. An entry of the user's stays, and one that switches the server off does so.
func TestOpenCodeServer(t *testing.T) {
	node := testprogram.Need(t, "node")[0]
	r := newRig(t)
	r.config.BaseURL, r.config.DataRoot = "http://127.0.0.1:1", "/srv/it's \"data\""
	r.must(hub.HarnessOpenCode, hub.AdapterInstall, r.input(hub.AdapterGlobal))
	r.write(filepath.Join(r.home, "server.mjs"), r.read(filepath.Join(r.home, ".config/opencode/plugins/hubcli-server.js")))
	r.write(filepath.Join(r.home, "ask.mjs"), `import { HubServer } from "./server.mjs";
const { config } = await HubServer({});
for (const mcp of [undefined, { other: { type: "local" } }, { hub: { enabled: false } }, { hub: { type: "remote", url: "x" } }]) {
  const settings = { theme: "x", mcp };
  await config(settings);
  console.log(JSON.stringify(settings.mcp));
}
`)
	out, err := exec.Command(node, filepath.Join(r.home, "ask.mjs")).CombinedOutput()
	require.NoError(t, err)
	server := `"type":"local","command":["` + r.self + `","mcp","--harness","opencode","--base-url","http://127.0.0.1:1"],"environment":{"HUB_DATA_ROOT":"/srv/it's \"data\""}`
	for i, want := range []string{
		`{"hub":{` + server + `,"enabled":true,"timeout":60000}}`,
		`{"other":{"type":"local"},"hub":{` + server + `,"enabled":true,"timeout":60000}}`,
		`{"hub":{` + server + `,"enabled":false,"timeout":60000}}`,
		`{"hub":{"type":"remote","url":"x"}}`,
	} {
		if got := strings.Split(string(out), "\n")[i]; got != want {
			t.Errorf("it says %s, want %s", got, want)
		}
	}
}

// TestOpenCodePlugin: every session gets its context once, also a session from
// before opencode started. Sessions that other sessions begin get none.
func TestOpenCodePlugin(t *testing.T) {
	node := testprogram.Need(t, "node")[0]
	r := newRig(t)
	calls := filepath.Join(r.home, "calls")
	r.write(r.self, "#!/bin/sh\ncat >>"+calls+"\necho >>"+calls+"\necho '{\"hookSpecificOutput\":{\"additionalContext\":\"you are x\"}}'\n")
	r.must(hub.HarnessOpenCode, hub.AdapterInstall, r.input(hub.AdapterGlobal))
	plugin := filepath.Join(r.home, "plugin.mjs")
	r.write(plugin, r.read(filepath.Join(r.home, ".config/opencode/plugins/hubcli.js")))
	script := filepath.Join(r.home, "run.mjs")
	r.write(script, `import { Hub } from "./plugin.mjs";
const get = async ({ path }) => ({ data: path.id === "old-child" ? { parentID: "old" } : {} });
const h = await Hub({ client: { session: { get } }, directory: "/work" });
await h.event({ event: { type: "session.created", properties: { info: { id: "new" } } } });
await h.event({ event: { type: "session.created", properties: { info: { id: "child", parentID: "new" } } } });
for (const sessionID of ["new", "old", "old", "old-child", "child", undefined]) {
  const o = { system: [] };
  await h["experimental.chat.system.transform"]({ sessionID }, o);
  console.log(sessionID, o.system.join());
}
`)
	cmd := exec.CommandContext(t.Context(), node, script)
	cmd.Env = os.Environ()
	out, err := cmd.CombinedOutput()
	if want := "new you are x\nold you are x\nold you are x\nold-child \nchild \nundefined \n"; err != nil || string(out) != want {
		t.Errorf("%v\n%s, want\n%s", err, out, want)
	}
	got := r.read(calls)
	if strings.Count(got, "SessionStart") != 2 || !strings.Contains(got, `"session_id":"new","cwd":"/work","source":"startup"`) || !strings.Contains(got, `"session_id":"old","cwd":"/work","source":"resume"`) {
		t.Errorf("called with\n%s", got)
	}
}

// TestOpenCodePluginShowsMessages: an idle session begins a turn with what names a message,
// since opencode takes it for its user's words; a busy one gets the words with its next tool,
// and not once more, nor after a tool of the hub has shown the message. The hooks are called
// when a turn begins and when it ends with nothing to show. In a program of one
// turn there is no stream, a hook tells during the turn, and none tells at its end.
func TestOpenCodePluginShowsMessages(t *testing.T) {
	node := testprogram.Need(t, "node")[0]
	r := newRig(t)
	line := filepath.Join(r.home, "line") // what the stream says next
	hooks := filepath.Join(r.home, "hooks")
	r.write(r.self, `#!/bin/sh
test "$1" = hook && echo "$2" >>`+hooks+`
case "$1 $2" in
"hook session-start") echo "export HUB_AGENT='me'" >"$HUB_ENV_FILE" ;;
"hook tool") echo '{"hookSpecificOutput":{"additionalContext":"by the hook"}}' ;;
"hook stop") echo '{"decision":"block","reason":"at the end"}' ;;
"watch --stream")
	test "$HUB_AGENT" = me || exit 1
	while :; do
		if test -f `+line+`; then mv `+line+` `+line+`.said; cat `+line+`.said; rm `+line+`.said; fi
		sleep 0.01
	done ;;
esac
`)
	r.must(hub.HarnessOpenCode, hub.AdapterInstall, r.input(hub.AdapterGlobal))
	r.write(filepath.Join(r.home, "plugin.mjs"), r.read(filepath.Join(r.home, ".config/opencode/plugins/hubcli.js")))
	script := filepath.Join(r.home, "run.mjs")
	r.write(script, `import { existsSync, renameSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { Hub } from "./plugin.mjs";
let fails = 1;
const promptAsync = async ({ path, body }) => {
  if (fails-- > 0) throw new Error("not now");
  console.log("prompt", path.id, body.parts[0].text);
};
const h = await Hub({ client: { session: { get: async () => ({ data: {} }), promptAsync } }, directory: "/work" });
const happens = (type, properties) => h.event({ event: { type, properties } });
let id = 0;
const says = async (text) => {
  writeFileSync("line.new", JSON.stringify({ event: "messages", text, pointer: "named: " + text, messages: [{ id: ++id }] }) + "\n");
  renameSync("line.new", "line");
  while (existsSync("line") || existsSync("line.said")) await sleep(5);
  await sleep(100); // for what should not happen
};
const status = (type) => happens("session.status", { sessionID: "s", status: { type } });
const tool = async (output, name) => {
  await h["tool.execute.after"]({ sessionID: "s", tool: name }, output);
  console.log("tool", JSON.stringify(output));
};
await happens("session.created", { info: { id: "s" } });
const shell = { env: {} };
await h["shell.env"]({ sessionID: "s" }, shell);
console.log("shell", shell.env.HUB_AGENT);
if (process.argv[2] !== "run") {
  await says("to an idle one");
  await sleep(1200); // until the prompt that failed is repeated
}
await status("busy");
if (process.argv[2] !== "run") await says("to a busy one");
await tool({ content: [] });
await tool({ output: "built in" });
if (process.argv[2] !== "run") {
  await says("read meanwhile");
  await tool({ content: [{ type: "text", text: "1 message\n#3 from lead, chat" }] }, "hub_hub_poll_messages");
  await says("late");
}
await status("idle");
await happens("session.idle", { sessionID: "s" });
await status("busy");
await status("busy");
await status("idle");
await happens("session.idle", { sessionID: "s" });
await h.dispose();
`)
	called := map[string]string{"": "session-start prompt prompt stop session-end", "run": "session-start tool tool session-end"}
	for mode, want := range map[string]string{
		"": "shell me\nprompt s named: to an idle one\n" +
			`tool {"content":[{"type":"text","text":"to a busy one"}]}` + "\n" + `tool {"output":"built in"}` + "\n" +
			`tool {"content":[{"type":"text","text":"1 message\n#3 from lead, chat"}]}` + "\nprompt s named: late\nprompt s at the end\n",
		"run": "shell me\n" + `tool {"content":[{"type":"text","text":"by the hook"}]}` + "\n" + `tool {"output":"built in\n\nby the hook"}` + "\n",
	} {
		cmd := exec.CommandContext(t.Context(), node, script, mode)
		cmd.Dir = r.home
		if out, err := cmd.CombinedOutput(); err != nil || string(out) != want {
			t.Errorf("mode %q: %v\n%s, want\n%s", mode, err, out, want)
		}
		if got := strings.Join(strings.Fields(r.read(hooks)), " "); got != called[mode] {
			t.Errorf("mode %q: the hooks %s are called, want %s", mode, got, called[mode])
		}
		require.NoError(t, os.Remove(hooks))
	}
}

// TestOpenCodePluginAsksIdleSessionsAlone: no turn is asked for while another works or
// begins. What is told in such a moment comes with the next turn, and what was refused is
// tried again. A stream that was killed is replaced.
func TestOpenCodePluginAsksIdleSessionsAlone(t *testing.T) {
	node := testprogram.Need(t, "node")[0]
	r := newRig(t)
	line, stop := filepath.Join(r.home, "line"), filepath.Join(r.home, "stop")
	r.write(r.self, `#!/bin/sh
case "$1 $2" in
"hook session-start") echo "export HUB_AGENT='me'" >"$HUB_ENV_FILE" ;;
"hook stop")
	touch `+stop+`.asked
	while ! test -f `+stop+`; do sleep 0.01; done
	cat `+stop+`
	rm `+stop+` `+stop+`.asked ;;
"watch --stream")
	echo $$ >`+line+`.pid
	while :; do
		if test -f `+line+`; then mv `+line+` `+line+`.said; cat `+line+`.said; rm `+line+`.said; fi
		sleep 0.01
	done ;;
esac
`)
	r.must(hub.HarnessOpenCode, hub.AdapterInstall, r.input(hub.AdapterGlobal))
	r.write(filepath.Join(r.home, "plugin.mjs"), r.read(filepath.Join(r.home, ".config/opencode/plugins/hubcli.js")))
	script := filepath.Join(r.home, "run.mjs")
	r.write(script, `import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { Hub } from "./plugin.mjs";
let working = false; // what opencode knows of its session
let asking = 0;
let refuses = 0;
let free = Promise.resolve(); // when the next prompt is taken
const prompts = [];
const promptAsync = async ({ body }) => {
  if (working || asking > 0) console.log("asked too early:", body.parts[0].text);
  asking++;
  await free;
  asking--;
  if (refuses-- > 0) throw new Error("not now");
  prompts.push(body.parts[0].text);
};
const h = await Hub({ client: { session: { get: async () => ({ data: {} }), promptAsync } }, directory: "/work" });
const happens = (type, properties) => h.event({ event: { type, properties } });
const status = (type) => {
  working = type !== "idle";
  return happens("session.status", { sessionID: "s", status: { type } });
};
const place = (file, text) => {
  writeFileSync(file + ".new", text);
  renameSync(file + ".new", file);
};
const until = async (holds) => {
  for (const end = Date.now() + 40_000; !holds(); await sleep(5)) if (Date.now() > end) throw new Error("it does not come: " + holds);
};
const says = async (text) => {
  place("line", JSON.stringify({ event: "messages", text: "words", pointer: text, messages: [] }) + "\n");
  await until(() => !existsSync("line") && !existsSync("line.said"));
  await sleep(100); // for what should not happen
};
const shown = async (...texts) => {
  await until(() => prompts.length > 0);
  const got = prompts.splice(0);
  console.log(got.join(" + ") === texts.join("\n") ? "as it should: " + texts : "shown: " + JSON.stringify(got));
};
const stopped = (text) => place("stop", JSON.stringify(text ? { decision: "block", reason: text } : {}));

await happens("session.created", { info: { id: "s" } });
await until(() => existsSync("line.pid"));

// A turn has ended; before the hook of its end answers, the stream begins another one.
await status("busy");
await status("idle");
let ended = happens("session.idle", { sessionID: "s" });
await until(() => existsSync("stop.asked"));
await says("one");
await shown("one");
await status("busy");
stopped("two");
await ended;
await status("idle");
await happens("session.idle", { sessionID: "s" });
await shown("two");

// A second line comes while the first asks for its turn, and before the turn begins.
await status("busy");
await status("idle");
let take;
free = new Promise((resolve) => (take = resolve));
await says("three");
await says("four");
take();
await shown("three");
await says("five");
await status("busy");
await status("idle");
await happens("session.idle", { sessionID: "s" });
await shown("four", "five");

// A text of the hook at the end of a turn is refused at first.
await status("busy");
await status("idle");
refuses = 2;
ended = happens("session.idle", { sessionID: "s" });
stopped("six");
await ended;
await shown("six");

await status("busy");
await status("idle");
const pid = Number(readFileSync("line.pid", "utf8"));
rmSync("line.pid");
process.kill(pid, "SIGKILL");
await until(() => existsSync("line.pid"));
await says("seven");
await shown("seven");
await h.dispose();
`)
	cmd := exec.CommandContext(t.Context(), node, script)
	cmd.Dir = r.home
	out, err := cmd.CombinedOutput()
	want := "as it should: one\nas it should: two\nas it should: three\nas it should: four,five\nas it should: six\nas it should: seven\n"
	if err != nil || string(out) != want {
		t.Errorf("%v\n%s, want\n%s", err, out, want)
	}
}
