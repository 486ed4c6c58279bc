package core_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/require"
)

func allowWords(tool string, words ...string) hub.PermissionRule {
	return hub.PermissionRule{Decision: hub.PermissionAllow, Tool: tool, Words: words}
}

func denyWords(tool string, words ...string) hub.PermissionRule {
	return hub.PermissionRule{Decision: hub.PermissionDeny, Tool: tool, Words: words}
}

func shell(command string) *hub.PermissionInput {
	return &hub.PermissionInput{AgentID: "dev", Tool: "Bash", Command: &command}
}

// TestAllowRuleIsNeverWidened: an allow rule matches one plain command with its words, and
// nothing that a shell reads as more.
func TestAllowRuleIsNeverWidened(t *testing.T) {
	rules := []hub.PermissionRule{allowWords("Bash", "git", "status")}
	for _, command := range []string{"git status", "  git\tstatus ", "git status --short", "git 'status'", `g"it" status 'a b'`, "git status -- a=b", "git status 'a;b'"} {
		if verdict, by := core.DecidePermission(rules, shell(command)); verdict != hub.PermissionAllow || by != "rule 1: allow Bash git status" {
			t.Errorf("%q: %s by %q", command, verdict, by)
		}
	}
	for _, command := range []string{
		"", " ", "git", "git statusx", "git stat us", "Git status", "git  Status", "/usr/bin/git status", "./git status", "git -C x status", "sudo git status",
		"git status; rm -rf /", "git status;rm x", "git status && rm x", "git status & rm x", "git status | sh", "git status || x", "git status > x", "git status < x",
		"git status $(rm x)", "git status `rm x`", "git status $HOME", "git status ${x}", "git status \"$(rm x)\"", "git status \"`rm x`\"", "git status \"$x\"",
		"git status\nrm x", "git status\r\nrm x", "git status \\\nrm x", "git status \\; rm", "git status #x", "git status *", "git status ?", "git status [a]", "git status {a,b}",
		"git status ~root", "git status !x", "git status \"!x\"", "git status =ls", "X=1 git status", "=git status", "git=1 status", "PATH=. git status", "git status 'x", "git status \"x",
		"git status \x00", "git status \x1b[2J", "git status \xff", "git status ; ", "(git status)", "{ git status; }", "! git status", "gіt status", "git\u00a0status", "git\u200b status",
		"git^status", "git status ^x", "''git status; x", "\\git status", "alias git=rm", "'' git status", "git status\u2028rm x",
		strings.Repeat("git status ", 2000),
	} {
		if verdict, by := core.DecidePermission(rules, shell(command)); verdict != hub.PermissionAsk || by != "" {
			t.Errorf("%q: %s by %q", command, verdict, by)
		}
	}
	for _, in := range []*hub.PermissionInput{{Tool: "Bash", Unclear: true, Command: shell("git status").Command}, {Tool: "bash", Command: shell("git status").Command}, {Tool: "Bash"}, {Tool: "Read", File: "/git status"}} {
		if verdict, _ := core.DecidePermission(rules, in); verdict != hub.PermissionAsk {
			t.Errorf("%+v: %s", in, verdict)
		}
	}
}

// TestDenyRuleSeesThroughWrappers: a deny rule matches a command in each part, whatever
// runs it. Where its words may be meant, a human looks, and no later rule allows.
func TestDenyRuleSeesThroughWrappers(t *testing.T) {
	rules := []hub.PermissionRule{denyWords("Bash", "git", "push"), allowWords("Bash")}
	for _, command := range []string{
		"git push", "git push origin main", "GIT PUSH", "/usr/bin/git push", "git.exe push", "git -C x push", "git -c a=b --no-pager push", "sudo git push", "sudo -u root git push",
		"env A=b git push", "A=b B=c git push", "nohup nice -n 5 git push", "timeout 5 git push", "timeout -k 1 5 git push", "command git push", "xargs -n 1 git push",
		"true; git push", "true && git push", "false || git push", "x | git push", "x & git push", "(git push)", "{ git push; }", "if true; then git push; fi", "! git push",
		"echo $(git push)", "echo `git push`", "echo \"$(git push)\"", "x=$(git push)", "git pu'sh'", "g\\it push", "'git' \"push\"", "git \\\npush", "git push > x", "> x git push",
		"bash -c 'git push'", "sh -lc \"cd x && git push\"", "sudo bash -c 'git push'", "eval git push", "eval 'git push'", "bash -c \"bash -c 'git push'\"", "cd x\ngit push", "time git push",
		"git $'push'",
	} {
		if verdict, by := core.DecidePermission(rules, shell(command)); verdict != hub.PermissionDeny || by != "rule 1: deny Bash git push" {
			t.Errorf("%q: %s by %q", command, verdict, by)
		}
	}
	for _, command := range []string{
		"git commit -m 'fix push'", "echo git push", "git log --grep push", "python -c \"run(['git', 'push'])\"", "find . -exec git push", "sudo echo git push", "git stash push",
		"echo 'git pu\"\"sh'",
	} {
		if verdict, by := core.DecidePermission(rules, shell(command)); verdict != hub.PermissionAsk || by != "" {
			t.Errorf("%q: %s by %q", command, verdict, by)
		}
	}
	for _, command := range []string{"git status", "git pull", "pushd x", "gitpush", "push git"} {
		if verdict, _ := core.DecidePermission(rules, shell(command)); verdict != hub.PermissionAllow {
			t.Errorf("%q: %s", command, verdict)
		}
	}
}

// TestRulesOfFiles: an allow rule needs the one file of the tool, and where it really is;
// a deny rule looks at every file that is named.
func TestRulesOfFiles(t *testing.T) {
	file := func(given, real string, all ...string) *hub.PermissionInput {
		return &hub.PermissionInput{Tool: "Read", File: given, RealFile: real, Files: all}
	}
	allow := []hub.PermissionRule{{Decision: hub.PermissionAllow, Tool: "Read", Path: "/work/app"}}
	for _, path := range []string{"/work/app", "/work/app/a", "/work/app/.git/config"} {
		if verdict, by := core.DecidePermission(allow, file(path, path)); verdict != hub.PermissionAllow || by != "rule 1: allow Read in /work/app" {
			t.Errorf("%s: %s by %q", path, verdict, by)
		}
	}
	for _, in := range []*hub.PermissionInput{
		file("", ""), file("/work/app/a", ""), file("/work/app/link", "/etc/passwd"), file("/work/app/../x", "/work/x"), file("/work/app/../app/x", "/work/app/x"),
		file("/work/app/x", "/work/app/../x"), file("/work/apple", "/work/apple"), file("/work/app\\x", "/work/app\\x"), file("/Work/App/x", "/Work/App/x"),
		{Tool: "Read", File: "/work/app/x", RealFile: "/work/app/x", Unclear: true},
		file("work/app/x", "work/app/x"), file("", "", "/work/app/x"), file("/work", "/work"),
		{Tool: "Write", File: "/work/app/x", RealFile: "/work/app/x"},
	} {
		if verdict, _ := core.DecidePermission(allow, in); verdict != hub.PermissionAsk {
			t.Errorf("%+v: %s", in, verdict)
		}
	}
	deny := []hub.PermissionRule{{Decision: hub.PermissionDeny, Tool: hub.AnyTool, Path: "/work/app/secret"}, {Decision: hub.PermissionAllow, Tool: hub.AnyTool}}
	for _, in := range []*hub.PermissionInput{
		file("/work/app/secret/a", "/x"), file("/link", "/work/app/secret"), file("", "", "/x", "/work/app/secret/b"), file("/work/app/x/../Secret/a", "/x"),
	} {
		if verdict, _ := core.DecidePermission(deny, in); verdict != hub.PermissionDeny {
			t.Errorf("%+v: %s", in, verdict)
		}
	}
	if verdict, _ := core.DecidePermission(deny, shell("cat sec'ret'/a")); verdict != hub.PermissionAsk {
		t.Errorf("a command that may name the folder: %s", verdict)
	}
	if verdict, _ := core.DecidePermission(deny, shell("cat public/a")); verdict != hub.PermissionAllow {
		t.Errorf("another command: %s", verdict)
	}
}

var (
	regexpQuoted = regexp.MustCompile(`'[^']*'|"[^"]*"`)
	regexpQuotes = regexp.MustCompile(`['"]`)
)

// FuzzPermission: whatever a command is, an allow rule matches only text that is made of
// its own words and harmless characters, and nothing fails.
func FuzzPermission(f *testing.F) {
	for _, seed := range []string{"git status", "git status; x", "git 'a b' \"c\"", "x=$(git push)", "sudo -u", "bash -c", "env", "-", "\\", "git \\"} {
		f.Add(seed)
	}
	allow := []hub.PermissionRule{allowWords("Bash", "git", "status")}
	deny := []hub.PermissionRule{denyWords("Bash", "git", "push"), allowWords("Bash")}
	f.Fuzz(func(t *testing.T, command string) {
		if verdict, _ := core.DecidePermission(allow, shell(command)); verdict == hub.PermissionAllow {
			outside := regexpQuoted.ReplaceAllString(command, "q")
			if strings.ContainsAny(outside, ";&|<>$`\\\n\r(){}*?[]!#~") || !slices.Equal(strings.Fields(regexpQuotes.ReplaceAllString(command, ""))[:2], []string{"git", "status"}) {
				t.Errorf("%q is allowed", command)
			}
		}
		verdict, _ := core.DecidePermission(deny, shell(command))
		if joined, _ := core.DecidePermission(deny, shell("true; "+command)); verdict == hub.PermissionDeny && joined != hub.PermissionDeny {
			t.Errorf("%q is denied alone, and %s behind another command", command, joined)
		}
	})
}

// TestPermissionPrompts: a rule decides at once and the list keeps it; otherwise a question
// is open for the wait of the policy, and its agent is told nothing.
func TestPermissionPrompts(t *testing.T) {
	r := newAskRig(t)
	in := shell("git push")
	in.About = "git push"
	permit := func() hub.Permission {
		d, err := r.asks.Permit(in, core.StandingProved, r.at.Now)
		p, err := decide(r, d, err)
		require.NoError(t, err)
		return p
	}
	if p := permit(); p.Verdict != hub.PermissionNone || p.AskID != nil || len(r.rows) != 0 {
		t.Fatalf("while it is off: %+v, %d rows", p, len(r.rows))
	}
	set := func(in hub.PermissionPolicyInput) {
		d, err := r.asks.SetPermissions(in)
		_, err = decide(r, d, err)
		require.NoError(t, err)
	}
	set(hub.PermissionPolicyInput{On: true, AnswerSec: 7})
	if _, err := r.asks.SetPermissions(hub.PermissionPolicyInput{}); codeOf(err) != hub.CodeVersionConflict {
		t.Errorf("an old version: %v", err)
	}
	for answer, want := range map[string]hub.Permission{
		"allow": {Verdict: hub.PermissionAllow}, "deny": {Verdict: hub.PermissionDeny}, "deny: use staging": {Verdict: hub.PermissionDeny, Reason: "use staging"},
	} {
		p := permit()
		if p.Verdict != hub.PermissionAsk || p.WaitSec != 7 {
			t.Fatalf("asked: %+v", p)
		}
		for _, odd := range []string{"yes", "allow: but", "no", "allowed", "1"} {
			if _, err := r.asks.Answer(*p.AskID, hub.AskAnswerInput{Answer: odd}); codeOf(err) != hub.CodeInvalid {
				t.Errorf("the answer %q: %v", odd, err)
			}
		}
		d, err := r.asks.Answer(*p.AskID, hub.AskAnswerInput{Answer: answer, By: "Ann"})
		row, err := decide(r, d, err)
		require.NoError(t, err)
		want.AskID, want.By = p.AskID, "Ann"
		if got := core.PermissionOf(&row.Ask); *got.AskID != *want.AskID || got.Verdict != want.Verdict || got.Reason != want.Reason || got.By != want.By {
			t.Errorf("%q: %+v", answer, got)
		}
	}
	left := permit()
	r.at.Now.HubMS += 7000
	_, err := decide(r, r.asks.Expire(r.at.Now), nil)
	require.NoError(t, err)
	if row := r.stored(*left.AskID).Ask; row.State != hub.AskExpired || core.PermissionOf(&row).Verdict != hub.PermissionNone {
		t.Errorf("nobody answered: %+v", row)
	}
	set(hub.PermissionPolicyInput{On: true, Version: 1, Rules: []hub.PermissionRule{denyWords("Bash", "git", "push")}})
	r.asks = r.loaded()
	p := permit()
	row := r.stored(*p.AskID).Ask
	if p.Verdict != hub.PermissionDeny || row.State != hub.AskAnswered || *row.Answer != "deny" || row.ClosedBy != "rule 1: deny Bash git push" ||
		row.Question != "Bash: git push" || row.ClosedAt == nil || row.AgentID != "dev" || row.Permission.Tool != "Bash" {
		t.Errorf("by a rule: %+v, row %+v", p, row)
	}
	if len(r.sent) != 0 {
		t.Errorf("there are messages: %+v", r.sent)
	}
}
