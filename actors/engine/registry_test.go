package engine

import (
	"errors"
	"fmt"
	"testing"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/require"
)

func testRegistry(t *testing.T) *registry {
	t.Helper()
	e := &Engine{}
	e.runtime = newRuntime(func(reason any) { t.Errorf("a turn panicked: %v", reason) })
	e.registry = newRegistry(e)
	return e.registry
}

// Bytes are counted as commands are; a single command is always admitted.
func TestOverloadedByBytes(t *testing.T) {
	r := testRegistry(t)
	overloaded := func(err error) {
		t.Helper()
		if !errors.Is(err, &hub.Error{Code: hub.CodeOverloaded}) {
			t.Errorf("%v, want overloaded", err)
		}
	}
	k := core.ChannelOwner("general")
	big, err := r.admit(k, maxCommandBytes/ownerShare+1)
	if err != nil {
		t.Fatalf("one large command: %v", err)
	}
	_, err = r.admit(k, 1)
	overloaded(err)
	_, err = r.admit(core.ChannelOwner("other"), maxCommandBytes)
	overloaded(err)
	r.done(big)
	p, err := r.admit(k, 1)
	require.NoError(t, err)
	r.done(p)
	if c, b := r.commands.Load(), r.bytes.Load(); c != 0 || b != 0 {
		t.Errorf("%d commands and %d bytes are left", c, b)
	}
}

// A shard keeps a bounded number of idle owners, and an owner with a command stays.
func TestIdleOwnersRetire(t *testing.T) {
	r := testRegistry(t)
	busy, err := r.admit(core.AgentOwner("busy"), 0)
	require.NoError(t, err)
	for i := range 4 * len(r.shards) * idlePerShard {
		p, err := r.admit(core.AgentOwner(hub.AgentID(fmt.Sprint("agent", i))), 0)
		require.NoError(t, err)
		r.done(p)
	}
	all := 0
	for i := range r.shards {
		sh := &r.shards[i]
		all += len(sh.owners)
		if sh.idle.Len() > idlePerShard {
			t.Errorf("%d idle owners in a shard", sh.idle.Len())
		}
	}
	if want := int64(4*len(r.shards)*idlePerShard + 1 - all); r.retired.Load() != want {
		t.Errorf("%d owners were retired, want %d", r.retired.Load(), want)
	}
	if _, ok := r.find(core.AgentOwner("busy")); !ok {
		t.Error("an owner with a command was retired")
	}
	r.done(busy)
}
