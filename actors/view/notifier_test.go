package view

import (
	"testing"

	"hubcli/actors/core"
)

// A subscription is woken by its own scopes alone, and leaves nothing behind.
func TestSubscriptions(t *testing.T) {
	n := newNotifier()
	scope := func(name string) core.Scope { return core.Scope{Kind: core.ScopeChannel, Name: name} }
	woken := func(s *Subscription) bool {
		select {
		case <-s.C:
			return true
		default:
			return false
		}
	}
	var subs []*Subscription
	for range 5 {
		subs = append(subs, n.Subscribe([]core.Scope{scope("a"), scope("b"), PresenceScope("ann")}))
	}
	other := n.Subscribe([]core.Scope{scope("c")})
	for _, closed := range []int{1, 4, 0} { // in the middle, the last, the first
		subs[closed].Close()
		subs[closed] = nil
		n.Notify(scope("b"))
		n.Notify(scope("b"))
		n.notifyWatches(func() core.Scope { return PresenceScope("ann") })
		for i, s := range subs {
			if s != nil && (!woken(s) || woken(s)) {
				t.Errorf("subscription %d was not woken once", i)
			}
		}
		if woken(other) {
			t.Error("a subscription to another scope was woken")
		}
	}
	for _, s := range append(subs, other) {
		if s != nil {
			s.Close()
		}
	}
	if n.subscriptions() != 0 || n.watching.Load() != 0 {
		t.Errorf("%d scopes and %d watches are left", n.subscriptions(), n.watching.Load())
	}
}
