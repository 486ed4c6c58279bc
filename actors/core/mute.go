package core

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"hubcli/hub"
)

// The facts of mutes: 890 to 894.
const (
	factMuted   FactType = 890
	factUnmuted FactType = 891
)

func muteFacts() map[FactType]func() Fact {
	return map[FactType]func() Fact{
		factMuted:   func() Fact { return &Muted{} },
		factUnmuted: func() Fact { return &Unmuted{} },
	}
}

// mostLapsed bounds the mutes that one command clears away because their time is over.
const mostLapsed = 100

// Mutes decides which agents the operator has muted. A mute whose time is over needs no
// fact: everybody compares its end with the time. The next command clears it away.
type Mutes struct {
	held map[hub.MuteTarget]hub.Mute
}

// Muted says that an agent is muted, or that the reason or the end of its mute has changed.
type Muted struct {
	Mute hub.Mute `json:"mute"`
}

// Unmuted says that a mute is over.
type Unmuted struct {
	Target hub.MuteTarget `json:"target"`
}

// FactType implements Fact.
func (*Muted) FactType() FactType { return factMuted }

// FactType implements Fact.
func (*Unmuted) FactType() FactType { return factUnmuted }

// NewMutes returns the state in which nobody is muted.
func NewMutes() *Mutes { return &Mutes{held: map[hub.MuteTarget]hub.Mute{}} }

// Restore adds a stored row. An empty value is a mute that is over.
func (m *Mutes) Restore(value []byte) error {
	if len(value) == 0 {
		return nil
	}
	var row hub.Mute
	if json.Unmarshal(value, &row) != nil {
		return hub.NewError(hub.CodeCorruptRecord, "the stored row of a mute cannot be read")
	}
	m.held[row.Target()] = row
	return nil
}

// Mute decides a mute. An agent that is muted there already keeps the time since when; the
// reason and the end are the new ones. Errors: limit_reached.
func (m *Mutes) Mute(in hub.MuteInput, now Now) (Decision[hub.Mute], error) {
	target := hub.MuteTarget{AgentID: in.AgentID, RoomID: in.RoomID}
	row, held := m.held[target]
	held = held && !row.Over(now.Wall)
	lapsed := m.lapsed(now.Wall)
	if !held && len(m.held)-len(lapsed) >= hub.MaxMutes {
		return Decision[hub.Mute]{}, hub.Errorf(hub.CodeLimitReached, "%d mutes are in force, and there cannot be more", hub.MaxMutes).
			With("limit", hub.MaxMutes).WithFix("end the mutes that need not be, or pause a room")
	}
	if !held {
		row = hub.Mute{AgentID: in.AgentID, RoomID: Optional(in.RoomID), By: hub.AgentOperator, Since: now.Wall}
	}
	row.Reason, row.Until = in.Reason, nil
	if in.ForSec > 0 {
		until := now.Wall + hub.Time(in.ForSec)*1000
		row.Until = &until
	}
	var facts []Fact
	for _, t := range lapsed {
		if t != target {
			facts = append(facts, &Unmuted{Target: t})
		}
	}
	return Decision[hub.Mute]{
		Draft:  Draft{Facts: append(facts, &Muted{Mute: row})},
		Answer: func(Position) hub.Mute { return row },
	}, nil
}

// lapsed returns the first targets whose time is over.
func (m *Mutes) lapsed(now hub.Time) (over []hub.MuteTarget) {
	for _, row := range m.held {
		if row.Over(now) {
			over = append(over, row.Target())
		}
	}
	slices.SortFunc(over, compareMuteTargets)
	return over[:min(len(over), mostLapsed)]
}

// End decides the end of a mute. Error: not_muted.
func (m *Mutes) End(t hub.MuteTarget, now Now) (Decision[hub.Mute], error) {
	row, held := m.held[t]
	if !held || row.Over(now.Wall) {
		return Decision[hub.Mute]{}, hub.Errorf(hub.CodeNotMuted, "%s is not muted", t)
	}
	return Decision[hub.Mute]{
		Draft:  Draft{Facts: []Fact{&Unmuted{Target: t}}},
		Answer: func(Position) hub.Mute { return row },
	}, nil
}

// List returns the mutes that are stored, the earliest first.
func (m *Mutes) List() []hub.Mute { return SortedMutes(m.held) }

// SortedMutes returns mutes, the earliest first.
func SortedMutes(held map[hub.MuteTarget]hub.Mute) []hub.Mute {
	all := make([]hub.Mute, 0, len(held))
	for _, row := range held {
		all = append(all, row)
	}
	slices.SortFunc(all, func(a, b hub.Mute) int {
		if a.Since != b.Since {
			return int(a.Since - b.Since)
		}
		return compareMuteTargets(a.Target(), b.Target())
	})
	return all
}

func compareMuteTargets(a, b hub.MuteTarget) int {
	return strings.Compare(string(MuteKey(a)), string(MuteKey(b)))
}

// MuteKey is the key of a target in TableMute.
func MuteKey(t hub.MuteTarget) []byte { return []byte(string(t.AgentID) + "\x00" + string(t.RoomID)) }

// Apply changes the state by one fact. Applying a fact twice has the same effect as once.
func (m *Mutes) Apply(f Fact, _ Position, rows RowSink) {
	switch f := f.(type) {
	case *Muted:
		m.held[f.Mute.Target()] = f.Mute
		rows.Put(TableMute, MuteKey(f.Mute.Target()), mustJSON(f.Mute))
	case *Unmuted:
		delete(m.held, f.Target)
		rows.Put(TableMute, MuteKey(f.Target), nil)
	default:
		panic(fmt.Sprintf("core: the mutes were given the fact %T", f))
	}
}
