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
	body := strings.Repeat("x", 256)
	for _, c := range []struct {
		name   string
		agents int
		search bool
	}{{"1", 1, true}, {"64", 64, true}, {"64-without-search", 64, false}} {
		b.Run(c.name, func(b *testing.B) {
			t := startTree(b, c.search)
			inLoops(b, c.agents, func(agent hub.AgentID) error {
				_, err := t.Hub.Post(context.Background(), hub.PostInput{FromAgent: agent, Channel: hub.DefaultChannel, Kind: hub.KindChat, Body: body})
				return err
			})
		})
	}
}

// BenchmarkClaim measures pairs of a claim and its release, in the way of
// BenchmarkPost. Each agent has a key of its own.
func BenchmarkClaim(b *testing.B) {
	for _, agents := range []int{1, 64} {
		b.Run(strconv.Itoa(agents), func(b *testing.B) {
			t := startTree(b, true)
			inLoops(b, agents, func(agent hub.AgentID) error {
				key := hub.ClaimKey(agent) + ":build"
				_, err := t.Hub.Claim(context.Background(), hub.ClaimInput{ClaimKey: key, OwnerAgentID: agent, TTLSec: 60})
				if err != nil {
					return err
				}
				_, err = t.Hub.ReleaseClaim(context.Background(), hub.ClaimHoldInput{ClaimKey: key, AgentID: agent})
				return err
			})
		})
	}
}

// inLoops has agents do something b.N times in all, each in a loop of its own.
func inLoops(b *testing.B, agents int, do func(hub.AgentID) error) {
	var left atomic.Int64
	left.Store(int64(b.N))
	var wg sync.WaitGroup
	b.ReportAllocs()
	b.ResetTimer()
	for i := range agents {
		wg.Go(func() {
			agent := hub.AgentID("agent-" + strconv.Itoa(i))
			for left.Add(-1) >= 0 {
				if err := do(agent); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.StopTimer()
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
