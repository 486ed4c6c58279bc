package view

import (
	"encoding/json"
	"maps"
	"sync"

	"hubcli/actors/core"
	"hubcli/hub"
)

// Shares counts the places of one kind that are taken, by creator: those of committed
// records, and those that calls under way have reserved. It is for places that no single
// owner decides about. So the check is a part of admission: what many calls ask for at once
// never goes beyond the share.
type Shares struct {
	mu    sync.Mutex
	share *core.Share
	taken map[hub.AgentID]int
	all   int
	// What calls under way have reserved.
	asked  map[hub.AgentID]int
	asking int
}

func newShares(share *core.Share) *Shares {
	return &Shares{share: share, taken: map[hub.AgentID]int{}, asked: map[hub.AgentID]int{}}
}

// add changes what a creator has by n places.
func (s *Shares) add(creator hub.AgentID, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	tally(s.taken, creator, n)
	s.all += n
}

// Reserve takes n places for a creator, until free is called: after the record that takes
// them is shown, or the call is refused. free is never nil. Error: that of the share.
func (s *Shares) Reserve(creator hub.AgentID, by core.Standing, n int) (free func(), refusal error) {
	if n <= 0 {
		return func() {}, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	refusal = s.share.Refuse(by, core.Holding{
		Creator: creator, Own: s.taken[creator] + s.asked[creator], All: s.all + s.asking, Adds: n,
		Holders: func() map[hub.AgentID]int { return s.taken },
	})
	if refusal != nil {
		return func() {}, refusal
	}
	tally(s.asked, creator, n)
	s.asking += n
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		tally(s.asked, creator, -n)
		s.asking -= n
	}, nil
}

// Taken returns what each creator has.
func (s *Shares) Taken() map[hub.AgentID]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.taken)
}

// replace sets what each creator has.
func (s *Shares) replace(taken map[hub.AgentID]int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken, s.all = map[hub.AgentID]int{}, 0
	maps.Copy(s.taken, taken)
	for _, n := range s.taken {
		s.all += n
	}
}

// tally adds n to what an agent has.
func tally(of map[hub.AgentID]int, agent hub.AgentID, n int) {
	if of[agent] += n; of[agent] == 0 {
		delete(of, agent)
	}
}

// channelCreator returns who made a channel.
func (v *View) channelCreator(name hub.ChannelName) (hub.AgentID, error) {
	row, err := v.ChannelRow(name)
	if err == nil && row == nil {
		err = core.ErrNotFound
	}
	if err != nil {
		return "", err
	}
	return row.CreatedBy, nil
}

// countChannels counts the channels by their creators from their rows, once: the checkpoint
// of the start was written by an earlier version. A row that cannot be read is not counted.
func (v *View) countChannels() {
	made := map[hub.AgentID]int{}
	_ = v.rows.RowsOf(core.TableChannel, nil, false, func(_, value []byte) bool {
		var row hub.Channel
		if len(value) > 0 && json.Unmarshal(value, &row) == nil && !row.Archived {
			made[row.CreatedBy]++
		}
		return true
	})
	v.Directory.Channels.replace(made)
	v.Directory.uncounted = false
}

// sessionBytes returns what the live session of an agent takes in memory; 0: it has none.
func (d *Directory) sessionBytes(agent hub.AgentID) int {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if p := d.live[agent]; p != nil {
		return core.SessionBytes(&p.session)
	}
	return 0
}

// ReserveSession takes room for a session that replaces the live one of its agent. See
// Shares.Reserve.
func (d *Directory) ReserveSession(s *hub.Session, by core.Standing) (free func(), refusal error) {
	return d.Sessions.Reserve(s.AgentID, by, core.SessionBytes(s)-d.sessionBytes(s.AgentID))
}
