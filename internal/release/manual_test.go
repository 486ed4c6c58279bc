package main

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hubcli/internal/require"
)

// TestGeneratedFromTheCommandTree: every command has a page, with all flags that its
// help shows, and every shell has its completions.
func TestGeneratedFromTheCommandTree(t *testing.T) {
	s := at(root, "").source
	files, err := generate(s)
	require.NoError(t, err)
	texts := map[string]string{}
	for _, f := range files {
		texts[f.path] = string(f.data)
	}
	for path, signs := range map[string][]string{
		"man/man1/hubcli.1": {
			`.TH "HUBCLI" 1 "2026-11-22" "hubcli 0.1.0" "hubcli"`, `\fBhubcli\-ensure\fR(1)`, `\fB\-\-port\fR`, "(default 6969)",
			".SH EXIT STATUS\n" + roff(exitCodes),
		},
		"man/man1/hubcli-adapter-install.1": {`hubcli\-adapter\-install \- Set the hub up in a harness`, `\fBhubcli adapter install\fR <harness> [flags]`, `\fB\-y\fR, \fB\-\-yes\fR`, `\fBhubcli\-adapter\fR(1)`},
		"completions/hubcli.bash":           {"__start_hubcli"},
		"completions/_hubcli":               {"#compdef hubcli"},
		"completions/hubcli.fish":           {"complete -c hubcli"},
		"completions/hubcli.ps1":            {"Register-ArgumentCompleter"},
	} {
		for _, sign := range signs {
			if !strings.Contains(texts[path], sign) {
				t.Errorf("%s lacks %q:\n%.1500s", path, sign, texts[path])
			}
		}
	}
	for path, text := range texts {
		if strings.HasPrefix(path, "man/") && (strings.Contains(path, "completion") || strings.Contains(text, `\-\-log\-file`)) {
			t.Errorf("%s shows what help hides", path)
		}
	}
	again, err := generate(s)
	if err != nil || !slices.EqualFunc(files, again, func(a, b file) bool { return a.path == b.path && string(a.data) == string(b.data) }) {
		t.Errorf("a second run makes other files (%v)", err)
	}
	if page := readFile(t, filepath.Join(root, "docs", "commands.md")); !strings.Contains(strings.Join(strings.Fields(page), " "), exitCodes) {
		t.Errorf("docs/commands.md has other exit codes than the man pages: %s", exitCodes)
	}
}

// TestBashReadsItsCompletions: the script is one that bash understands.
func TestBashReadsItsCompletions(t *testing.T) {
	bash, err := exec.LookPath("bash")
	require.NoError(t, err)
	files, err := generate(at(root, "").source)
	require.NoError(t, err)
	i := slices.IndexFunc(files, func(f file) bool { return f.path == "completions/hubcli.bash" })
	cmd := exec.CommandContext(t.Context(), bash, "-n")
	cmd.Stdin = strings.NewReader(string(files[i].data))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("bash does not read it: %v\n%s", err, out)
	}
}

func TestRoffKeepsText(t *testing.T) {
	for text, want := range map[string]string{
		"a-b":           `a\-b`,
		".hub\n'x' y":   "\\&.hub\n\\&'x' y",
		`C:\hub\app.db`: `C:\ehub\eapp.db`,
	} {
		if got := roff(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
