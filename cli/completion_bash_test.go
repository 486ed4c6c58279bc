//go:build unix

package cli

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hubcli/internal/require"
	"hubcli/internal/testcli"
)

// TestBashCompletesAlone: the script works in a bash that has loaded nothing else.
func TestBashCompletesAlone(t *testing.T) {
	bash, err := exec.LookPath("bash")
	require.NoError(t, err)
	script := runIn(t, testcli.World(t, nil), "completion", "bash")
	if script.exit != 0 || script.stderr != "" {
		t.Fatalf("exit %d, %s", script.exit, script.stderr)
	}
	const rest = `
hubcli() { printf '%s|' "$@" >asked; printf '%b' "$ANSWER"; }
compopt() { :; }
COMP_TYPE=9; COMP_POINT=${#COMP_LINE}; COMP_WORDBREAKS=$' \t\n"'"'"'><=;|&(:'
__start_hubcli
printf '%s\n' "${COMPREPLY[@]}"
`
	dir := t.TempDir()
	for _, folder := range []string{"one", "two"} {
		if err := os.Mkdir(filepath.Join(dir, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct{ line, asks, answer, want string }{
		{"hubcli ", "__complete||", `post\tsay\npoll\tread\n:4\n`, "post (say) poll (read)"},
		{"hubcli po", "__complete|po|", `post\npoll\n:4\n`, "post poll"},
		{"hubcli post --to dev", "__complete|post|--to|dev|", `dev-a\tDev A\ndev-b\n:4\n`, "dev-a (Dev A) dev-b"},
		{"hubcli post --to=dev-a", "__complete|post|--to=dev-a|", `dev-a\n:4\n`, "dev-a"},
		{"hubcli watch --until message-from:de", "__complete|watch|--until|message-from:de|", `message-from:dev-a\n:4\n`, "dev-a"},
		{`hubcli post --agent "a b" --to dev-a`, "__complete|post|--agent|a b|--to|dev-a|", `dev-a\n:4\n`, "dev-a"},
		{"hubcli resolve ", "__complete|resolve||", `:16\n`, "one two"},
		{"hubcli resolve t", "__complete|resolve|t|", `:16\n`, "two"},
	} {
		cmd := exec.Command(bash, "--norc", "--noprofile", "-c", script.stdout+rest)
		cmd.Dir = dir
		cmd.Env = []string{"COMP_LINE=" + tt.line, "ANSWER=" + tt.answer, "COLUMNS=80", "PATH=/usr/bin:/bin"}
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		err := cmd.Run()
		if got := strings.Join(strings.Fields(stdout.String()), " "); err != nil || got != tt.want || stderr.Len() > 0 {
			t.Errorf("%s: %q, %v, %s, want %q", tt.line, got, err, stderr.String(), tt.want)
		}
		if asked := read(t, filepath.Join(dir, "asked")); asked != tt.asks {
			t.Errorf("%s asks %s, want %s", tt.line, asked, tt.asks)
		}
	}
}
