package cli

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"hubcli/internal/testcli"
)

// completed is what a shell is offered for a line, however slow the machine is.
func completed(t *testing.T, url, line string) ran {
	t.Helper()
	return completedWithin(t, time.Minute, url, line)
}

// completedWithin is completed where the hub has so long to answer; 0: as long as it usually has.
func completedWithin(t *testing.T, budget time.Duration, url, line string) ran {
	t.Helper()
	env := testcli.World(t, map[string]string{"HUB_BASE_URL": url})
	env.LiveBudget = budget
	got := runIn(t, env, append([]string{"__complete"}, strings.Split(line, " ")...)...)
	got.stderr = "" // cobra tells there what the last line means
	return got
}

// TestCompletionOffersWhatTheHubKnows and nothing that begins otherwise.
func TestCompletionOffersWhatTheHubKnows(t *testing.T) {
	s := testcli.HubOf(t, map[string][]string{
		"GET /v1/agents":   {`{"ok":true,"result":[{"agent_id":"dev-a","display_name":"Dev A"},{"agent_id":"dev-b","display_name":"dev-b"},{"agent_id":"lead","display_name":"lead"}]}`},
		"GET /v1/channels": {`{"ok":true,"result":[{"name":"general"},{"name":"$(reboot)"},{"name":"a b"},{"name":"-rf"}]}`},
		"GET /v1/threads":  {`{"ok":true,"result":[{"thread_id":"cart","channel":"general"}]}`},
		"GET /v1/projects": {`{"ok":true,"result":[{"project_id":"p_1","slug":"shop","name":"Shop"},{"project_id":"p_2","slug":"store","name":"Store"}]}`},
		"GET /v1/rooms": {`{"ok":true,"result":[{"room_id":"r_3","project_id":"p_1","slug":"till","name":"Till"},` +
			`{"room_id":"r_4","project_id":"p_1","slug":"main","name":"Main"},{"room_id":"r_5","project_id":"p_2","slug":"main","name":"Main"}]}`},
		"GET /v1/tasks":     {`{"ok":true,"result":[{"task_id":7,"title":"dig ` + "`reboot`" + `\u001b[2J\tnow"},{"task_id":12,"title":""}]}`},
		"GET /v1/runs":      {`{"ok":true,"result":[{"run_id":"run_9","title":"all"}]}`},
		"GET /v1/artifacts": {`{"ok":true,"result":[{"artifact_id":"a_1","title":"plan"}]}`},
	})
	const till, mains = "till\tr_3 Till, project shop\n", "shop/main\tr_4 Main, project shop\nstore/main\tr_5 Main, project store\n"
	for line, want := range map[string]string{
		"post --to ":                     "dev-a\tDev A\ndev-b\nlead\n",
		"post --to dev":                  "dev-a\tDev A\ndev-b\n",
		"poll --agent l":                 "lead\n",
		"decision add --by dev-b":        "dev-b\n",
		"poll --channel ":                "general\n", // the other names are none of a plain word
		"post --thread-id c":             "cart\tin general\n",
		"room show ":                     till + mains,
		"room show sh":                   "shop/main\tr_4 Main, project shop\n",
		"room show shop/":                "shop/till\tr_3 Till, project shop\nshop/main\tr_4 Main, project shop\n",
		"room status t":                  till,
		"watch --room t":                 till,
		"room locks t":                   till,
		"room locks w":                   "warn\n",
		"project show s":                 "shop\tShop\nstore\tStore\n",
		"room list --project st":         "store\tStore\n",
		"post --reply-to ":               "7\tdig reboot 2J now\n12\n",
		"post --blocked-by 7,":           "7,7\tdig reboot 2J now\n7,12\n",
		"watch --until message-from:dev": "message-from:dev-a\tDev A\nmessage-from:dev-b\n",
		"watch --until run-complete:":    "run-complete:run_9\tall\n",
		"watch --until tasks-complete:1": "tasks-complete:12\n",
		"watch --until message-f":        "message-from:\n:6\n", // no space behind it
		"watch --until nothing:":         "",
		"artifact get ":                  "a_1\tplan\n",
	} {
		if !strings.HasSuffix(want, ":6\n") {
			want += ":4\n"
		}
		if got := completed(t, s.URL, line); got.exit != 0 || got.stdout != want {
			t.Errorf("hubcli %s| offers %q, want %q", line, got.stdout, want)
		}
	}
	for _, request := range s.Asked {
		if !strings.HasPrefix(request, "GET ") || strings.Contains(request, "agent_id=") {
			t.Errorf("a look-up is a %s, which is not only one", request)
		}
	}
}

// TestCompletionIsSilentWithoutAHub, and soon.
func TestCompletionIsSilentWithoutAHub(t *testing.T) {
	over := make(chan struct{})
	mute := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-over:
		case <-r.Context().Done():
		}
	}))
	defer mute.Close()
	defer close(over)
	refuses := testcli.HubOf(t, map[string][]string{"GET /v1/agents": {`{"ok":false,"error":"no","code":"overloaded","status":503}`}})
	for name, url := range map[string]string{"none": "http://127.0.0.1:1", "mute": mute.URL, "refuses": refuses.URL, "no address": "nonsense"} {
		began := time.Now()
		if got := completedWithin(t, 0, url, "post --to "); got != (ran{0, ":4\n", ""}) {
			t.Errorf("%s: %+v", name, got)
		}
		if took := time.Since(began); took > 20*liveWithin {
			t.Errorf("%s: a shell waits %s", name, took)
		}
	}
}
