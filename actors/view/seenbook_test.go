package view

import (
	"fmt"
	"log/slog"
	"testing"

	"hubcli/actors/core"
	"hubcli/hub"
)

// TestSeenIsBounded: agents that were ever seen do not fill the memory, nor do
// the channels that each has read, whether or not the store takes rows.
func TestSeenIsBounded(t *testing.T) {
	b := newSeenBook(emptyStore{}, emptyStore{}, slog.New(slog.DiscardHandler))
	for i := range 40_000 {
		agent := hub.AgentID(fmt.Sprint("agent", i))
		for c := range 5 {
			b.move(agent, func(s *core.Seen) bool { return s.SawChannel(hub.ChannelName(fmt.Sprint(c)), 7) })
		}
	}
	agents, names := 0, 0
	for i := range b.shards {
		agents += len(b.shards[i].agents)
		names += b.shards[i].names
	}
	if most := 16*4*seenNames + 16*core.MaxSeenChannels; names > most || agents > 16*4*seenAgents+16 {
		t.Errorf("%d agents and %d channels are kept, want at most %d", agents, names, most)
	}
	kept := b.unkept()
	b.keep(kept)
	for i := range b.shards {
		if sh := &b.shards[i]; len(sh.agents) > seenAgents+1 || sh.names > seenNames+core.MaxSeenChannels {
			t.Errorf("%d agents and %d channels are kept of what is stored", len(sh.agents), sh.names)
		}
	}
}

// emptyStore has no rows and no room.
type emptyStore struct {
	core.Journal
	core.Rows
}

func (emptyStore) Row(core.Table, []byte) ([]byte, error) { return nil, core.ErrNotFound }
