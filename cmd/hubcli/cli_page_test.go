//go:build unix

package main

import (
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"hubcli/internal/require"
	"hubcli/internal/testfeature"
	"hubcli/internal/testprogram"
)

// pageSample is how a sample of docs/cli.md is run: in a hub of its own and in an empty
// folder, after commands that make what the page takes for granted.
type pageSample struct {
	before  string
	replace []string // pairs: what the page says, and what is typed in its place
	after   string   // ends what the sample has begun: the folders of the test are deleted then
}

// Commands of the preparations.
const (
	pageRooms = `hubcli project create --name 'Web shop' && hubcli room create --project web-shop --name 'Check out' &&
hubcli room create --project web-shop --name Stock`
	pageCheckout = `hubcli project create --name Shop && hubcli room create --project shop --name Checkout`
	pageSession  = `session() { curl -sS -f $HUB_BASE_URL/v1/sessions -H 'Content-Type: application/json' -d "{\"agent_id\":\"$1\",\"metadata\":{\"harness\":\"$2\"}}"; }
sit() { curl -sS -f $HUB_BASE_URL/v1/rooms/$(hubcli room show checkout --json | sed -n 's/.*"room_id": "\(.*\)".*/\1/p')/seats -H 'Content-Type: application/json' -d "{\"agent_id\":\"$1\"}"; }`
	pageGit  = `git init -q . && git -c user.email=a@b -c user.name=a commit -q --allow-empty -m begin`
	pageWait = `
wait_for() { hubcli claim parser --agent $1 --wait 60 > /dev/null 2>&1 & until hubcli claims | grep -q "$1"; do :; done; }`
)

// pageSamples are the samples by their first commands.
var pageSamples = map[string]pageSample{
	"cd services/till":                             {before: pageRooms + ` && mkdir -p services/till && hubcli room bind web-shop/check-out services/till`},
	"hubcli send hello":                            {},
	"hubcli license show":                          {},
	"hubcli connection list":                       {before: "hubcli connection create --provider ollama --no-key"},
	"git log -3 | hubcli post --agent dev-a -":     {before: pageGit + ` && echo done > report.md`},
	"hubcli capsule import web-shop.hubpack --yes": {before: pageRooms + ` && hubcli capsule export web-shop --out web-shop.hubpack --yes`},
	`hubcli say --room web-shop/check-out "stop at noon and commit what works"`: {before: pageRooms + ` && hubcli whoami --agent dev-a`},
	"hubcli claim parser --agent dev-a --ttl-sec 10m":                           {before: pageCheckout, replace: []string{"--wait 60", "--wait 1"}},
	"hubcli agents": {
		before: pageCheckout + "\n" + pageSession + pageWait + `
session lead claude-code; session dev-a codex; sit lead; sit dev-a
hubcli post --agent lead 'who is there?'; hubcli post --agent dev-a --to lead me
hubcli post --agent lead --room checkout --to dev-a --kind task_request 'Fix the tax'
session lead claude-code; session dev-a codex
curl -sS -f -X POST $HUB_BASE_URL/v1/tasks/$(hubcli tasks --json | sed -n 's/.*"task_id": \([0-9]*\).*/\1/p') -H 'Content-Type: application/json' -d '{"agent_id":"dev-a","status":"working"}'
curl -sS -f $HUB_BASE_URL/v1/turns -H 'Content-Type: application/json' -d '{"agent_id":"lead","turn":"at_prompt","tool":"Bash"}'
hubcli claim parser --agent dev-a --ttl-sec 10m; wait_for dev-b; wait_for dev-c`,
		replace: []string{"--at 14:05 --for 10m", "--at 10m --for 1h"},
	},
	"hubcli inbox": {before: pageCheckout + ` && hubcli ask --agent dev-a --room checkout --deadline 10m --option yes --option no 'Deploy to the shop now?'`},
	"hubcli app task assign 12 dev-b": {
		before:  `hubcli whoami --agent dev-b; hubcli post --agent lead --kind task 'mend the parser'; T=$(hubcli tasks --json | sed -n 's/.*"task_id": \([0-9]*\).*/\1/p')`,
		replace: []string{" 12 ", " $T "},
	},
	`hubcli app release parser --reason "dev-a has been stuck for an hour"`: {before: pageWait + `
hubcli claim parser --agent dev-a && wait_for dev-b`},
	`hubcli app end dev-a --reason "the work is done"`: {before: pageSession + `
session dev-a codex`},
	`hubcli post --agent dev-a --room attic "is anybody there?"`: {before: "hubcli project create --name Shop && hubcli room create --project shop --name Attic && hubcli room archive attic"},
	"hubcli app permissions on --wait 30s": {
		before: pageCheckout + " && " + pageGit + "\n" + pageSession + `
sit dev-a
echo '{"session_id":"s1","hook_event_name":"PermissionRequest","prompt_id":"p1","tool_name":"Bash","tool_input":{"command":"make deploy"}}' > prompt.json`,
		replace: []string{"hubcli inbox", `HUB_AGENT=dev-a hubcli hook permission < prompt.json > /dev/null 2>&1 &
until hubcli inbox --json | grep -q ask_id; do :; done; hubcli inbox`},
		after: "wait",
	},
}

// notRun are samples that no test runs as they stand, with the reason.
var notRun = map[string]string{
	"hubcli app retire --idle 7d":                                 "its days must pass; the script app_retire.txt compares such lines",
	"hubcli capsule export web-shop --out web-shop.hubpack --yes": "it prints the folder in which it runs; the script capsule.txt compares the line",
	"hubcli project export web-shop --yes":                        "it prints the folder in which it runs; the script project_export.txt compares the line",
	"hubcli status":                                               "its circle and its trouble need minutes to come; overview compares such a page",
}

// pageNumbers are numbers that differ from one hub to the next.
var pageNumbers = regexp.MustCompile(`(#|fence |task |session )[0-9a-z]+\b`)

// TestCLIPageSamplesPrintWhatTheySay: docs/cli.md says what the commands print.
func TestCLIPageSamplesPrintWhatTheySay(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "cli.md"))
	require.NoError(t, err)
	me, err := user.Current()
	require.NoError(t, err)
	blocks := regexp.MustCompile("(?ms)^```console\n(.*?)^```$").FindAllStringSubmatch(string(page), -1)
	if len(blocks) != len(pageSamples)+len(notRun) {
		t.Errorf("%d samples on the page, %d are known", len(blocks), len(pageSamples)+len(notRun))
	}
	for _, block := range blocks {
		all := shownIn(block[1])
		first := strings.TrimSpace(all[0].command)
		if notRun[first] != "" {
			continue
		}
		sample, known := pageSamples[first]
		if !known {
			t.Errorf("nothing prepares the sample that begins with %s", first)
			continue
		}
		t.Run(first, func(t *testing.T) {
			t.Parallel()
			for command, part := range map[string]string{"capsule": "capsule", "connection": "provider", "license": "license"} {
				if strings.HasPrefix(first, "hubcli "+command) {
					testfeature.Need(t, part)
				}
			}
			runPageSample(t, &sample, all, me.Username)
		})
	}
}

func runPageSample(t *testing.T, sample *pageSample, all []shown, me string) {
	t.Helper()
	if strings.Contains(sample.before, "curl ") {
		testprogram.Need(t, "curl")
	}
	port, err := freePort()
	require.NoError(t, err)
	home := t.TempDir()
	folder := filepath.Join(t.TempDir(), "shop")
	require.NoError(t, os.Mkdir(folder, 0o700))
	t.Cleanup(func() { end(port, home) })
	bash := startShell(t, folder, readmeEnvironment(home, port))
	for _, command := range []string{"hubcli ensure", sample.before} {
		if out, exit, err := bash.run(command); err != nil || exit != 0 {
			t.Fatalf("%s: exit code %d, %v\n%s", command, exit, err, out)
		}
	}
	ids, typed := sampleIDs{}, strings.NewReplacer(sample.replace...)
	same := func(text string) string { return pageNumbers.ReplaceAllString(text, "${1}N") }
	for _, s := range all {
		out, exit, err := bash.run(typed.Replace(ids.command(s.command)))
		want := strings.ReplaceAll(s.output, "answered by eva", "answered by "+me)
		if err != nil || !ids.match(same(want), same(out)) {
			t.Fatalf("$ %sprinted (%v)\n%s\nthe page says\n%s", s.command, err, out, want)
		}
		if refused := strings.Contains(s.output, "fix: "); (exit != 0) != refused {
			t.Errorf("%s: exit code %d", s.command, exit)
		}
	}
	if sample.after == "" {
		return
	}
	if out, exit, err := bash.run(sample.after); err != nil || exit != 0 {
		t.Errorf("%s: exit code %d, %v\n%s", sample.after, exit, err, out)
	}
}
