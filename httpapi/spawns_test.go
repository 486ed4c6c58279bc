package httpapi_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"hubcli/api"
	"hubcli/hub"
	"hubcli/integrations/spawn"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
	"hubcli/supervisor"
)

// keeperArg makes this test program the keeper of a spawned process.
const keeperArg = "spawn-keeper"

// spawning lets a hub start processes.
func spawning(c *supervisor.Config) {
	c.Runner = &spawn.Runner{Keeper: []string{os.Args[0], keeperArg}, Grace: 300 * time.Millisecond}
	c.BaseURL = "http://" + c.Listener.Addr().String()
}

// allow sets a policy under which each harness in the room runs its script in a
// shell.
func allow(operator *client, room string, version int64, scripts map[hub.Harness]string) answer {
	in := hub.SpawnPolicyInput{Version: version}
	for harness, script := range scripts {
		in.Commands = append(in.Commands, hub.SpawnCommand{Harness: harness, Args: []string{"/bin/sh", "-c", script, "--", "{prompt}"}})
		in.Allow = append(in.Allow, hub.SpawnAllowance{RoomID: hub.RoomID(room), Harness: harness, MaxSeats: 1})
	}
	body, err := json.Marshal(in)
	require.NoError(operator.t, err)
	return operator.ok(200, "PUT", "/v1/spawn/policy", string(body))
}

// endedSpawn waits until a spawn has ended and returns it.
func endedSpawn(t *testing.T, c *client, id string) hub.Spawn {
	t.Helper()
	for deadline := time.Now().Add(45 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		var row hub.Spawn
		require.NoError(t, json.Unmarshal(c.ok(200, "GET", "/v1/spawn/"+id, "").Result, &row))
		if row.Status.Terminal() {
			return row
		}
		if time.Now().After(deadline) {
			t.Fatalf("the spawn does not end: %+v", row)
		}
	}
}

func walkSpawns(t *testing.T, c *client, h *testhub.Hub) {
	operator := c.with(api.HeaderOperator, h.Store.OperatorToken())
	room := newRoom(c, "spawning", "Nursery")
	say := func(body string) string { return strings.ReplaceAll(body, "R", room) }

	c.refused(hub.CodeOperatorRequired, "GET", "/v1/spawn/policy", "")
	c.refused(hub.CodeOperatorRequired, "PUT", "/v1/spawn/policy", `{"version":0}`)
	if a := operator.ok(200, "GET", "/v1/spawn/policy", ""); a.row("version") != 0.0 || a.row("max_depth") != 1.0 {
		t.Errorf("the first policy is %s", a.Result)
	}
	denied := c.refused(hub.CodeSpawnNotAllowed, "POST", "/v1/spawn", say(`{"room_id":"R","harness":"codex","by":"lead"}`))
	if !strings.Contains(denied.Fix, "hubcli app spawns policy --set FILE") || !strings.Contains(denied.Fix, room) {
		t.Errorf("the way out is %q", denied.Fix)
	}
	operator.ok(200, "PUT", "/v1/spawn/policy", `{"version":0}`) // an empty policy has lists, too
	set := allow(operator, room, 1, map[hub.Harness]string{hub.HarnessCodex: `echo "$1"; exit 3`, hub.HarnessZed: "exec sleep 600"})
	if set.row("version") != 2.0 {
		t.Errorf("the policy is %s", set.Result)
	}
	operator.refused(hub.CodeVersionConflict, "PUT", "/v1/spawn/policy", `{"version":0}`)
	operator.refused(hub.CodeRoomNotFound, "PUT", "/v1/spawn/policy", `{"version":2,"allow":[{"room_id":"r_zz","harness":"codex"}]}`)
	c.refused(hub.CodeNotBound, "POST", "/v1/spawn", say(`{"room_id":"R","harness":"codex","by":"lead","prompt":"x"}`))
	c.ok(201, "PUT", "/v1/rooms/"+room+"/binding", fmt.Sprintf(`{"path":%q}`, t.TempDir()))

	// A spawn that exits: its output is kept, its seat is shown and its
	// requester gets a notice.
	a := c.with("Idempotency-Key", "one").ok(201, "POST", "/v1/spawn", say(`{"room_id":"R","harness":"codex","by":"lead","prompt":"the prompt","role":"tester","title":"T"}`))
	id := fmt.Sprint(a.row("spawn_id"))
	row := endedSpawn(t, c, id)
	if row.Status != hub.SpawnExited || row.ExitCode == nil || *row.ExitCode != 3 || row.ArtifactID == nil || row.By != "lead" {
		t.Fatalf("the spawn is %+v", row)
	}
	again := c.with("Idempotency-Key", "one").ok(201, "POST", "/v1/spawn", say(`{"room_id":"R","harness":"codex","by":"lead","prompt":"the prompt","role":"tester","title":"T"}`))
	if again.row("spawn_id") != id || again.header.Get(api.HeaderReplayed) != "true" {
		t.Errorf("the repeated call got %s", again.Result)
	}
	if out := c.ok(200, "GET", "/v1/artifacts/"+string(*row.ArtifactID)+"/content", ""); string(out.Result) != "the prompt\n" {
		t.Errorf("the output is %q", out.Result)
	}
	notices := c.ok(200, "GET", "/v1/inbox/lead?tail=1&limit=1", "")
	if text := string(notices.Result); !strings.Contains(text, `"exit_code":3`) || !strings.Contains(text, id) || strings.Contains(text, "the prompt") {
		t.Errorf("lead was told %s", text)
	}
	status := string(c.ok(200, "GET", "/v1/rooms/"+room+"/status", "").Result)
	if !strings.Contains(status, `"spawn_id":"`+id+`"`) || !strings.Contains(status, `"role":"tester"`) {
		t.Errorf("the room is %s", status)
	}

	// A spawn that is stopped.
	a = c.ok(201, "POST", "/v1/spawn", say(`{"room_id":"R","harness":"zed","by":"lead","prompt":"x"}`))
	id = fmt.Sprint(a.row("spawn_id"))
	if n := c.ok(200, "GET", "/v1/spawn?active=true&room_id="+room, "").rows(); n != 1 {
		t.Errorf("%d spawns run", n)
	}
	c.refused(hub.CodeLimitReached, "POST", "/v1/spawn", say(`{"room_id":"R","harness":"zed","by":"lead","prompt":"x"}`))
	c.refused(hub.CodeSpawnNotAllowed, "POST", "/v1/spawn/"+id+"/stop", `{"agent_id":"dev"}`)
	c.ok(200, "POST", "/v1/spawn/"+id+"/stop", `{"agent_id":"lead"}`)
	if row := endedSpawn(t, c, id); row.Status != hub.SpawnStopped || row.Signal != "SIGTERM" || row.Reason != "lead stopped it" {
		t.Errorf("the stopped spawn is %+v", row)
	}
	operator.ok(200, "POST", "/v1/spawn/"+id+"/stop", "")
	refuseSpawns(t, c, operator, room)
}

// refuseSpawns makes the calls that are refused.
func refuseSpawns(t *testing.T, c, operator *client, room string) {
	say := func(body string) string { return strings.ReplaceAll(body, "R", room) }
	c.refused(hub.CodeSpawnNotFound, "GET", "/v1/spawn/sp_zzz", "")
	c.refused(hub.CodeSpawnNotFound, "GET", "/v1/spawn/nothing", "")
	c.refused(hub.CodeSpawnNotFound, "POST", "/v1/spawn/sp_zzz/stop", `{"agent_id":"lead"}`)
	c.refused(hub.CodeInvalid, "GET", "/v1/spawn?status=odd", "")
	c.refused(hub.CodeRoomNotFound, "GET", "/v1/spawn?room_id=r_zz", "")
	c.refused(hub.CodeRoomNotFound, "POST", "/v1/spawn", `{"room_id":"r_zz","harness":"codex","by":"lead","prompt":"x"}`)
	for _, body := range []string{
		`{"harness":"codex","by":"lead"}`, `{"room_id":"R","by":"lead"}`, `{"room_id":"R","harness":"emacs","by":"lead"}`,
		`{"room_id":"R","harness":"codex","by":"lead","prompt":"a\u0000b"}`, `{"room_id":"R","harness":"codex","prompt":"x"}`,
		`{"room_id":"R","harness":"codex","by":"lead","prompt":""}`, `{"room_id":"R","harness":"codex","by":"lead","prompt":"x","agent_id":"a.watch"}`,
		`{"room_id":"R","harness":"codex","by":"lead","prompt":"` + strings.Repeat("x", hub.MaxSpawnPromptBytes+1) + `"}`,
	} {
		c.call("POST", "/v1/spawn", say(body))
		if a := c.call("POST", "/v1/spawn", say(body)); a.status != 400 && a.status != 403 {
			t.Errorf("%.80s: %d %s", body, a.status, a.Error)
		}
	}
	c.refused(hub.CodeSessionConflict, "POST", "/v1/spawn", say(`{"room_id":"R","harness":"codex","by":"lead","prompt":"x","agent_id":"lead"}`))
	c.with(api.HeaderRelay, "lead").refused(hub.CodeForbiddenRelay, "POST", "/v1/spawn", say(`{"room_id":"R","harness":"codex","prompt":"x"}`))
	for name, command := range map[string]string{
		"relative": `{"harness":"zed","args":["sh"]}`, "no args": `{"harness":"zed","args":[]}`,
		"placeholder": `{"harness":"zed","args":["/bin/{agent}"]}`, "option": `{"harness":"zed","args":["/bin/sh","--{prompt}"]}`,
		"variable": `{"harness":"zed","args":["/bin/sh"],"env":["HUB_AGENT"]}`, "value": `{"harness":"zed","args":["/bin/sh"],"env":["A=b"]}`,
		"folder": `{"harness":"zed","args":["/bin/sh"],"dir":"x"}`, "time": `{"harness":"zed","args":["/bin/sh"],"timeout_sec":999999}`,
		"twice": `{"harness":"zed","args":["/bin/sh"]},{"harness":"Zed","args":["/bin/sh"]}`,
	} {
		if a := operator.call("PUT", "/v1/spawn/policy", `{"version":2,"commands":[`+command+`]}`); a.Code != hub.CodeInvalid {
			t.Errorf("%s: %d %s %s", name, a.status, a.Code, a.Error)
		}
	}
	operator.ok(200, "PUT", "/v1/spawn/policy", say(`{"version":2,"commands":[{"harness":"zed","args":["/nowhere/zed"]}],"allow":[{"room_id":"R","harness":"zed"}]}`))
	c.refused(hub.CodeBadExecutable, "POST", "/v1/spawn", say(`{"room_id":"R","harness":"zed","by":"lead"}`))
}

// TestSpawnWithoutRunner: a hub that starts no processes says so.
func TestSpawnWithoutRunner(t *testing.T) {
	c := newClient(t, testhub.Start(t))
	c.refused(hub.CodeSpawnUnavailable, "POST", "/v1/spawn", `{"room_id":"`+newRoom(c, "p", "R")+`","harness":"codex","by":"lead"}`)
}
