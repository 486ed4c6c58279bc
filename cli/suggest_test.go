package cli

import (
	"regexp"
	"strings"
	"testing"

	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/internal/testcli"
	"hubcli/internal/testfeature"
)

// TestExpectedCommandsAreSuggested: each word of the table names commands that exist.
func TestExpectedCommandsAreSuggested(t *testing.T) {
	testfeature.Need(t, testfeature.All()...)
	root := newRoot(testcli.World(t, nil))
	line := regexp.MustCompile(`hubcli[a-z -]*`)
	for path, words := range opt.Expected() {
		group := strings.Fields(path)[1:]
		for word, meant := range words {
			for _, named := range line.FindAllString(meant, -1) {
				var names []string
				for _, name := range strings.Fields(strings.TrimSuffix(named, " alone in the foreground"))[1:] {
					if name == "or" || name == "and" || strings.HasPrefix(name, "--") {
						break
					}
					names = append(names, name)
				}
				if found, rest, err := root.Find(names); err != nil || len(rest) > 0 || found.CommandPath() != strings.Join(append([]string{"hubcli"}, names...), " ") {
					t.Errorf("%s %s suggests %q, which is no command", path, word, named)
				}
			}
			if found, rest, _ := root.Find(append(group, word)); len(rest) == 0 && found.CommandPath() == path+" "+word {
				continue // it has become a command
			}
			got := runIn(t, testcli.World(t, nil), append(group, strings.ToUpper(word), "--frobnicate")...)
			want := "hubcli: " + path + ` has no command "` + strings.ToUpper(word) + "\"\nfix: did you mean " + meant + "? see: " + path + " --help\n"
			if got != (ran{term.ExitUsage, "", want}) {
				t.Errorf("%s %s: %+v, want %s", path, word, got, want)
			}
		}
	}
}
