package cli

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/internal/testcli"
)

// TestBodies: where the text of a message may come from, and what is refused.
func TestBodies(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	long := strings.Repeat("x", opt.MostBodyChars*4+1)
	const whole = "give the text of the message"
	for _, tt := range []struct {
		name, stdin string
		args        []string
		body, fails string
		exit        int
	}{
		{name: "argument", args: []string{"hi\n"}, body: "hi\n"},
		{name: "stdin", stdin: "one\ntwo\n", args: []string{"-"}, body: "one\ntwo"},
		{name: "stdin of Windows", stdin: "one\r\n", args: []string{"-"}, body: "one"},
		{name: "stdin as a file", stdin: "one", args: []string{"--body-file", "-"}, body: "one"},
		{name: "file", args: []string{"--body-file", write("f", "in a file\n\n")}, body: "in a file\n"},
		{name: "both", args: []string{"--body-file", "-", "x"}, exit: 2, fails: `the message has two bodies, "x" and that of --body-file` + "\nfix: leave the argument or --body-file out"},
		{name: "neither", exit: 2, fails: "hubcli post needs its argument body\nfix: see: hubcli post --help"},
		{name: "no name", args: []string{"--body-file="}, exit: 2, fails: "--body-file cannot be empty\nfix: name a file, or - for standard input"},
		{name: "no file", args: []string{"--body-file", dir + "/none"}, exit: 2, fails: "stat " + dir + "/none: no such file or directory\nfix: name a file that can be read"},
		{name: "a folder", args: []string{"--body-file", dir}, exit: 2, fails: dir + " is not a regular file\nfix: name a regular file, or use - and a pipe"},
		{name: "nothing", args: []string{"-"}, exit: 2, fails: "the body cannot be empty\nfix: " + whole},
		{name: "blank", args: []string{" \t\n\u2003"}, exit: 2, fails: "the body cannot be blank: it has only white space\nfix: " + whole},
		{name: "blank stdin", stdin: "\n \n\n", args: []string{"-"}, exit: 2, fails: "the body cannot be blank: it has only white space\nfix: " + whole},
		{name: "no text", stdin: "\xff", args: []string{"-"}, exit: 2, fails: "the body is not valid UTF-8\nfix: give the text as UTF-8"},
		{name: "endless", stdin: long, args: []string{"-"}, exit: 2, fails: "the body has more than 4000000 characters, the most that any hub takes\nfix: keep it with hubcli artifact add, and post its id"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := testcli.HubOf(t, map[string][]string{
				"POST /v1/sessions": {registered},
				"POST /v1/messages": {`{"ok":true,"result":{"id":1,"channel":"general","kind":"chat","to_agent":null}}`},
			})
			env := testcli.World(t, nil)
			env.Stdin = strings.NewReader(tt.stdin)
			got := runIn(t, env, append([]string{"post", "--agent", "a", "--base-url", s.URL}, tt.args...)...)
			if tt.fails != "" {
				if want := (ran{tt.exit, "", "hubcli: " + tt.fails + "\n"}); got != want || len(s.Asked) > 0 {
					t.Errorf("got %+v, asked %q, want %+v", got, s.Asked, want)
				}
				return
			}
			want := `,"body":"` + strings.ReplaceAll(tt.body, "\n", `\n`) + `"}`
			if got.exit != 0 || len(s.Asked) != 2 || !strings.HasSuffix(s.Asked[1], want) {
				t.Errorf("got %+v, asked %q, want the end %s", got, s.Asked, want)
			}
		})
	}
}

// TestAnInterruptEndsTheWaitForStdin, of every command that reads it.
func TestAnInterruptEndsTheWaitForStdin(t *testing.T) {
	for _, line := range []string{"post --agent a -", "artifact add --room r_1 --title t --kind k --file -"} {
		stdin, end := io.Pipe()
		ctx, cancel := context.WithCancelCause(t.Context())
		env := testcli.World(t, nil)
		var stdout, stderr strings.Builder
		env.Stdin, env.Stdout, env.Stderr = stdin, &stdout, &stderr
		go func() {
			_, _ = end.Write([]byte("begun")) // returns when the command reads
			cancel(term.ErrInterrupted)
		}()
		exit := Run(ctx, env, strings.Fields(line))
		if exit != term.ExitInterrupted || stderr.String() != "hubcli: interrupted\n" {
			t.Errorf("%s: exit %d, stderr %q", line, exit, stderr.String())
		}
		_ = end.Close()
	}
}
