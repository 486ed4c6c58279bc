//go:build unix

package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hubcli/hub"
	"hubcli/internal/require"
)

// bridging is a harness that has nothing but a bridge: it says who it is, says so to
// its room, and ends when the file done is there.
const bridging = `say() { printf '%s\n' "$1"; }
{
  say '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"script","version":"1"}}}'
  say '{"jsonrpc":"2.0","method":"notifications/initialized"}'
  say '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"hub_whoami","arguments":{}}}'
  say '{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"hub_post_message","arguments":{"body":"I have come"}}}'
  until [ -e "$1/done" ]; do sleep 0.05; done
} | hubcli mcp --no-ensure
echo "data root $HUB_DATA_ROOT"
exit 3`

// TestSpawnedBridge: an agent has another started by its bridge; what is started is
// exactly the agent that was named, in its room, by no more than its environment;
// its end wakes the asker's poll.
func TestSpawnedBridge(t *testing.T) {
	h := startSpawningHub(t)
	room := h.allow(bridging)
	lead := startWire(t, exec.Command("hubcli", "mcp", "--no-ensure", "--agent", "lead", "--base-url", "http://127.0.0.1:"+h.port)).shake()
	a, text := lead.call("hub_spawn", map[string]any{
		"harness": "codex", "prompt": "come", "agent_id": "worker-7", "room_id": room.RoomID, "idempotency_key": "one",
	})
	if a.IsError || !strings.Contains(text, "worker-7") {
		t.Fatalf("hub_spawn says %s", text)
	}
	rows, _, err := h.Spawns(t.Context(), hub.SpawnsQuery{RoomID: room.RoomID, Limit: 10})
	if err != nil || len(rows) != 1 || rows[0].By != "lead" || rows[0].AgentID != "worker-7" {
		t.Fatalf("there are %+v, %v", rows, err)
	}
	if err := until(func() bool {
		page, err := h.Events(t.Context(), hub.EventsQuery{Agent: "lead", Channels: []hub.ChannelName{room.Channel}, Peek: true, Limit: 100})
		require.NoError(t, err)
		for _, row := range page.Rows {
			if m, err := row.Decode(); err == nil && m.Body == "I have come" {
				return m.FromAgent == "worker-7"
			}
		}
		return false
	}); err != nil {
		t.Fatalf("worker-7 says nothing in its room: %v", err)
	}
	live, _, err := h.Agents(t.Context(), hub.AgentsQuery{})
	if err != nil || len(live) != 2 {
		t.Errorf("live are %+v, %v", live, err)
	}
	lead.call("hub_poll_messages", map[string]any{"timeout_seconds": 0, "room_id": room.RoomID})
	poll := lead.ask("tools/call", map[string]any{
		"name": "hub_poll_messages", "arguments": map[string]any{"timeout_seconds": 50, "room_id": room.RoomID},
	})
	waitWatches(t, h.Client, 1)
	require.NoError(t, os.WriteFile(filepath.Join(h.dir, "done"), nil, 0o600))
	end, err := lead.await(poll)
	if err == nil && !strings.Contains(string(end.Result), "exit code 3") { // first the room hears of the output
		end, err = lead.await(lead.ask("tools/call", map[string]any{
			"name": "hub_poll_messages", "arguments": map[string]any{"timeout_seconds": 50, "room_id": room.RoomID},
		}))
	}
	if err != nil || !strings.Contains(string(end.Result), string(rows[0].SpawnID)) || !strings.Contains(string(end.Result), "exit code 3") {
		t.Errorf("the poll says %s, %v", end.Result, err)
	}
	row, err := h.SpawnByID(t.Context(), rows[0].SpawnID)
	if err != nil || row.ArtifactID == nil {
		t.Fatalf("the spawn is %+v, %v", row, err)
	}
	content, err := h.ArtifactContent(t.Context(), *row.ArtifactID)
	said := string(content.Data)
	if err != nil || !strings.Contains(said, `"agent_id":"worker-7"`) || !strings.Contains(said, "data root "+filepath.Join(h.dir, "data")) {
		t.Errorf("its bridge has said %s, %v", said, err)
	}
}

// TestSpawnsOfWhoHungUp: whenever its caller closes the socket, what was asked for is
// nothing, or runs and ends and is told of once.
func TestSpawnsOfWhoHungUp(t *testing.T) {
	h := startSpawningHub(t)
	room := h.allow("exit 0")
	body := fmt.Sprintf(`{"room_id":%q,"harness":"codex","by":"lead","prompt":"x"}`, room.RoomID)
	all := func() []hub.Spawn {
		rows, _, err := h.Spawns(context.Background(), hub.SpawnsQuery{RoomID: room.RoomID, Limit: 1000})
		require.NoError(t, err)
		return rows
	}
	const wanted = 10
	calls := 0
	if err := until(func() bool {
		c, err := net.Dial("tcp", "127.0.0.1:"+h.port)
		require.NoError(t, err)
		fmt.Fprintf(c, "POST /v1/spawn HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", h.port, len(body), body)
		time.Sleep(time.Duration(calls%10) * 500 * time.Microsecond) // every instant of the way
		_ = c.Close()
		calls++
		return calls >= 30 && len(all()) >= wanted
	}); err != nil {
		t.Fatalf("of %d calls %d came to something: %v", calls, len(all()), err)
	}
	var rows []hub.Spawn
	if err := until(func() bool {
		rows = all()
		for _, row := range rows {
			if row.Status != hub.SpawnExited || h.told(row.SpawnID) != 1 {
				return false
			}
		}
		return true
	}); err != nil {
		t.Errorf("%v: of %d calls there are %+v", err, calls, rows)
	}
	t.Logf("%d calls, %d spawns", calls, len(rows))
}
