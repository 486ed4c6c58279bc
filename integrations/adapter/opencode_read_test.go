package adapter

import (
	"os/exec"
	"path/filepath"
	"testing"

	"hubcli/hub"
	"hubcli/internal/testprogram"
)

// TestOpenCodePluginKnowsMessagesUnderOneHeading: a poll shows several messages of one sender under one heading,
// "#4 to #6 from" or "#7, #8 from". A busy session that has read them so is not shown one of them again with its tool.
func TestOpenCodePluginKnowsMessagesUnderOneHeading(t *testing.T) {
	node := testprogram.Need(t, "node")[0]
	r := newRig(t)
	r.write(r.self, `#!/bin/sh
case "$1 $2" in
"hook session-start") echo "export HUB_AGENT='me'" >"$HUB_ENV_FILE" ;;
"watch --stream")
	while ! test -f `+filepath.Join(r.home, "busy")+`; do sleep 0.01; done
	for id in 4 5 6 7 8 9; do echo '{"event":"messages","text":"words of '$id'","pointer":"","messages":[{"id":'$id'}]}'; done
	touch `+filepath.Join(r.home, "said")+`
	exec sleep 60 ;;
esac
`)
	r.must(hub.HarnessOpenCode, hub.AdapterInstall, r.input(hub.AdapterGlobal))
	r.write(filepath.Join(r.home, "plugin.mjs"), r.read(filepath.Join(r.home, ".config/opencode/plugins/hubcli.js")))
	script := filepath.Join(r.home, "run.mjs")
	r.write(script, `import { existsSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { Hub } from "./plugin.mjs";
const h = await Hub({ client: { session: { get: async () => ({ data: {} }), promptAsync: async () => {} } }, directory: "/work" });
await h.event({ event: { type: "session.created", properties: { info: { id: "s" } } } });
await h.event({ event: { type: "session.status", properties: { sessionID: "s", status: { type: "busy" } } } });
writeFileSync("busy", "");
while (!existsSync("said")) await sleep(5);
await sleep(100); // until the plugin has read them
const output = { content: [{ type: "text", text: "5 messages\n#4 to #6 from lead, chat\n| a\n| #9 from x, chat\n#7, #8 from lead (unverified), chat" }] };
await h["tool.execute.after"]({ sessionID: "s", tool: "hub_hub_poll_messages" }, output);
console.log(JSON.stringify(output.content.slice(1)));
const far = { content: [{ type: "text", text: "#1 to #99999999999 from lead, chat" }] };
await h["tool.execute.after"]({ sessionID: "s", tool: "hub_hub_poll_messages" }, far);
await h.dispose();
`)
	cmd := exec.CommandContext(t.Context(), node, script)
	cmd.Dir = r.home
	out, err := cmd.CombinedOutput()
	if want := `[{"type":"text","text":"words of 9"}]` + "\n"; err != nil || string(out) != want {
		t.Errorf("%v\n%s, want\n%s", err, out, want)
	}
}
