package relay_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hubcli/api/client"
	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
	"hubcli/relay"
)

// TestTransportSlicesWatches: if a forwarder's cap ends a watch unmet, the watch goes
// on in the next slice until it is met.
func TestTransportSlicesWatches(t *testing.T) {
	h := testhub.Start(t)
	dir := newSpool(t)
	forward := toHub(t, h.URL)
	var slices atomic.Int64
	forwardBy(t, dir, func(in relay.Request) *relay.Response {
		if strings.HasPrefix(in.Path, "/v1/watch") {
			slices.Add(1)
			// Act as a forwarder with a cap of 0: answer at once.
			before, after, _ := strings.Cut(in.Path, "&timeout=")
			_, rest, _ := strings.Cut(after, "&")
			in.Path = before + "&timeout=0&" + rest
		}
		return forward(in)
	})
	a, b := through(t, dir, "a", nil), client.New(client.Config{BaseURL: h.URL})
	t.Cleanup(b.Close)
	ctx := context.Background()
	project, err := b.CreateProject(ctx, hub.ProjectInput{Name: "p"})
	require.NoError(t, err)
	room, err := b.CreateRoom(ctx, hub.RoomInput{Project: string(project.Row.ProjectID), Name: "r"})
	require.NoError(t, err)
	if _, err := b.Register(ctx, hub.RegisterInput{AgentID: "b"}); err != nil {
		t.Fatal(err)
	}
	type answer struct {
		got hub.Watched
		err error
	}
	answers := make(chan answer, 1)
	go func() {
		got, err := a.Watch(ctx, hub.WatchQuery{
			Agent: "a", Room: room.Row.RoomID, Until: []hub.Condition{{Text: "message-from:b"}}, Wait: time.Minute,
		})
		answers <- answer{got, err}
	}()
	require.Eventually(t, "three slices", func() bool { return slices.Load() >= 3 })
	if _, err := b.Post(ctx, hub.PostInput{FromAgent: "b", Channel: room.Row.Channel, Body: "now"}); err != nil {
		t.Fatal(err)
	}
	if out := <-answers; out.err != nil || !out.got.Met || len(out.got.Messages) != 1 {
		t.Errorf("Watch = %+v, %v", out.got, out.err)
	}
}
