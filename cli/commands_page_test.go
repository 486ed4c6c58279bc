package cli

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"hubcli/cli/opt"
	"hubcli/internal/require"
	"hubcli/internal/testfeature"
)

var update = flag.Bool("update", false, "write the lists of docs/commands.md anew")

// The lists of the page stand between these lines.
const (
	listsBegin = "<!-- commands: go test ./cli -run CommandsPage -update -->\n"
	listsEnd   = "<!-- end of commands -->\n"
)

// TestCommandsPageIsThatOfTheTree: docs/commands.md lists every command that help shows, in the groups of
// "hubcli --help".
func TestCommandsPageIsThatOfTheTree(t *testing.T) {
	testfeature.Need(t, testfeature.All()...)
	file := filepath.Join("..", "docs", "commands.md")
	page, err := os.ReadFile(file)
	require.NoError(t, err)
	head, rest, begun := strings.Cut(string(page), listsBegin)
	_, tail, ended := strings.Cut(rest, listsEnd)
	if !begun || !ended {
		t.Fatalf("%s lacks the lines around its lists", file)
	}
	want := head + listsBegin + commandLists(Tree("")) + listsEnd + tail
	if want == string(page) {
		return
	}
	if !*update {
		t.Fatalf("%s is not that of the command tree: run go test ./cli -run CommandsPage -update", file)
	}
	require.NoError(t, os.WriteFile(file, []byte(want), 0o644))
}

// commandLists is a section with a table for each group.
func commandLists(root *cobra.Command) string {
	var b strings.Builder
	all := root.Commands()
	for _, g := range helpGroups {
		b.WriteString("\n## " + g.title + "\n\n| Command | What it does |\n| --- | --- |\n")
		for _, name := range g.commands {
			if i := slices.IndexFunc(all, func(c *cobra.Command) bool { return c.Name() == name }); i >= 0 {
				listCommand(&b, all[i])
			}
		}
	}
	return b.String() + "\n"
}

// listCommand writes a row for a command that does something itself, and for those below it. A command with a
// short name has its row under that one.
func listCommand(b *strings.Builder, cmd *cobra.Command) {
	if cmd.Runnable() {
		use := strings.ReplaceAll(strings.TrimSuffix(cmd.UseLine(), " [flags]"), "|", `\|`)
		purpose := strings.ReplaceAll(cmd.Short, "|", `\|`)
		if long := cmd.Annotations[opt.ShortName]; long != "" {
			purpose += "; the same as `hubcli " + long + "`"
		}
		fmt.Fprintf(b, "| `%s` | %s |\n", use, purpose)
	}
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() && !hasShortName(c) {
			listCommand(b, c)
		}
	}
}

// hasShortName reports whether a command of app is also one at the top.
func hasShortName(cmd *cobra.Command) bool {
	return slices.ContainsFunc(cmd.Root().Commands(), func(c *cobra.Command) bool {
		return "hubcli "+c.Annotations[opt.ShortName] == cmd.CommandPath()
	})
}

// TestCommandsPageHasEachCommandOnce: whatever help shows has one row, under its short name where it has one.
func TestCommandsPageHasEachCommandOnce(t *testing.T) {
	testfeature.Need(t, testfeature.All()...)
	root := Tree("")
	rows := map[string]int{}
	for _, row := range regexp.MustCompile("(?m)^\\| `hubcli ([^`]*)`").FindAllStringSubmatch(commandLists(root), -1) {
		cmd, _, err := root.Find(strings.Fields(row[1]))
		if err != nil {
			t.Errorf("%s: %v", row[1], err)
			continue
		}
		rows[cmd.CommandPath()]++
	}
	var look func(cmd *cobra.Command)
	look = func(cmd *cobra.Command) {
		for _, c := range cmd.Commands() {
			shown := c.IsAvailableCommand() || c.Annotations[opt.ShortName] != ""
			if !shown || hasShortName(c) {
				continue
			}
			if n := rows[c.CommandPath()]; n != 1 {
				t.Errorf("%s has %d rows", c.CommandPath(), n)
			}
			look(c)
		}
	}
	look(root)
}
