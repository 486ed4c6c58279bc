package cli

import (
	"strings"
	"testing"

	"hubcli/hub"
	"hubcli/internal/testcli"
)

// TestCompletionOffersValues: what shells are told when they ask for the next word.
// The last line of an answer says whether they may offer files: :0 files, :4
// nothing, :16 folders. The scripts leave out what does not begin as the word does.
func TestCompletionOffersValues(t *testing.T) {
	var harnesses string
	for _, h := range hub.Harnesses() {
		harnesses += string(h) + "\n"
	}
	for line, want := range map[string]string{
		"adapter install |":             harnesses + ":4",
		"adapter install codex |":       ":4",
		"adapter install --scope |":     "global\nproject\n:4",
		"adapter install --path |":      ":16",
		"join --harness |":              harnesses + ":4",
		"smoke-agent --role |":          "smoke-a\nsmoke-b\nsmoke-c\n:4",
		"smoke-agent --transport=|":     "http\nrelay\n:4",
		"invite list --state |":         "active\nexhausted\nexpired\nrevoked\n:4",
		"post --agent |":                ":4",
		"post |":                        ":4",
		"room bind |":                   ":4",
		"room locks |":                  "warn\nrefuse\n:4",
		"room locks ops |":              "warn\nrefuse\n:4",
		"watch --until |":               "for-me\ntask-ready\nanswered:\ntasks-complete:\nrun-complete:\nmessage-from:\nseat-idle:\n:4",
		"room bind ops |":               ":16",
		"resolve |":                     ":16",
		"artifact add --file |":         ":0",
		"hook s|":                       "session-start\nprompt\ntool\nbefore-edit\nbefore-call\nbefore-commit\npermission\nown-tool\nnotice\nsubagent-start\nsubagent-stop\nstop\nfailure\ncompact\ntask-created\ntask-completed\nsession-end\n:4",
		"--storage |":                   ":16",
		"app st|":                       "start\tStart the hub of this machine in the background\nstatus\tShow how the running hub is doing\nstop\tStop the running hub; the same as hubcli stop\n:4",
		"adapter verify claude-code x|": ":4",
	} {
		typed, _ := strings.CutSuffix(line, "|")
		got := runIn(t, testcli.World(t, map[string]string{"HUB_BASE_URL": "http://127.0.0.1:1"}), append([]string{"__complete"}, strings.Split(typed, " ")...)...)
		if got.exit != 0 || strings.TrimSuffix(got.stdout, "\n") != want {
			t.Errorf("hubcli %s offers %q (exit %d, %s), want %q", line, got.stdout, got.exit, got.stderr, want)
		}
	}
}

// TestCompletionScripts: each shell gets its script, and no other command is needed.
func TestCompletionScripts(t *testing.T) {
	for shell, sign := range map[string]string{
		"bash": "complete -o default", "zsh": "#compdef hubcli", "fish": "complete -c hubcli", "powershell": "Register-ArgumentCompleter",
	} {
		got := runIn(t, testcli.World(t, nil), "completion", shell)
		if got.exit != 0 || got.stderr != "" || !strings.Contains(got.stdout, sign) {
			t.Errorf("completion %s: exit %d, stderr %q, %d bytes without %q", shell, got.exit, got.stderr, len(got.stdout), sign)
		}
	}
}
