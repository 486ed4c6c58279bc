package hook

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"hubcli/hub"
	"hubcli/internal/require"
)

// prompts is a world whose hooks may wait for the operator.
func prompts(t *testing.T) (w *world, given *time.Duration) {
	w, given = begun(t), new(time.Duration)
	w.Longer = func(d time.Duration) (context.Context, context.CancelFunc) {
		*given = d
		return context.WithTimeout(t.Context(), time.Minute)
	}
	w.hub.calls = nil
	return w, given
}

func bash(command string) string {
	b, err := json.Marshal(command)
	if err != nil {
		panic(err)
	}
	return `{` + session + `,"hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":` + string(b) + `,"description":"x"}}`
}

const (
	allowJSON = `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}`
	denyJSON  = `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"The operator of the hub denies this (Eva). not on Fridays"}}}`
)

// TestPermissionIsDecided: a decision of the hub is printed in the form of Claude Code and
// Codex; whatever else comes is silence, and the harness asks its user.
func TestPermissionIsDecided(t *testing.T) {
	id := hub.AskID("ask_1")
	open := hub.Permission{Verdict: hub.PermissionAsk, AskID: &id, WaitSec: 20}
	allow, deny := hub.Permission{Verdict: hub.PermissionAllow}, hub.Permission{Verdict: hub.PermissionDeny, By: "Eva", Reason: "not on\nFridays"}
	request, prompt, await, works := "request "+string(agent)+" Bash", "turn "+string(agent)+" at_prompt Bash", "await "+string(agent)+" ask_1 20", "turn "+string(agent)+" working "
	for _, tt := range []struct {
		name     string
		verdicts []hub.Permission
		fails    string
		want     string
		calls    []string
	}{
		{"a rule allows", []hub.Permission{allow}, "", allowJSON, []string{request}},
		{"a rule denies", []hub.Permission{deny}, "", denyJSON, []string{request}},
		{"the operator allows", []hub.Permission{open, allow}, "", allowJSON, []string{request, prompt, await, works}},
		{"the operator denies", []hub.Permission{open, deny}, "", denyJSON, []string{request, prompt, await, works}},
		{"nobody answers", []hub.Permission{open, {Verdict: hub.PermissionNone}}, "", "", []string{request, prompt, await}},
		{"it is off", []hub.Permission{{Verdict: hub.PermissionNone}}, "", "", []string{request, prompt}},
		{"another verdict", []hub.Permission{{Verdict: "perhaps"}}, "", "", []string{request, prompt}},
		{"no question", []hub.Permission{{Verdict: hub.PermissionAsk}}, "", "", []string{request, prompt}},
		{"an older hub", []hub.Permission{allow}, "request", "", []string{request, prompt}},
		{"the hub ends", []hub.Permission{open, allow}, "await", "", []string{request, prompt, await}},
	} {
		for _, h := range []hub.Harness{hub.HarnessClaudeCode, hub.HarnessCodex} {
			t.Run(tt.name+" "+string(h), func(t *testing.T) {
				w, given := prompts(t)
				w.Flag, w.hub.verdicts = string(h), slices.Clone(tt.verdicts)
				if tt.fails != "" {
					w.hub.fails[tt.fails] = errors.New("cut")
				}
				want := Answer{Stdout: tt.want}
				if tt.want == "" {
					want = formOf(h).silence()
				}
				if got := w.Run(t.Context(), Permission, []byte(bash("git push"))); got != want {
					t.Errorf("it says %+v, want %+v", got, want)
				}
				w.asked(t, append([]string{"info"}, tt.calls...)...)
				if waits := len(tt.calls) > 2; waits != (*given == 22*time.Second) {
					t.Errorf("the hook takes %s", *given)
				}
			})
		}
	}
}

// TestPermissionOfOtherHarnesses: where nobody knows how the harness reads a decision, or
// the payload was cut, the hub is not asked for one.
func TestPermissionOfOtherHarnesses(t *testing.T) {
	for name, tt := range map[string]struct {
		flag    hub.Harness
		payload string
	}{
		"Qwen Code": {hub.HarnessQwenCode, bash("git push")}, "an unknown one": {hub.HarnessGeneric, bash("git push")},
		"cut": {hub.HarnessClaudeCode, strings.TrimSuffix(bash("git push"), "}")}, "no tool": {hub.HarnessClaudeCode, `{` + session + `}`},
	} {
		w, _ := prompts(t)
		w.Flag, w.hub.verdicts = string(tt.flag), []hub.Permission{{Verdict: hub.PermissionAllow}}
		if got := w.Run(t.Context(), Permission, []byte(tt.payload)); got != formOf(tt.flag).silence() || len(w.hub.verdicts) == 0 {
			t.Errorf("%s: it says %+v, and the hub was asked %q", name, got, w.hub.calls)
		}
	}
}

// TestPromptOfATool: the hub learns the command as it is, and of a file only what is
// certain. What is not certain is marked.
func TestPromptOfATool(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	inside, link := filepath.Join(top, "app", "a"), filepath.Join(top, "app", "link")
	require.NoError(t, os.MkdirAll(filepath.Dir(inside), 0o700))
	require.NoError(t, os.Symlink(top, link))
	ask := func(tool, input string) hub.PermissionInput {
		w, _ := prompts(t)
		w.Flag = "claude-code"
		w.Run(t.Context(), Permission, []byte(`{`+session+`,"tool_name":"`+tool+`","tool_input":`+input+`}`))
		return w.hub.prompt
	}
	for input, want := range map[string]string{
		`{"command":"git push"}`: "git push", `{"command":"a\nb","timeout":5}`: "a\nb", `{"command":["git","push"]}`: "git push\n", `{"command":""}`: "",
		`{"command":"` + strings.Repeat("x", hub.MaxPermissionCommand+1) + `"}`: strings.Repeat("x", hub.MaxPermissionCommand-1) + "\n",
	} {
		if in := ask("Bash", input); in.Command == nil || *in.Command != want || in.Unclear || in.Folder != "/work/app" {
			t.Errorf("%.50s: %+v", input, in)
		}
	}
	if in := ask("Bash", `{"command":"x","dangerouslyDisableSandbox":true}`); !in.Unclear {
		t.Errorf("with a member that is unknown: %+v", in)
	}
	for input, want := range map[string][2]string{
		`{"file_path":"` + inside + `","offset":3}`:              {inside, inside},
		`{"file_path":"` + link + `/b"}`:                         {link + "/b", filepath.Join(top, "b")},
		`{"file_path":"` + filepath.Dir(inside) + `/link/../b"}`: {}, `{"file_path":"a"}`: {}, `{"file_path":"~/a"}`: {}, `{"file_path":" ` + inside + `"}`: {}, `{}`: {},
	} {
		if in := ask("Read", input); in.File != want[0] || in.RealFile != want[1] || in.Unclear || in.Command != nil {
			t.Errorf("%s: %+v", input, in)
		}
	}
	if in := ask("Read", `{"file_path":"/a","root":"/"}`); !in.Unclear {
		t.Errorf("with a member that is unknown: %+v", in)
	}
	if in := ask("Glob", `{"path":"/work","pattern":"../*"}`); in.File != "" || !slices.Contains(in.Files, "/work") || in.About != `{"path":"/work","pattern":"../*"}` {
		t.Errorf("another tool: %+v", in)
	}
	if in := ask("apply_patch", `{"command":"*** Begin Patch\n*** Update File: x/y\n"}`); in.Command != nil || !slices.Contains(in.Files, "/work/app/x/y") || in.About != "x/y" {
		t.Errorf("a patch: %+v", in)
	}
}

// TestPromptIsShownSafely: no secret reaches the store, no character is hidden, and no part
// of a command hides behind a mask or a cut.
func TestPromptIsShownSafely(t *testing.T) {
	for text, want := range map[string]string{
		"git push origin main":                                  "git push origin main",
		"curl -H 'Authorization: Bearer abcdef123'":             "curl -H 'Authorization: Bearer " + masked + "'",
		"API_TOKEN=abcdef123 x; rm -rf /":                       "API_TOKEN=" + masked + " x; rm -rf /",
		"x --password hunter22 && y":                            "x --password " + masked + " && y",
		"git clone https://u:hunter2@example.org/r":             "git clone https://u:" + masked + "example.org/r",
		"echo ghp_abcdefghijklmnop1234":                         "echo " + masked,
		"echo shpat_0123456789abcdef0123456789abcdef; rm -rf /": "echo " + masked + "; rm -rf /",
		"token=abcd;rm -rf /":                                   "token=" + masked + ";rm -rf /",
		"token=$(rm -rf /)":                                     "token=$(rm -rf /)",
		"token='a b'; x":                                        "token='a b'; x",
		"a\u202eb\u200bc\x1b[2J":                                "a\u202eb\u200bc\x1b[2J",
	} {
		if got := shown(text); got != want {
			t.Errorf("%q is shown as %q", text, got)
		}
	}
	long := shown(strings.Repeat("ä", hub.MaxPermissionAbout+1))
	if len([]rune(long)) != hub.MaxPermissionAbout || !strings.HasSuffix(long, cut) {
		t.Errorf("a long text has %d characters", len([]rune(long)))
	}
}
