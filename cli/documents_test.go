package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"hubcli/internal/require"
	"hubcli/internal/testcli"
	"hubcli/internal/testfeature"
)

// mistaken are the words that documents show because there is no such command, and that
// of a file.
var mistaken = map[string]bool{"send": true, "serve": true, "ps": true, "store": true}

// typed finds command lines of the program in a document: within backticks, behind a
// prompt or at the beginning of a line.
var typed = regexp.MustCompile("(?m)(?:`|^(?: {4})?(?:\\$ )?|[|(] ?|&& |= ?\\$\\()(hubcli [^`\n|)]*)")

// TestDocumentsNameCommandsThatExist, with flags that they have.
func TestDocumentsNameCommandsThatExist(t *testing.T) {
	testfeature.Need(t, testfeature.All()...)
	root := newRoot(testcli.World(t, nil))
	root.InitDefaultCompletionCmd("completion") // the name makes cobra add it
	var pages []string
	for _, pattern := range []string{"*.md", "docs/*.md", "python/*.md", "examples/*.md"} {
		found, err := filepath.Glob(filepath.Join("..", pattern))
		require.NoError(t, err)
		pages = append(pages, found...)
	}
	seen := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, found := range typed.FindAllStringSubmatch(string(text), -1) {
			seen++
			if wrong := wrongLine(root, strings.Fields(found[1])[1:]); wrong != "" {
				t.Errorf("%s: %s: %s", page, found[1], wrong)
			}
		}
	}
	if seen < 250 {
		t.Errorf("only %d command lines were found", seen)
	}
}

var (
	plainWord = regexp.MustCompile(`^[a-z][a-z-]*$`)
	flagWord  = regexp.MustCompile(`^--([a-z][a-z-]*)`)
)

// wrongLine says what a command line names that there is not; empty: nothing. It ends
// at what a shell takes for itself.
func wrongLine(root *cobra.Command, words []string) string {
	cmd, named := root, false // an argument ends the names of commands
	for _, word := range words {
		if strings.ContainsAny(word[:1], "#>;&<") {
			break
		}
		if word == "--" {
			break
		}
		if flag := flagWord.FindStringSubmatch(word); flag != nil {
			cmd.InitDefaultHelpFlag()
			if cmd.Flags().Lookup(flag[1]) == nil {
				return cmd.CommandPath() + " has no flag --" + flag[1]
			}
			named = true
			continue
		}
		if named || !plainWord.MatchString(word) {
			named = true
			continue
		}
		if next, _, err := cmd.Find([]string{word}); err == nil && next != cmd {
			cmd = next
			continue
		}
		if cmd == root && !mistaken[word] || cmd != root && cmd.HasSubCommands() {
			return cmd.CommandPath() + " has no command " + word
		}
		named = true
	}
	return ""
}

// TestWrongLinesAreSeen.
func TestWrongLinesAreSeen(t *testing.T) {
	root := newRoot(testcli.World(t, nil))
	for line, wrong := range map[string]bool{
		"post --agent a hello": false, "posts --agent a": true, "post --agents a": true, "app claim x --wait 60": false,
		"app claims x --wait 60": true, "room lists": true, "stop # --nothing": false, "app notify -- other --flag": false,
	} {
		if got := wrongLine(root, strings.Fields(line)); (got != "") != wrong {
			t.Errorf("%s: %q", line, got)
		}
	}
}
