package supervisor_test

import (
	"context"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/supervisor"
)

// BenchmarkPost measures posts through the actors and the real store, without
// HTTP: every one is synced before it returns.
func BenchmarkPost(b *testing.B) {
	for _, c := range []struct {
		name   string
		agents int
		search bool
	}{{"1", 1, true}, {"64", 64, true}, {"64-without-search", 64, false}} {
		b.Run(c.name, func(b *testing.B) {
			t := startTree(b, c.search)
			body := strings.Repeat("x", 256)
			var left atomic.Int64
			left.Store(int64(b.N))
			var wg sync.WaitGroup
			b.ReportAllocs()
			b.ResetTimer()
			for i := range c.agents {
				wg.Go(func() {
					in := hub.PostInput{FromAgent: hub.AgentID("agent-" + strconv.Itoa(i)), Channel: hub.DefaultChannel, Kind: hub.KindChat, Body: body}
					for left.Add(-1) >= 0 {
						if _, err := t.Hub.Post(context.Background(), in); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			wg.Wait()
			b.StopTimer()
		})
	}
}

// BenchmarkRoomStatus measures the page of a busy room in a hub that has much
// else to keep: 200 agents with a seat who have never polled, 2,000 messages in
// the room and 20,000 elsewhere, 5,000 open tasks elsewhere. Reading is through
// the actors and the real store, without HTTP.
func BenchmarkRoomStatus(b *testing.B) {
	const seats, inRoom, elsewhere, tasks = 200, 2_000, 20_000, 5_000
	t, ctx := startTree(b, true), context.Background()
	must := func(err error) {
		if err != nil {
			b.Helper()
			b.Fatal(err)
		}
	}
	project, err := t.Hub.CreateProject(ctx, hub.ProjectInput{Name: "bench"})
	must(err)
	room, err := t.Hub.CreateRoom(ctx, hub.RoomInput{Project: project.Row.Slug, Name: "bench"})
	must(err)
	invite, err := t.Hub.CreateInvite(ctx, hub.InviteInput{
		Project: project.Row.Slug, Room: string(room.Row.RoomID), MaxUses: seats, TTLSec: 600,
	})
	must(err)
	agent := func(i int) hub.AgentID { return hub.AgentID("agent-" + strconv.Itoa(i%seats)) }
	inParallel(b, seats, func(i int) error {
		_, err := t.Hub.AcceptInvite(ctx, invite.Row.Code, hub.AcceptInput{AgentID: agent(i)})
		return err
	})
	post := func(n int, channel hub.ChannelName, kind hub.Kind) {
		inParallel(b, n, func(i int) error {
			_, err := t.Hub.Post(ctx, hub.PostInput{FromAgent: agent(i), Channel: channel, Kind: kind, Body: "bench"})
			return err
		})
	}
	post(tasks, hub.DefaultChannel, hub.KindTask)
	post(inRoom, room.Row.Channel, hub.KindChat)
	post(elsewhere, hub.DefaultChannel, hub.KindChat)
	b.ReportAllocs()
	for b.Loop() {
		_, err := t.Hub.RoomStatus(ctx, hub.StatusQuery{RoomID: room.Row.RoomID, Viewer: agent(0)})
		must(err)
	}
}

// inParallel calls do for 0 to n-1, 64 at a time.
func inParallel(b *testing.B, n int, do func(int) error) {
	b.Helper()
	var next atomic.Int64
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				if err := do(i); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	if b.Failed() {
		b.FailNow()
	}
}

// startTree starts a daemon's parts on a fresh store until the end of b.
func startTree(b *testing.B, search bool) *supervisor.Tree {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(b, err)
	t, err := supervisor.Start(supervisor.Config{Storage: b.TempDir(), Listener: l, WithoutSearch: !search})
	require.NoError(b, err)
	b.Cleanup(func() { t.Stop() })
	return t
}
