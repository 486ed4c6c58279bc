package core

import (
	"fmt"

	"hubcli/hub"
)

// The facts of pauses: 860 to 869.
const (
	factPaused  FactType = 860
	factResumed FactType = 861
)

func pauseFacts() map[FactType]func() Fact {
	return map[FactType]func() Fact{
		factPaused:  func() Fact { return &Paused{} },
		factResumed: func() Fact { return &Resumed{} },
	}
}

// Pauses decides what the operator has paused. Other owners ask no pause: what a paused
// agent may not do is refused by the view of these rows.
type Pauses struct {
	Rulings[hub.PauseTarget, hub.Pause]
}

// Paused says that a target is paused, or that its words have changed.
type Paused struct {
	Pause hub.Pause `json:"pause"`
}

// Resumed says that the pause of a target is over.
type Resumed struct {
	Target hub.PauseTarget `json:"target"`
}

// FactType implements Fact.
func (*Paused) FactType() FactType { return factPaused }

// FactType implements Fact.
func (*Resumed) FactType() FactType { return factResumed }

// NewPauses returns the state in which nothing is paused.
func NewPauses() *Pauses { return &Pauses{PauseKind.None()} }

// PauseCommand pauses or resumes a target. Tell names the channels in which those read
// whom it concerns; a pause of one agent is told to that agent alone.
type PauseCommand struct {
	Target hub.PauseTarget
	Words  string
	Tell   []hub.ChannelName
}

// Pause decides a pause. A target that is paused keeps the time of its pause. Pausing with the
// words in force has no effect. Errors: limit_reached.
func (p *Pauses) Pause(c PauseCommand, now Now) (Decision[hub.Pause], error) {
	row, held := p.For(c.Target)
	if held && row.Words == c.Words {
		return answering(row), nil
	}
	if !held {
		if err := p.full(hub.MaxPauses, "%d pauses are in force, and there cannot be more", "resume what need not be paused, or pause a room or everything"); err != nil {
			return Decision[hub.Pause]{}, err
		}
		row = hub.Pause{
			AgentID: Optional(c.Target.AgentID), RoomID: Optional(c.Target.RoomID), All: c.Target.All,
			By: hub.AgentOperator, Since: now.Wall,
		}
	}
	row.Words = c.Words
	d := answering(row, &Paused{Pause: row})
	d.Messages = c.notices(row, "paused", "I have paused "+c.Target.String()+": "+c.Words)
	return d, nil
}

// Resume decides the end of a pause. Error: not_paused.
func (p *Pauses) Resume(c PauseCommand) (Decision[hub.Pause], error) {
	row, held := p.For(c.Target)
	if !held {
		return Decision[hub.Pause]{}, hub.Errorf(hub.CodeNotPaused, "%s is not paused by itself", c.Target)
	}
	d := answering(row, &Resumed{Target: c.Target})
	d.Messages = c.notices(row, "resumed", "I have resumed "+c.Target.String()+": go on.")
	return d, nil
}

// notices are the messages of the operator to those whom a pause concerns.
func (c *PauseCommand) notices(row hub.Pause, state, body string) []MessageDraft {
	m := MessageDraft{
		From: hub.AgentOperator, Kind: hub.KindNotice, Body: body,
		Metadata:  mustJSON(map[string]any{"pause": map[string]any{"state": state, "target": row.Target(), "since": row.Since}}),
		Authority: hub.AuthorityOperator, Assurance: hub.AssuranceOperator,
	}
	if agent := c.Target.AgentID; agent != "" {
		m.To, m.Channel = agent, hub.DirectChannel
		return []MessageDraft{m}
	}
	var all []MessageDraft
	for _, channel := range c.Tell {
		m.Channel, m.Room = channel, ""
		if room, ok := channel.Room(); ok {
			m.Room = room
		}
		all = append(all, m)
	}
	return all
}

// PauseKey is the key of a target in TablePause.
func PauseKey(t hub.PauseTarget) []byte {
	switch {
	case t.All:
		return []byte("all")
	case t.RoomID != "":
		return []byte("room\x00" + string(t.RoomID))
	}
	return []byte("agent\x00" + string(t.AgentID))
}

// Apply changes the state by one fact. Applying a fact twice has the same effect as once.
func (p *Pauses) Apply(f Fact, at Position, rows RowSink) {
	switch f := f.(type) {
	case *Paused:
		p.noteBefore(f.Pause.Target(), at, rows)
		p.set(f.Pause, rows)
	case *Resumed:
		p.noteBefore(f.Target, at, rows)
		p.end(f.Target, rows)
	default:
		panic(fmt.Sprintf("core: the pauses were given the fact %T", f))
	}
}

// noteBefore writes what the pause of a target was before a record.
func (p *Pauses) noteBefore(t hub.PauseTarget, at Position, rows RowSink) {
	var was []byte
	if row, held := p.For(t); held {
		was = mustJSON(row)
	}
	rows.Put(TablePauseBefore, append(SeqKey(at.Seq), PauseKey(t)...), was)
}
