package adapter

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hubcli/hub"
	"hubcli/internal/require"
)

// silent is a hub that refuses every call. These tests are about what does not
// need a hub.
type silent struct{}

var errSilent = hub.NewError(hub.CodeInternal, "no hub")

func (silent) Post(context.Context, hub.PostInput) (hub.Posted, error) {
	return hub.Posted{}, errSilent
}

func (silent) Resolve(context.Context, string) (hub.Resolved, error) {
	return hub.Resolved{}, errSilent
}

func (silent) Agents(context.Context, hub.AgentsQuery) ([]hub.LiveAgent, hub.Cursor, error) {
	return nil, "", errSilent
}

func (silent) Rooms(context.Context, hub.RoomsQuery) ([]hub.Room, hub.Cursor, error) {
	return nil, "", errSilent
}

// TestHarnessIsAsked: the harness reads a copy of the user's file as it is, with
// the hub's server and no server of others, and what it says is reported.
func TestHarnessIsAsked(t *testing.T) {
	const own = "{\n  // mine\n  \"theme\": \"x\",\n  \"mcpServers\": {\"other\": {\"command\": \"touch\"}, \"third\": {\"command\": \"touch\"}}\n}\n"
	for _, c := range []struct {
		name, script string
		status       hub.CheckStatus
		detail       string
	}{
		{"connects to an extension", `printf '\033[32m✓\033[0m hub (from hubcli): /x mcp (stdio) - Connected\n'`, hub.CheckPassed, "Gemini CLI says: it connects to the server"},
		{"connects", `printf '\033[32m✓\033[0m hub: /x mcp (stdio) - Connected\n'`, hub.CheckPassed, "Gemini CLI says: it connects to the server"},
		{"connects, and says so on stderr", `printf '✓ hub: /x mcp (stdio) - Connected\n' >&2`, hub.CheckPassed, "Gemini CLI says: it connects to the server"},
		{"does not connect", `echo '✗ hub: /x mcp (stdio) - Disconnected'`, hub.CheckFailed, "does not connect to the server: ✗ hub"},
		{"refuses the file", `echo note >&2; echo "Error in $HOME/.gemini/settings.json" >&2; echo 'Expected a value' >&2; exit 52`, hub.CheckFailed, "refuses its file: Error in HOME/.gemini/settings.json Expected a value"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			r.config.Hub = silent{}
			in := r.edits()
			if strings.Contains(c.name, "extension") {
				in.Plugin = nil
			}
			file, kept := filepath.Join(r.home, ".gemini/settings.json"), filepath.Join(r.home, "bin", "kept")
			r.write(file, own)
			r.must(hub.HarnessGeminiCLI, hub.AdapterInstall, in)
			before := r.tree()
			gemini := filepath.Join(r.home, "bin", "gemini")
			r.write(gemini, "#!/bin/sh\n[ \"$*\" = 'mcp list' ] || exit 9\ncat \"$HOME/.gemini/settings.json\" \"$HOME\"/.gemini/extensions/hubcli/*.json >"+kept+"\necho broken >\"$HOME/.gemini/settings.json\"\n"+c.script+"\n")
			require.NoError(t, os.Chmod(gemini, 0o755))
			v, err := r.VerifyAdapter(context.Background(), hub.HarnessGeminiCLI, in)
			require.NoError(t, err)
			if got := checks(v)["harness"]; got.Status != c.status || !strings.Contains(strings.ReplaceAll(got.Detail, r.home, "HOME"), c.detail) {
				t.Errorf("%+v", got)
			}
			if got := r.read(kept); strings.Contains(got, "touch") || !strings.Contains(got, "// mine") || !strings.Contains(got, r.self) || !strings.Contains(got, "adapter-verify-") {
				t.Errorf("it read\n%s", got)
			}
			if !maps.Equal(r.tree(), before) {
				t.Error("a file of the user has changed")
			}
		})
	}
}

// TestHarnessThatIsNotRun: without an executable, and with one that anybody
// could have replaced, nothing runs and nothing fails.
func TestHarnessThatIsNotRun(t *testing.T) {
	r := newRig(t)
	r.config.Hub = silent{}
	in, mark, codex := r.input(hub.AdapterGlobal), filepath.Join(r.home, "mark"), filepath.Join(r.home, "bin", "codex")
	r.must(hub.HarnessCodex, hub.AdapterInstall, in)
	ask := func() hub.AdapterCheck {
		v, err := r.VerifyAdapter(context.Background(), hub.HarnessCodex, in)
		require.NoError(t, err)
		return checks(v)["harness"]
	}
	if got := ask(); got.Status != hub.CheckSkipped || !strings.Contains(got.Detail, "PATH") {
		t.Errorf("without an executable: %+v", got)
	}
	r.write(codex, "#!/bin/sh\ntouch "+mark+"\n")
	require.NoError(t, os.Chmod(codex, 0o777))
	if got := ask(); got.Status != hub.CheckSkipped || !strings.Contains(got.Detail, "all users may write") || exists(mark) {
		t.Errorf("one that anybody may write: %+v, run %v", got, exists(mark))
	}
}

// TestWakeIsToldTruly: what a verification says of waking agrees with what the hub
// knows of each harness, and it never passes where an idle agent cannot be woken.
func TestWakeIsToldTruly(t *testing.T) {
	for i := range rows() {
		h := &rows()[i]
		t.Run(string(h.harness), func(t *testing.T) {
			r := newRig(t)
			r.config.Hub = silent{}
			in := r.input(h.scopes()[0])
			r.must(h.harness, hub.AdapterInstall, in)
			v, err := r.VerifyAdapter(context.Background(), h.harness, in)
			require.NoError(t, err)
			got := checks(v)["background wake"]
			facts := h.harness.Facts()
			if h.harness == hub.HarnessGit { // there is nobody to wake
				if got != (hub.AdapterCheck{}) {
					t.Errorf("%+v", got)
				}
				return
			}
			if cannot := strings.HasPrefix(got.Detail, "cannot wake: "); cannot == (facts.Wakes || facts.Streams || facts.Queues) || cannot && got.Status != hub.CheckSkipped {
				t.Errorf("%+v", got)
			}
			if facts.Queues && !strings.Contains(got.Detail, "begins a turn of an idle interactive session") {
				t.Errorf("its wake is not named: %s", got.Detail)
			}
		})
	}
}
