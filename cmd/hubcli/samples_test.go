//go:build unix

package main

import (
	"bufio"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"hubcli/internal/require"
)

// shown is a command of a console sample and what the page says that it prints.
type shown struct{ command, output string }

func shownIn(block string) []shown {
	var all []shown
	more := false // the line before ended in a backslash
	for line := range strings.Lines(block) {
		command, begins := strings.CutPrefix(line, "$ ")
		switch {
		case begins:
			all = append(all, shown{command: command})
		case more:
			all[len(all)-1].command += line
		case len(all) > 0:
			all[len(all)-1].output += line
		}
		more = (begins || more) && strings.HasSuffix(line, "\\\n")
	}
	return all
}

// sampleIDs are the ids of a page with those that the hub has given instead. A sample
// that shows an id once more means the same thing.
type sampleIDs map[string]string

var (
	sampleID = regexp.MustCompile(`\b(?:p|r|ask|run|i|d|a|sp|cn)_[0-9a-z]+\b`)
	// What differs from one run to the next: ids, times of day, ages, and so the width
	// of columns.
	varies = regexp.MustCompile(sampleID.String() + `|\d{4}-\d\d-\d\dT[\d:.]+Z|\d\d:\d\d:\d\d|\b\d+(?:\.\d+)? ?(?:ms|s|m|h|d)\b| {2,}|…`)
	spaces = regexp.MustCompile(`(?m) +$`)
)

// command is a command of the page with the ids of the hub.
func (ids sampleIDs) command(text string) string {
	return sampleID.ReplaceAllStringFunc(text, func(id string) string {
		if given := ids[id]; given != "" {
			return given
		}
		return id
	})
}

// match compares what a command has printed with what the page says, and learns the
// ids that are new on the page. … within a line is anything, alone in a line any number
// of lines.
func (ids sampleIDs) match(said, printed string) bool {
	var b strings.Builder
	var learned []string // by the number of the group
	b.WriteString(`\A`)
	for line := range strings.Lines(said) {
		if line == "…\n" {
			b.WriteString(`(?:.*\n)*?`)
			continue
		}
		at := 0
		for _, span := range varies.FindAllStringIndex(line, -1) {
			b.WriteString(regexp.QuoteMeta(line[at:span[0]]))
			at = span[1]
			word := line[span[0]:span[1]]
			pattern := classOf(word)
			switch {
			case pattern != "":
			case ids[word] != "":
				pattern = regexp.QuoteMeta(ids[word])
			default:
				pattern = `(` + word[:strings.LastIndex(word, "_")] + `_[0-9a-z]+)`
				learned = append(learned, word)
			}
			b.WriteString(pattern)
		}
		b.WriteString(regexp.QuoteMeta(line[at:]))
	}
	b.WriteString(`\z`)
	found := regexp.MustCompile(b.String()).FindStringSubmatch(printed)
	if found == nil {
		return false
	}
	for i, id := range learned {
		ids[id] = found[i+1]
	}
	return true
}

// classOf is the pattern of what varies and is no id.
func classOf(word string) string {
	switch {
	case word == "…":
		return `.*?`
	case strings.HasPrefix(word, "  "):
		return ` +`
	case sampleID.MatchString(word):
		return ""
	case strings.Contains(word, "T") || strings.Contains(word, ":"):
		return `[\dT:.-]+Z?`
	}
	return `\d+(?:\.\d+)? ?(?:ms|s|m|h|d)`
}

// shell is one bash that takes the commands of a page one after the other: folders and
// variables stay as they are in a reader's terminal.
type shell struct {
	in  io.WriteCloser
	out *bufio.Reader
}

// The shell reads a command up to a zero byte, and writes its output, a zero byte, its
// exit code and a line end. A command has no standard input.
const shellLoop = `while IFS= read -r -d '' line; do eval "$line" < /dev/null; printf '\0%d\n' $?; done 2>&1`

func startShell(t *testing.T, folder string, environment []string) *shell {
	t.Helper()
	bash := exec.CommandContext(t.Context(), "bash", "-c", shellLoop)
	bash.Dir, bash.Env = folder, environment
	in, err := bash.StdinPipe()
	require.NoError(t, err)
	out, err := bash.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, bash.Start())
	t.Cleanup(func() {
		_ = in.Close()
		_ = bash.Wait()
	})
	return &shell{in, bufio.NewReader(out)}
}

// run returns what a command has printed and its exit code.
func (s *shell) run(command string) (printed string, exit int, err error) {
	if _, err = fmt.Fprintf(s.in, "%s\x00", command); err != nil {
		return "", 0, err
	}
	if printed, err = s.out.ReadString(0); err != nil {
		return printed, 0, err
	}
	code, err := s.out.ReadString('\n')
	if err != nil {
		return printed, 0, err
	}
	printed = strings.TrimSuffix(printed, "\x00")
	if printed != "" && !strings.HasSuffix(printed, "\n") {
		printed += "\n"
	}
	exit, err = strconv.Atoi(strings.TrimSpace(code))
	return spaces.ReplaceAllString(printed, ""), exit, err
}

// TestSamplesAreCompared: what may differ differs, and nothing else does.
func TestSamplesAreCompared(t *testing.T) {
	for _, tt := range []struct {
		said, printed string
		want          bool
	}{
		{"made r_5 of p_4\n", "made r_i of p_h\n", true},
		{"made r_5 of p_4\n", "made r_i of r_h\n", false},
		{"made r_5 of p_4 with r_5\n", "made r_i of p_h with r_i\n", true},
		{"held 3s  by a\n", "held 14m by a\n", true},
		{"held 3s  by a\n", "held 14m by b\n", false},
		{"14:05:06 #1\n", "23:59:59 #1\n", true},
		{"14:05:06 #1\n", "23:59:59 #2\n", false},
		{"until 2026-01-02T15:04:05.678Z\n", "until 2027-11-12T01:02:03.4Z\n", true},
		{"one\n…\nlast\n", "one\na\nb\nlast\n", true},
		{"one\n…\nlast\n", "one\na\nb\n", false},
		{"in …/shop\n", "in /home/me/shop\n", true},
		{"one\n", "one\ntwo\n", false},
	} {
		ids := sampleIDs{}
		if got := ids.match(tt.said, tt.printed); got != tt.want {
			t.Errorf("%q for %q: %v", tt.printed, tt.said, got)
		}
	}
	ids := sampleIDs{}
	if !ids.match("asked ask_6\n", "asked ask_k\n") || ids.command("answer ask_6 yes") != "answer ask_k yes" || ids.match("ask_6\n", "ask_j\n") {
		t.Errorf("learned %v", ids)
	}
}
