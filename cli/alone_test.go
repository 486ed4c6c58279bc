package cli

import (
	"bytes"
	"slices"
	"testing"

	"github.com/spf13/cobra"

	"hubcli/internal/testcli"
)

// helpOf is what a command says of itself and of all below it.
func helpOf(t *testing.T, cmd *cobra.Command) string {
	t.Helper()
	var b bytes.Buffer
	for _, c := range commands(cmd) {
		c.SetOut(&b)
		if err := c.Help(); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

// TestOneCommandIsWholeAlone: the command that was typed is made without the others, under the
// name by which it is found, and is the same as among them.
func TestOneCommandIsWholeAlone(t *testing.T) {
	whole := newRoot(testcli.World(t, nil)).Commands()
	all := subcommands()
	if len(all) != len(whole) {
		t.Fatalf("the table has %d commands, the tree %d", len(all), len(whole))
	}
	for _, m := range all {
		alone := newRoot(testcli.World(t, nil), m.name, "--no-such-flag").Commands()
		if len(alone) != 1 || alone[0].Name() != m.name {
			t.Errorf("%s makes %d commands", m.name, len(alone))
			continue
		}
		i := slices.IndexFunc(whole, func(c *cobra.Command) bool { return c.Name() == m.name })
		if i < 0 || helpOf(t, whole[i]) != helpOf(t, alone[0]) || whole[i].Hidden != alone[0].Hidden {
			t.Errorf("%s is another command alone than among the others", m.name)
		}
	}
	for _, args := range [][]string{nil, {"help"}, {"--port", "1", "post"}, {"connections"}, {cobra.ShellCompRequestCmd, "post", ""}, {"no-such-command"}} {
		if got := newRoot(testcli.World(t, nil), args...).Commands(); len(got) != len(whole) {
			t.Errorf("%q makes %d commands, want all %d", args, len(got), len(whole))
		}
	}
}
