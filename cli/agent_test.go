package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/internal/testcli"
)

const registered = `{"ok":true,"result":{"session_id":"sid.secret","agent_id":"a","resume_key":"r"}}`

func TestPost(t *testing.T) {
	row := `{"id":12,"from_agent":"a","channel":"general","kind":"task","body":"<b>","to_agent":null}`
	s := testcli.HubOf(t, map[string][]string{
		"POST /v1/sessions": {registered},
		"POST /v1/messages": {`{"ok":true,"result":` + row + `}`},
	})
	got := runIn(t, testcli.World(t, nil), "post", "--agent", "a", "--kind", "task", "--thread-id", "t", "--base-url", s.URL, "<b>")
	if got != (ran{0, "posted #12 to general, opened task 12\n", ""}) {
		t.Errorf("got %+v", got)
	}
	want := []string{
		`POST /v1/sessions  {"agent_id":"a","replace":true}`,
		`POST /v1/messages sid.secret {"from_agent":"a","channel":"general","kind":"task","body":"\u003cb\u003e","thread_id":"t"}`,
	}
	if fmt.Sprint(s.Asked) != fmt.Sprint(want) {
		t.Errorf("asked\n%q, want\n%q", s.Asked, want)
	}
	if got := runIn(t, testcli.World(t, nil), "post", "--agent", "a", "--base-url", s.URL, "--json", "x"); got != (ran{0, row + "\n", ""}) {
		t.Errorf("got %+v", got)
	}
}

// TestADirectMessageLeavesTheChannelToTheHub unless one is named.
func TestADirectMessageLeavesTheChannelToTheHub(t *testing.T) {
	s := testcli.HubOf(t, map[string][]string{
		"POST /v1/sessions": {registered},
		"POST /v1/messages": {`{"ok":true,"result":{"id":3,"channel":"direct","kind":"chat","to_agent":"b"}}`},
	})
	got := runIn(t, testcli.World(t, nil), "post", "--agent", "a", "--to", "b", "--base-url", s.URL, "x")
	if got != (ran{0, "posted #3 to agent b\n", ""}) {
		t.Errorf("got %+v", got)
	}
	runIn(t, testcli.World(t, nil), "post", "--agent", "a", "--to", "b", "--channel", "general", "--base-url", s.URL, "x")
	if strings.Contains(s.Asked[1], "channel") || !strings.Contains(s.Asked[3], `"channel":"general"`) {
		t.Errorf("asked %q", s.Asked)
	}
}

func TestTheHubsRefusalIsShown(t *testing.T) {
	s := testcli.HubOf(t, map[string][]string{
		"POST /v1/sessions": {registered},
		"POST /v1/messages": {`{"ok":false,"error":"there is no channel ops","code":"channel_not_found","status":400,"detail":{},"fix":"create it"}`},
	})
	got := runIn(t, testcli.World(t, nil), "post", "--agent", "a", "--channel", "ops", "--base-url", s.URL, "x")
	if got != (ran{1, "", "hubcli: there is no channel ops\nfix: use general, or leave --channel out for the room's own\n"}) {
		t.Errorf("got %+v", got)
	}
}

func TestPoll(t *testing.T) {
	page := `{"ok":true,"result":[{"id":5,"from_agent":"b","channel":"general","kind":"chat","body":"hi"},` +
		`{"id":6,"from_agent":"b","to_agent":"a","channel":"direct","kind":"chat","body":"psst"}],"next_since_id":9}`
	s := testcli.HubOf(t, map[string][]string{
		"POST /v1/sessions": {registered},
		"GET /v1/events":    {`{"ok":true,"result":[],"next_since_id":4}`, page},
	})
	// The first answer is empty long before the time is over, as that of a hub
	// that clamps the wait.
	got := runIn(t, testcli.World(t, nil), "poll", "--agent", "a", "--since-id", "2", "--timeout", "3", "--base-url", s.URL)
	if got != (ran{0, "#5 general b> hi\n#6 direct b -> a> psst\n", "hubcli: go on with --since-id 9\n"}) {
		t.Errorf("got %+v", got)
	}
	// The last call says what was printed; what it brings is not taken.
	if len(s.Asked) != 5 || !strings.HasSuffix(s.Asked[4], "exclude_self=true&limit=1&since_id=9&timeout=0") || !strings.Contains(s.Asked[2], "exclude_self=true&since_id=2&") || !strings.Contains(s.Asked[3], "since_id=4&") {
		t.Errorf("asked %q", s.Asked)
	}
	for _, line := range s.Asked[1:] {
		if strings.Contains(line, "secret") {
			t.Errorf("a poll on this machine carries the session: %s", line)
		}
	}
	got = runIn(t, testcli.World(t, nil), "poll", "--agent", "a", "--include-self", "--channel", "general", "--thread-id", "t", "--json", "--base-url", s.URL)
	lines := strings.Split(strings.TrimSpace(got.stdout), "\n")
	if got.exit != 0 || len(lines) != 2 || !json.Valid([]byte(lines[0])) || !strings.Contains(lines[1], `"id":6`) {
		t.Errorf("got %+v", got)
	}
	if last := s.Asked[len(s.Asked)-1]; !strings.Contains(last, "channel=general&exclude_self=false&") || !strings.Contains(last, "thread_id=t") {
		t.Errorf("asked %q", last)
	}
}

func TestPollWithNothingNew(t *testing.T) {
	s := testcli.HubOf(t, map[string][]string{
		"POST /v1/sessions": {registered},
		"GET /v1/events":    {`{"ok":true,"result":[],"next_since_id":4}`},
	})
	got := runIn(t, testcli.World(t, nil), "poll", "--agent", "a", "--timeout", "0", "--base-url", s.URL)
	if got != (ran{0, "", "hubcli: nothing new after message 4\n"}) {
		t.Errorf("got %+v", got)
	}
}

// TestPollWaitsBeyondTheHubsLongest: a wait of two minutes is several calls.
func TestPollWaitsBeyondTheHubsLongest(t *testing.T) {
	s := testcli.HubOf(t, map[string][]string{
		"POST /v1/sessions": {registered},
		"GET /v1/events":    {`{"ok":true,"result":[],"next_since_id":4}`},
	})
	env := testcli.World(t, nil)
	now := time.Now()
	env.Now = func() time.Time { now = now.Add(20 * time.Second); return now }
	got := runIn(t, env, "poll", "--agent", "a", "--timeout", "120", "--base-url", s.URL)
	if got.exit != 0 || got.stdout != "" {
		t.Errorf("got %+v", got)
	}
	if first := s.Asked[1]; !strings.HasSuffix(strings.Fields(first)[1], "timeout=60") {
		t.Errorf("the first poll asks %q, want the hub's longest wait", first)
	}
	if len(s.Asked) < 4 {
		t.Errorf("%d polls, want several", len(s.Asked)-1)
	}
}

func TestWhoami(t *testing.T) {
	s := testcli.HubOf(t, map[string][]string{
		"POST /v1/sessions": {registered},
		"GET /v1/bootstrap": {`{"ok":true,"result":{"agent_id":"a","latest_visible_id":7,"default_channel":"general"}}`},
	})
	got := runIn(t, testcli.World(t, nil), "whoami", "--agent", "a", "--base-url", s.URL)
	var row struct {
		AgentID string `json:"agent_id"`
		Latest  int    `json:"latest_visible_id"`
	}
	if err := json.Unmarshal([]byte(got.stdout), &row); err != nil || got.exit != 0 || row.AgentID != "a" || row.Latest != 7 {
		t.Errorf("got %+v, %v", got, err)
	}
	if strings.Contains(got.stdout, "secret") {
		t.Error("the session's secret is printed")
	}
	if !strings.Contains(s.Asked[1], "sid.secret") {
		t.Errorf("asked %q, want the session", s.Asked[1])
	}
}

func TestAppStatus(t *testing.T) {
	status := `{"version":"9","instance_id":"i","pid":5,"uptime_sec":61,"storage_path":"/s","listen_address":"127.0.0.1:1",` +
		`"counts":{"sessions":1,"channels":2,"messages":3,"open_tasks":4,"leases":5,"parked_polls":6,"spawns":7},` +
		`"journal":{"head":7,"last_sync_ms":0.75,"free_bytes":2097152,"state":"ok"},` +
		`"quarantined":[{"owner":"channel/x","seq":3,"reason":"panic"}],"adapters":[]}`
	s := testcli.HubOf(t, map[string][]string{"GET /v1/app/status": {`{"ok":true,"result":` + status + `}`}})
	got := runIn(t, testcli.World(t, nil), "app", "status", "--base-url", s.URL)
	want := `version       9
instance      i
process       5, up 1m1s
address       127.0.0.1:1
address from  --base-url
store         /s
journal       ok, record 7, last sync 0.8 ms, 2 MiB free
sessions      1
channels      2
messages      3
search        not available
open tasks    4
leases        5
parked polls  6
spawns        7
adapters      none
quarantined   channel/x at record 3: panic
`
	unknown := "hubcli: this hub is not known to be yours: no hub of your data root has served at " + s.URL + "\n"
	if got != (ran{0, want, unknown}) {
		t.Errorf("got %d %q\n%s", got.exit, got.stderr, got.stdout)
	}
	// The environment may name the address and an agent; a flag counts more.
	vars := map[string]string{"HUB_BASE_URL": s.URL, "HUB_AGENT": "dev-a\x1b"}
	got = runIn(t, testcli.World(t, vars), "app", "status")
	inherited := strings.Replace(want, "--base-url\n", "HUB_BASE_URL\nagent         dev-a\\x1b, from HUB_AGENT\n", 1)
	if got != (ran{0, inherited, unknown}) {
		t.Errorf("got %d %q\n%s", got.exit, got.stderr, got.stdout)
	}
	vars["HUB_BASE_URL"] = "http://127.0.0.1:1"
	if got = runIn(t, testcli.World(t, vars), "app", "status", "--base-url", s.URL); !strings.Contains(got.stdout, "\naddress from  --base-url\n") {
		t.Errorf("got %+v", got)
	}
	var b opt.BaseURL
	if b.Add(testcli.World(t, nil), pflag.NewFlagSet("status", pflag.ContinueOnError)); b.Source() != "the default" {
		t.Errorf("an address that nobody has named comes from %s", b.Source())
	}
	got = runIn(t, testcli.World(t, nil), "app", "status", "--json", "--base-url", s.URL)
	if got.exit != 0 || !json.Valid([]byte(got.stdout)) || !strings.Contains(got.stdout, `"parked_polls": 6`) {
		t.Errorf("got %+v", got)
	}
}

// broken is a stdout that takes nothing, such as a full disk.
type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestAnAnswerThatCannotBeWritten(t *testing.T) {
	env := testcli.World(t, map[string]string{"HUB_DATA_ROOT": "/d"})
	var stderr strings.Builder
	env.Stdout, env.Stderr = broken{}, &stderr
	if exit := Run(t.Context(), env, []string{"data-root"}); exit != term.ExitRefused || !strings.Contains(stderr.String(), "no space left") {
		t.Errorf("exit %d, stderr %q", exit, stderr.String())
	}
	stderr.Reset()
	if exit := Run(t.Context(), env, []string{"--help"}); exit != term.ExitRefused {
		t.Errorf("help: exit %d", exit)
	}
}
