package core

import (
	"encoding/json"

	"hubcli/hub"
)

// Channel decides about one channel: its creation, and public posts to it that
// touch no task. Its state is its row. A channel is deleted only if nothing was ever said there.
type Channel struct {
	row *hub.Channel
}

// ChannelCreated says that a channel exists from now on.
type ChannelCreated struct {
	Name      hub.ChannelName `json:"name"`
	CreatedBy hub.AgentID     `json:"created_by"`
	Metadata  json.RawMessage `json:"metadata,omitempty"`
}

// FactType gives the fact's number in the journal.
func (*ChannelCreated) FactType() FactType { return 200 }

func channelFacts() map[FactType]func() Fact {
	return map[FactType]func() Fact{200: func() Fact { return &ChannelCreated{} }}
}

// NewChannel returns a channel's state from its stored row, or a new state if
// row is nil.
func NewChannel(row *hub.Channel) *Channel { return &Channel{row: row} }

// Weight implements Weighed.
func (c *Channel) Weight() int {
	if c.row == nil {
		return 0
	}
	return len(c.row.Metadata)
}

// ChannelAnswer is a channel and whether the command created it.
type ChannelAnswer struct {
	Row     hub.Channel
	Created bool
}

// Create decides that the channel exists. An existing channel stays as it is; for another
// one the error is refusal, nil if there is a place for it.
func (c *Channel) Create(in hub.ChannelInput, refusal error) (Decision[ChannelAnswer], error) {
	if c.row != nil {
		row := *c.row
		return Decision[ChannelAnswer]{Answer: func(Position) ChannelAnswer { return ChannelAnswer{Row: row} }}, nil
	}
	if refusal != nil {
		return Decision[ChannelAnswer]{}, refusal
	}
	fact := &ChannelCreated{Name: in.Name, CreatedBy: in.CreatedBy, Metadata: in.Metadata}
	return Decision[ChannelAnswer]{
		Draft:  Draft{Facts: []Fact{fact}},
		Answer: func(at Position) ChannelAnswer { return ChannelAnswer{Row: fact.row(at), Created: true} },
	}, nil
}

// Post decides that m is posted to the channel. The caller has checked that the
// channel exists.
func (*Channel) Post(m MessageDraft) Decision[hub.MessageID] { return postDecision(m) }

// Apply changes the state by one fact.
func (c *Channel) Apply(f Fact, at Position, rows RowSink) {
	switch f := f.(type) {
	case *ChannelCreated:
		row := f.row(at)
		c.row = &row
		rows.Put(TableChannel, []byte(row.Name), mustJSON(row))
	case *ChannelArchived:
		c.archive(f, rows)
	case *ChannelDeleted:
		c.delete(f, rows)
	default:
		panic("core: a channel was given a foreign fact")
	}
}

func (f *ChannelCreated) row(at Position) hub.Channel {
	return hub.Channel{Name: f.Name, CreatedAt: at.Now.Wall, CreatedBy: f.CreatedBy, Metadata: objectOf(f.Metadata)}
}

func postDecision(m MessageDraft) Decision[hub.MessageID] {
	return Decision[hub.MessageID]{
		Draft:  Draft{Messages: []MessageDraft{m}},
		Answer: func(at Position) hub.MessageID { return at.Message(0) },
	}
}

// objectOf returns metadata as rows show it: an object, never absent.
func objectOf(m json.RawMessage) json.RawMessage {
	if len(m) == 0 {
		return json.RawMessage("{}")
	}
	return m
}
