package capsules_test

import (
	"context"
	"errors"
	"testing"

	"hubcli/actors/capsules"
	"hubcli/actors/core"
	"hubcli/capsule"
	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
)

// readable counts the messages of a hub that can be read.
func readable(t testing.TB, h *testhub.Hub) (n int64) {
	t.Helper()
	require.NoError(t, h.Store.Messages(core.Scope{Kind: core.ScopeAll}, 0, hub.MaxMessageID, false, func(*core.StoredMessage) bool {
		n++
		return true
	}))
	return n
}

// TestStatusCountsMessagesThatCanBeRead, and not numbers that no message has: those of imports
// that were cut off, and of tasks that came without their messages. It holds after a start.
func TestStatusCountsMessagesThatCanBeRead(t *testing.T) {
	s, dir := newShop(t), t.TempDir()
	there := startHub(t, testhub.Dir(dir))
	elsewhere(t, there)
	check := func(when string) {
		t.Helper()
		if got, want := there.Hub.Counts().Messages, readable(t, there); got != want || want == 0 {
			t.Errorf("%s: the status counts %d messages, and %d can be read", when, got, want)
		}
	}
	check("before")
	small := verified(t, smallCapsule(t, 5_000, func(int) string { return "text" }))
	ctx, cancel := context.WithCancelCause(operator(t))
	cancel(errors.New("cut"))
	if _, err := imported(ctx, small, there.Hub); err == nil {
		t.Fatal("the import was not cut off")
	}
	check("after an import that was cut off")
	for _, req := range []capsules.Request{s.request(capsule.ScopeKnowledge, capsule.FullHistory), s.request(capsule.ScopeComplete, capsule.FullHistory)} {
		_, err := imported(operator(t), verified(t, written(t, s.Hub, req)), there.Hub)
		require.NoError(t, err)
		check("after an import of the scope " + string(req.Scope))
	}
	require.NoError(t, there.Stop())
	there = startHub(t, testhub.Dir(dir))
	check("after a start")
}
