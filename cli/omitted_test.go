//go:build hub_omit_capsule

package cli

import (
	"bytes"
	"testing"

	"hubcli/cli/term"
	"hubcli/internal/testcli"
)

// TestOmittedCommand says which tag has left a command out, whatever follows its name.
func TestOmittedCommand(t *testing.T) {
	for _, args := range [][]string{{"capsule"}, {"capsule", "export", "--out", "x"}, {"project", "export", "shop"}} {
		var out, complaint bytes.Buffer
		env := testcli.World(t, nil)
		env.Stdout, env.Stderr = &out, &complaint
		code := Run(t.Context(), env, args)
		if code != term.ExitUsage || !bytes.Contains(complaint.Bytes(), []byte("hub_omit_capsule")) || out.Len() > 0 {
			t.Errorf("%q: exit code %d, stdout %q, stderr %q", args, code, out.String(), complaint.String())
		}
	}
}
