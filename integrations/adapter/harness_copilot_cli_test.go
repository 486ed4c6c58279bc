package adapter

import (
	"encoding/json"
	"os/exec"
	"runtime"
	"testing"

	"hubcli/internal/require"
)

// TestHooksOfCopilotRefuseNothingWithoutHubcli: Copilot CLI refuses edits and permissions when a
// hook about them fails, so no line fails where the executable is gone.
func TestHooksOfCopilotRefuseNothingWithoutHubcli(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell of Unix")
	}
	e := Entry{Command: "/nonexistent/hubcli", GOOS: runtime.GOOS}
	tried := 0
	for _, p := range []piece{copilotHooks(), copilotPermissions()} {
		var doc struct {
			Hooks map[string][]struct{ Bash string }
		}
		text, ok := p.value(e).(string)
		if !ok {
			t.Fatal("it is no file")
		}
		require.NoError(t, json.Unmarshal([]byte(text), &doc))
		for name, hooks := range doc.Hooks {
			for _, h := range hooks {
				tried++
				if out, err := exec.Command("sh", "-c", h.Bash).Output(); err != nil || len(out) > 0 {
					t.Errorf("%s: %s: %v, and it prints %q", name, h.Bash, err, out)
				}
			}
		}
	}
	if tried != 15 {
		t.Errorf("%d lines were tried", tried)
	}
}
