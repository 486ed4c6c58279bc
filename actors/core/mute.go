package core

import (
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
	Rulings[hub.MuteTarget, hub.Mute]
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
func NewMutes() *Mutes { return &Mutes{MuteKind.None()} }

// Mute decides a mute. An agent that is muted there already keeps the time since when; the
// reason and the end are the new ones. Errors: limit_reached.
func (m *Mutes) Mute(in hub.MuteInput, now Now) (Decision[hub.Mute], error) {
	target := hub.MuteTarget{AgentID: in.AgentID, RoomID: in.RoomID}
	row, held := m.For(target)
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
	return answering(row, append(facts, &Muted{Mute: row})...), nil
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
	row, held := m.For(t)
	if !held || row.Over(now.Wall) {
		return Decision[hub.Mute]{}, hub.Errorf(hub.CodeNotMuted, "%s is not muted", t)
	}
	return answering(row, &Unmuted{Target: t}), nil
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
		m.set(f.Mute, rows)
	case *Unmuted:
		m.end(f.Target, rows)
	default:
		panic(fmt.Sprintf("core: the mutes were given the fact %T", f))
	}
}
