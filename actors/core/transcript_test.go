package core_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/require"
)

var rewrite = flag.Bool("rewrite", false, "write what the transcripts in testdata really give")

// runTranscripts runs the files that match pattern in testdata. A file is a row
// of blocks, a blank line between them: commands, a line of four dashes, and what
// they print. Comments and dashes apart, each line of commands goes to the
// function that begin returns for the file.
func runTranscripts(t *testing.T, pattern string, begin func(t *testing.T) func(args []string) string) {
	files, err := filepath.Glob(filepath.Join("testdata", pattern))
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts match %s: %v", pattern, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			want, err := os.ReadFile(file)
			require.NoError(t, err)
			got := playTranscript(string(want), begin(t))
			if *rewrite {
				require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
				return
			}
			if got != string(want) {
				t.Errorf("%s differs; run the test with -rewrite and look at the change. It now gives:\n%s", file, got)
			}
		})
	}
}

func playTranscript(text string, run func(args []string) string) string {
	var out strings.Builder
	for i, block := range strings.Split(strings.TrimSpace(text), "\n\n") {
		if i > 0 {
			out.WriteString("\n")
		}
		commands, _, isBlock := strings.Cut(block+"\n", "----\n")
		out.WriteString(commands)
		if !isBlock {
			continue // a comment of its own
		}
		out.WriteString("----\n")
		for line := range strings.Lines(commands) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
				out.WriteString("> " + line + "\n" + run(splitArgs(line)))
			}
		}
	}
	return out.String()
}

// splitArgs splits at blanks. What stands in double quotes or in backquotes stays
// together; the quotes go.
func splitArgs(line string) []string {
	var args []string
	var arg strings.Builder
	var quote rune
	for _, r := range line + " " {
		switch {
		case r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '`'):
			quote = r
		case quote == 0 && r == ' ':
			args = append(args, arg.String())
			arg.Reset()
		default:
			arg.WriteRune(r)
		}
	}
	return args
}

// named returns the value of name=value among args.
func named(args []string, name string) string {
	for _, a := range args {
		if v, ok := strings.CutPrefix(a, name+"="); ok {
			return v
		}
	}
	return ""
}

func number(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil && s != "" {
		panic(err)
	}
	return n
}

// show prints a draft as it was numbered.
func show(d core.Draft, at core.Position) string {
	var out strings.Builder
	for _, f := range d.Facts {
		data, err := json.Marshal(f)
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(&out, "  fact %s %s\n", strings.TrimPrefix(fmt.Sprintf("%T", f), "*core."), data)
	}
	for i, m := range d.Messages {
		to := "#" + string(m.Channel)
		if m.To != "" {
			to = "@" + string(m.To)
		}
		fmt.Fprintf(&out, "  message %d %s %s to %s", at.Message(i), m.Kind, m.From, to)
		if m.Thread != "" {
			fmt.Fprintf(&out, " in %s", m.Thread)
		}
		fmt.Fprintf(&out, ": %s", strings.ReplaceAll(m.Body, "\n", `\n`))
		if len(m.Metadata) > 0 {
			fmt.Fprintf(&out, " %s", m.Metadata)
		}
		out.WriteString("\n")
	}
	return out.String()
}

// showError prints a refusal as a client sees it.
func showError(err error) string {
	e, ok := errors.AsType[*hub.Error](err)
	if !ok {
		return "  " + err.Error() + "\n"
	}
	detail := ""
	if e.Detail != nil {
		b, err := json.Marshal(e.Detail)
		if err != nil {
			panic(err)
		}
		detail = " " + string(b)
	}
	return fmt.Sprintf("  %d %s: %s%s\n", e.Status, e.Code, e.Message, detail)
}
