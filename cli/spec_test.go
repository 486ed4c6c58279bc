package cli

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"hubcli/internal/require"
	"hubcli/internal/testcli"
	"hubcli/internal/testfeature"
)

// The specification of the command line is prose in tables. testdata/spec.txt holds what it
// says in lines, one for each command, flag and argument:
//
//	command <path>
//	flag <path> --<name> <default or -> <required or ->
//	argument <path> <name> <required or ->
//
// Where the specification itself is there, the lines are compared with it.

// notYet are commands of the specification that the program does not have yet. A command
// that is there must not be among them.
var notYet = []string{}

// elsewhere are required flags and arguments that another source may replace; each says
// which one. They need not be given, but the command can be called as is specified.
var elsewhere = map[string]string{
	"watch --until":           "the condition for-me",
	"room create --project":   "the bound folder",
	"room list --project":     "the bound folder",
	"decision add --room":     "the bound folder",
	"artifact add --room":     "the bound folder",
	"invite create --project": "the bound folder",
	"invite create --room":    "the bound folder",
}

// specification finds the specification beside the working copy.
func specification(t *testing.T) string {
	t.Helper()
	for _, dir := range []string{"../../shared", "../../../shared"} {
		if text, err := os.ReadFile(filepath.Join(dir, "SPEC.md")); err == nil {
			return string(text)
		}
	}
	return ""
}

func specLines(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "spec.txt"))
	require.NoError(t, err)
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

// TestSpecLinesAreTheSpecification: the lines say what the specification says.
func TestSpecLinesAreTheSpecification(t *testing.T) {
	text := specification(t)
	if text == "" {
		t.Skip("needs the specification beside this working copy; its lines in testdata are used as they are")
	}
	want := readSpecification(text)
	if os.Getenv("UPDATE_SPEC") != "" {
		require.NoError(t, os.WriteFile(filepath.Join("testdata", "spec.txt"), []byte(strings.Join(want, "\n")+"\n"), 0o600))
	}
	got := specLines(t)
	for _, line := range want {
		if !slices.Contains(got, line) {
			t.Errorf("testdata/spec.txt lacks the line %q", line)
		}
	}
	for _, line := range got {
		if !slices.Contains(want, line) {
			t.Errorf("the specification does not say %q", line)
		}
	}
}

// TestProgramHasWhatIsSpecified: each command, flag and argument of the specification is
// there, with its default, and required where it must be.
func TestProgramHasWhatIsSpecified(t *testing.T) {
	testfeature.Need(t, testfeature.All()...)
	root := newRoot(testcli.World(t, nil))
	top, missing := 0, map[string]bool{}
	for _, line := range specLines(t) {
		parts := strings.Split(line, "\t")
		kind, path := parts[0], parts[1]
		if cmd, _, err := root.Find([]string{strings.Fields(path + " .")[0]}); path != "." && (err != nil || cmd == root) {
			missing[strings.Fields(path)[0]] = true
			continue
		}
		cmd := commandAt(root, path)
		if cmd == nil {
			t.Errorf("there is no command %q", path)
			continue
		}
		switch kind {
		case "command":
			if path != "." && !strings.Contains(path, " ") {
				top++
			}
		case "flag":
			checkSpecFlag(t, cmd, path, parts[2], parts[3], parts[4])
		case "argument":
			checkSpecArgument(t, cmd, path, parts[2], parts[3])
		}
	}
	for _, name := range notYet {
		if !missing[name] {
			t.Errorf("%s is there now: it must not be among those that are not yet", name)
		}
		delete(missing, name)
	}
	for name := range missing {
		t.Errorf("there is no command %q", name)
	}
	if want := 26 - len(notYet); top != want {
		t.Errorf("%d commands of the specification are there, want %d", top, want)
	}
	connections, _, err := root.Find([]string{"connections"})
	if here := err == nil && connections != root; here != !slices.Contains(notYet, "connection") {
		t.Errorf("the alias connections is there: %v", here)
	}
}

// commandAt finds a command by its path; "." is the root.
func commandAt(root *cobra.Command, path string) *cobra.Command {
	if path == "." {
		return root
	}
	cmd, rest, err := root.Find(strings.Fields(path))
	if err != nil || len(rest) > 0 || cmd == root || cmd.CommandPath() != "hubcli "+path {
		return nil
	}
	return cmd
}

func checkSpecFlag(t *testing.T, cmd *cobra.Command, path, name, value, required string) {
	t.Helper()
	f := cmd.LocalFlags().Lookup(strings.TrimPrefix(name, "--"))
	if f == nil || f.Hidden {
		t.Errorf("hubcli %s has no flag %s", path, name)
		return
	}
	if name == "--yes" && f.Shorthand != "y" {
		t.Errorf("hubcli %s has no -y", path)
	}
	switch value {
	case "-": // the specification names none
	case "app.db": // in the data root, which is known when the command runs
		if f.DefValue != "" || !strings.Contains(f.Usage, "app.db") {
			t.Errorf("hubcli %s %s defaults to %q (%s), want app.db in the data root", path, name, f.DefValue, f.Usage)
		}
	default:
		if f.DefValue != value {
			t.Errorf("hubcli %s %s defaults to %q, want %q", path, name, f.DefValue, value)
		}
	}
	must := strings.Contains(f.Usage, "(required")
	if want := required == "required" && elsewhere[path+" "+name] == ""; must != want {
		t.Errorf("hubcli %s %s: required %v, want %v", path, name, must, want)
	}
}

func checkSpecArgument(t *testing.T, cmd *cobra.Command, path, name, required string) {
	t.Helper()
	if cmd.Args == nil {
		t.Errorf("hubcli %s checks no arguments", path)
		return
	}
	if err := cmd.Args(cmd, []string{"stop"}); err != nil {
		t.Errorf("hubcli %s takes no argument %s: %v", path, name, err)
	}
	must := cmd.Args(cmd, nil) != nil
	if want := required == "required" && elsewhere[path+" "+name] == ""; must != want {
		t.Errorf("hubcli %s: the argument %s is required: %v, want %v", path, name, must, want)
	}
}

// readSpecification reads section 4.2 and the list of commands.
func readSpecification(text string) []string {
	set := map[string]bool{}
	for _, row := range tableRows(partOf(text, "### Top-level commands", "## 2.")) {
		name, _, _ := strings.Cut(row[0], " ")
		set["command\t"+name] = true
	}
	section := partOf(text, "### 4.2", "### 4.3")
	for part := range strings.SplitSeq(section, "\n#### ") {
		title, body, _ := strings.Cut(part, "\n")
		rows := tableRows(body)
		header := headerOf(body)
		if header == "Flag" || header == "Option" {
			readFlagTable(set, cmp.Or(map[bool]string{true: "."}[strings.HasPrefix(title, "Bare")], title), rows, strings.Contains(body, "| Required |"))
			continue
		}
		for _, row := range rows {
			set["command\t"+row[0]] = true
			readOptions(set, row[0], row[1])
		}
	}
	return slices.Sorted(func(yield func(string) bool) {
		for line := range set {
			if !yield(line) {
				return
			}
		}
	})
}

func partOf(text, from, to string) string {
	_, rest, _ := strings.Cut(text, from)
	found, _, _ := strings.Cut(rest, to)
	return found
}

func headerOf(body string) string {
	for line := range strings.Lines(body) {
		if strings.HasPrefix(line, "| ") {
			return strings.TrimSpace(strings.Split(line, "|")[1])
		}
	}
	return ""
}

// tableRows returns the cells of a table without its header.
func tableRows(body string) (rows [][]string) {
	seen := 0
	for line := range strings.Lines(body) {
		if !strings.HasPrefix(line, "|") {
			continue
		}
		if seen++; seen <= 2 {
			continue
		}
		var cells []string
		for cell := range strings.SplitSeq(strings.Trim(strings.TrimSpace(line), "|"), "|") {
			cells = append(cells, strings.TrimSpace(cell))
		}
		rows = append(rows, cells)
	}
	return rows
}

// readFlagTable reads a table with a row for each flag of one command.
func readFlagTable(set map[string]bool, path string, rows [][]string, hasRequired bool) {
	for _, row := range rows {
		value, required := row[2], "-"
		if hasRequired {
			value = row[3]
			if row[2] == "yes" {
				value, required = "-", "required"
			}
		}
		addFlag(set, path, row[0], specDefault(value, row[1]), required)
	}
}

func addFlag(set map[string]bool, path, name, value, required string) {
	set[strings.Join([]string{"flag", path, name, value, required}, "\t")] = true
}

// specDefault is a default as the program prints it.
func specDefault(text, kind string) string {
	text = strings.Trim(text, "` ")
	switch {
	case strings.HasSuffix(text, "app.db"):
		return "app.db"
	case text == "local hub address":
		return "http://127.0.0.1:6969"
	case text == "none" || text == "" || text == "-":
		return map[bool]string{true: "false", false: "-"}[kind == "flag"]
	}
	return text
}

var (
	aFlag      = regexp.MustCompile(`--[a-z][a-z-]*`)
	aArgument  = regexp.MustCompile(`^(optional )?positional ([a-z]+)`)
	aNumber    = regexp.MustCompile(`^(?:(?:int|float), )?(\d+(?:\.\d+)?)$`)
	aDefault   = regexp.MustCompile("(?:^|[;,] )default `?([^ ;,`]+)`?")
	emptyWords = []string{"the", "empty", "current"}
)

// readOptions reads the cell with the options of one command.
func readOptions(set map[string]bool, path, text string) {
	for item := range itemsOf(text) {
		outside, inside := item[0], item[1]
		required := "-"
		if regexp.MustCompile(`(^|[;,] )required($|[;,])`).MatchString(inside) {
			required = "required"
		}
		if m := aArgument.FindStringSubmatch(outside); m != nil {
			must := "required"
			if m[1] != "" || required == "-" && strings.Contains(inside, "default") {
				must = "-"
			}
			set[strings.Join([]string{"argument", path, m[2], must}, "\t")] = true
			continue
		}
		for _, name := range aFlag.FindAllString(outside, -1) {
			addFlag(set, path, name, writtenDefault(name, inside), required)
		}
	}
}

// writtenDefault is what the words behind a flag say of its default.
func writtenDefault(name, inside string) string {
	switch name {
	case "--host":
		return "127.0.0.1"
	case "--port":
		return "6969"
	case "--base-url":
		return "http://127.0.0.1:6969"
	case "--json", "--yes", "--allow-remote", "--quiet", "--verbose":
		return "false"
	}
	if m := aNumber.FindStringSubmatch(inside); m != nil {
		return m[1]
	}
	if first, _, _ := strings.Cut(inside, ","); aNumber.MatchString(inside) || strings.HasPrefix(first, ".") {
		return first
	}
	for _, m := range aDefault.FindAllStringSubmatch(inside, -1) {
		if !slices.Contains(emptyWords, m[1]) {
			return specDefault(m[1], "")
		}
	}
	if m := regexp.MustCompile(`^(?:float|int), (\d+(?:\.\d+)?)`).FindStringSubmatch(inside); m != nil {
		return m[1]
	}
	if strings.HasPrefix(inside, "flag") {
		return "false"
	}
	return "-"
}

// itemsOf cuts a cell into its items: the words of each, and those in brackets behind them.
// The sentences after the last item belong to none.
func itemsOf(text string) func(func([2]string) bool) {
	return func(yield func([2]string) bool) {
		depth, start, open := 0, 0, -1
		for i, r := range text + ";" {
			end := depth == 0 && (r == ';' || r == ',' || r == '.' && strings.HasPrefix(text[i:], ". "))
			switch {
			case r == '(':
				if depth++; open < 0 {
					open = i
				}
			case r == ')':
				depth--
			case end:
				outside, inside := text[start:min(i, len(text))], ""
				if open >= 0 {
					inside = strings.TrimSuffix(strings.TrimSpace(text[open+1:min(i, len(text))]), ")")
					inside, _, _ = strings.Cut(inside, ") ")
					outside = text[start:open]
				}
				if !yield([2]string{strings.TrimSpace(outside), inside}) || r == '.' {
					return
				}
				start, open = i+1, -1
			}
		}
	}
}
