package person

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"hubcli/api/client"
	"hubcli/cli/term"
	"hubcli/internal/testcli"
	"hubcli/internal/testhub"
)

// TestWhomToRetire: the agents are shown with what they have, safely for a terminal, and nobody is
// chosen without a yes.
func TestWhomToRetire(t *testing.T) {
	s := testcli.HubOf(t, map[string][]string{
		"GET /v1/hub-info": {`{"ok":true,"result":{}}`},
		"GET /v1/agents/idle": {`{"ok":true,"result":{"count":3,"agents":[
			{"agent_id":"ann","last_seen":"2026-01-01T00:00:00.000Z","rooms":["r_3"],"tasks":[1,2,3,4,5,6,7],"offers":[8],"claims":["a\u001b[2Jb"],"locks":["/x"]},
			{"agent_id":"ben","last_seen":null,"rooms":[],"tasks":[],"offers":[],"claims":[],"locks":[]}]}}`},
	})
	c := client.New(client.Config{BaseURL: s.URL, DataRoot: testhub.NewFake(t, s.URL, s.Config.Handler).DataRoot})
	defer c.Close()
	var said bytes.Buffer
	env := testcli.World(t, nil)
	env.Stderr = &said
	if _, err := chooseIdle(t.Context(), env, c, &retireOptions{idle: 24 * time.Hour}); term.ExitOf(err) != term.ExitUsage || !strings.Contains(said.String(), "ann  gone for") {
		t.Errorf("without a terminal: %v after %q", err, said.String())
	}
	for typed, want := range map[string]int{"y\n": 2, "n\n": 0} {
		var said bytes.Buffer
		env := testcli.World(t, nil)
		env.Stdin, env.Stderr, env.Terminal = strings.NewReader(typed), &said, func() bool { return true }
		env.Now = func() time.Time { return time.Date(2026, 1, 10, 0, 0, 0, 0, time.UTC) }
		names, err := chooseIdle(t.Context(), env, c, &retireOptions{idle: 24 * time.Hour})
		if err != nil || len(names) != want || (want == 0) != strings.Contains(said.String(), "nobody was retired") {
			t.Errorf("%q chooses %v, %v", typed, names, err)
		}
		for _, line := range []string{
			"ann  gone for 9d: seat in r_3; task 1, 2, 3, 4, 5 and 2 more; offer of 8; claim a\\x1b[2Jb; lock /x\n",
			"ben  not heard of since the hub began: it has nothing\n", "and 1 more, for the next time\n", "Retire 2 agents? [y/N] ",
		} {
			if !strings.Contains(said.String(), line) {
				t.Errorf("the question %q lacks %q", said.String(), line)
			}
		}
	}
}
