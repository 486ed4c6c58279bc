package supervisor_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
	"hubcli/persistence"
)

// shown is what agents see of a hub: the rows of lists, and the messages up to an
// id. Expiry times of leases are left out: they move with every start.
func shown(t *testing.T, h *testhub.Hub, upto hub.MessageID) map[string]string {
	t.Helper()
	operator := hub.WithCaller(t.Context(), &hub.Caller{Operator: true})
	tasks, _, err := h.Hub.Tasks(operator, hub.TasksQuery{Limit: 200})
	require.NoError(t, err)
	claims, _, err := h.Hub.Claims(operator, hub.LeasesQuery{ActiveOnly: true, Limit: 200})
	require.NoError(t, err)
	locks, _, err := h.Hub.Locks(operator, hub.LeasesQuery{ActiveOnly: true, Limit: 200})
	require.NoError(t, err)
	rooms := map[string]string{}
	for i := range claims {
		rooms["claim "+string(claims[i].ClaimKey)] = fmt.Sprint(claims[i].OwnerAgentID, claims[i].Fence)
	}
	for i := range locks {
		rooms["lock "+locks[i].FilePath] = fmt.Sprint(locks[i].AgentID, locks[i].Fence)
	}
	text, err := json.Marshal(tasks)
	require.NoError(t, err)
	rooms["tasks"] = string(text)
	for since := hub.MessageID(0); ; {
		page, err := h.Hub.Events(t.Context(), hub.EventsQuery{Agent: "dev", Since: since, Limit: 500, Peek: true})
		require.NoError(t, err)
		for _, row := range page.Rows {
			var m hub.Message
			require.NoError(t, json.Unmarshal(row, &m))
			if m.ID <= upto {
				rooms["message "+strconv.FormatInt(int64(m.ID), 10)] = string(row)
			}
		}
		if page.NextSinceID <= since {
			return rooms
		}
		since = page.NextSinceID
	}
}

// TestRestoredHubShowsWhatWasBackedUp: a hub is backed up under load. A hub on the
// restored store shows the same messages, tasks, claims and locks up to the head of
// the backup, takes what comes next, and starts again.
func TestRestoredHubShowsWhatWasBackedUp(t *testing.T) {
	h := testhub.Start(t)
	ctx := t.Context()
	for i := range 20 {
		_, err := h.Hub.Post(ctx, hub.PostInput{FromAgent: "lead", ToAgent: "dev", Kind: hub.KindTaskRequest, Body: fmt.Sprint("task ", i)})
		require.NoError(t, err)
		_, err = h.Hub.Claim(ctx, hub.ClaimInput{OwnerAgentID: "dev", ClaimKey: hub.ClaimKey(fmt.Sprint("area-", i)), TTLSec: 3600})
		require.NoError(t, err)
		_, err = h.Hub.Lock(ctx, hub.LockInput{AgentID: "dev", FilePath: fmt.Sprint("/src/", i), TTLSec: 3600})
		require.NoError(t, err)
	}
	var load, begun sync.WaitGroup
	loaded, stop := context.WithCancel(ctx)
	for i := range 8 {
		begun.Add(1)
		load.Go(func() {
			for n := 0; loaded.Err() == nil; n++ {
				_, _ = h.Hub.Post(loaded, hub.PostInput{
					FromAgent: hub.AgentID(fmt.Sprint("busy-", i)), Channel: hub.DefaultChannel, Kind: hub.KindChat, Body: fmt.Sprint(n),
				})
				if n == 0 {
					begun.Done()
				}
			}
		})
	}
	begun.Wait()
	var backup bytes.Buffer
	for range 3 { // the last one counts
		backup.Reset()
		require.NoError(t, h.Store.Backup(ctx, &backup))
	}
	stop()
	load.Wait()
	info, err := persistence.CheckBackup(bytes.NewReader(backup.Bytes()))
	require.NoError(t, err)
	want := shown(t, h, info.Head.Message)
	if len(want) < 20+20+1+20 || info.Head.Message <= 20 {
		t.Fatalf("the backup has %d rows up to message %d: there was no load", len(want), info.Head.Message)
	}

	dir := filepath.Join(t.TempDir(), "restored")
	_, err = persistence.Restore(bytes.NewReader(backup.Bytes()), dir, persistence.RestoreOptions{})
	require.NoError(t, err)
	for range 2 {
		r := testhub.Start(t, testhub.Dir(dir))
		got := shown(t, r, info.Head.Message)
		for key, row := range want {
			if got[key] != row {
				t.Errorf("%s is %q, want %q", key, got[key], row)
			}
		}
		if len(got) != len(want) {
			t.Errorf("%d rows, want %d", len(got), len(want))
		}
		done, err := r.Hub.Post(ctx, hub.PostInput{FromAgent: "late", Channel: hub.DefaultChannel, Kind: hub.KindChat, Body: "new"})
		require.NoError(t, err)
		var next hub.Message
		require.NoError(t, json.Unmarshal(done.Row, &next))
		if next.ID <= info.Head.Message+1000 {
			t.Errorf("the next message is %d: the original may have used that id", next.ID)
		}
		grant, err := r.Hub.Claim(ctx, hub.ClaimInput{OwnerAgentID: "late", ClaimKey: hub.ClaimKey(fmt.Sprint("new-", next.ID)), TTLSec: 60})
		require.NoError(t, err)
		if grant.Row.Fence <= info.Head.Fence+1000 {
			t.Errorf("the next fence is %d: the original may have used it", grant.Row.Fence)
		}
		_, err = r.Hub.ReleaseClaim(ctx, hub.ClaimHoldInput{AgentID: "late", ClaimKey: grant.Row.ClaimKey})
		require.NoError(t, err)
		require.NoError(t, r.Stop())
	}
}
