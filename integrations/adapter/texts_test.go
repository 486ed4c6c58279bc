package adapter

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hubcli/hub"
)

// TestOpenCodePlugin: every session gets its context once, also a session from
// before opencode started. Sessions that other sessions begin get none.
func TestOpenCodePlugin(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("there is no node")
	}
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
