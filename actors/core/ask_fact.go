package core

import (
	"maps"
	"slices"

	"hubcli/hub"
)

// The facts of questions to the operator: 840 to 859.
const (
	factAsked        FactType = 840
	factAskAnswered  FactType = 841
	factAskWithdrawn FactType = 842
	factAskExpired   FactType = 843

	factPermissionsSet    FactType = 844
	factPermissionDecided FactType = 845

	factAnswerTakenBack FactType = 846
)

func askFacts() map[FactType]func() Fact {
	return map[FactType]func() Fact{
		factAsked:        func() Fact { return &Asked{} },
		factAskAnswered:  func() Fact { return &AskAnswered{} },
		factAskWithdrawn: func() Fact { return &AskWithdrawn{} },
		factAskExpired:   func() Fact { return &AskExpired{} },

		factPermissionsSet:    func() Fact { return &PermissionsSet{} },
		factPermissionDecided: func() Fact { return &PermissionDecided{} },

		factAnswerTakenBack: func() Fact { return &AnswerTakenBack{} },
	}
}

// Asked says that an agent asks the operator. The record's message 0 is the question. A
// permission prompt has no message.
type Asked struct {
	Agent      hub.AgentID    `json:"agent"`
	Question   string         `json:"question"`
	Options    []string       `json:"options,omitempty"`
	Default    string         `json:"default,omitempty"`
	DeadlineMS int64          `json:"deadline_ms,omitempty"` // hub time; 0: none
	Room       hub.RoomID     `json:"room,omitempty"`
	Blocks     hub.TaskID     `json:"blocks,omitempty"`
	Artifact   hub.ArtifactID `json:"artifact,omitempty"`
	Loop       *Loop          `json:"loop,omitempty"`       // the hub asks about these agents
	User       string         `json:"local_user,omitempty"` // the other user of the machine whose program asks

	Prompt *hub.PermissionPrompt `json:"prompt,omitempty"` // the question is a permission prompt
}

// AskAnswered says what the operator answered. The record's message 0 tells the agent.
type AskAnswered struct {
	Ask    hub.AskID `json:"ask"`
	Answer string    `json:"answer"`
	By     string    `json:"by,omitempty"` // the name of the human
}

// AskWithdrawn says that a question was closed without an answer.
type AskWithdrawn struct {
	Ask    hub.AskID `json:"ask"`
	By     string    `json:"by,omitempty"` // the agent, or the name of the human
	Reason string    `json:"reason,omitempty"`
	Told   bool      `json:"told,omitempty"` // the record's message 0 tells the agent
}

// AskExpired says that nobody answered in time: the default is the answer, if there is
// one. The record's message number Message tells the agent.
type AskExpired struct {
	Ask     hub.AskID `json:"ask"`
	Message int       `json:"message"`
}

// Sign implements Signed.
func (f *Asked) Sign(user string) { f.User = user }

// FactType implements Fact.
func (*Asked) FactType() FactType { return factAsked }

// FactType implements Fact.
func (*AskAnswered) FactType() FactType { return factAskAnswered }

// FactType implements Fact.
func (*AskWithdrawn) FactType() FactType { return factAskWithdrawn }

// FactType implements Fact.
func (*AskExpired) FactType() FactType { return factAskExpired }

// ID returns the id of the question that the fact creates at a position.
func (f *Asked) ID(at Position) hub.AskID { return hub.AskID(IDAt(PrefixAsk, at.Seq)) }

// ask returns the question that the fact creates at a position.
func (f *Asked) ask(at Position) StoredAsk {
	row := StoredAsk{DeadlineMS: f.DeadlineMS, Loop: f.Loop, Ask: hub.Ask{
		AskID: f.ID(at), State: hub.AskOpen, AgentID: f.Agent, Question: f.Question,
		Options: append([]string{}, f.Options...), Default: Optional(f.Default), RoomID: Optional(f.Room),
		Blocks: Optional(f.Blocks), ArtifactID: Optional(f.Artifact), Permission: f.Prompt, User: f.User, CreatedAt: at.Now.Wall,
	}}
	if f.Prompt == nil {
		row.Ask.MessageID = at.Message(0)
	}
	return row
}

func (f *AskAnswered) closed(row StoredAsk, at Position) StoredAsk {
	row.Ask.Answer, row.Ask.ClosedBy = &f.Answer, f.By
	if row.Loop != nil {
		row.ApartMS = ApartUntil(f.Answer, at)
	}
	return row.end(hub.AskAnswered, at, row.told(at, 0))
}

func (f *AskWithdrawn) closed(row StoredAsk, at Position) StoredAsk {
	row.Ask.ClosedBy, row.Ask.Reason = f.By, f.Reason
	if f.Told {
		return row.end(hub.AskWithdrawn, at, Optional(at.Message(0)))
	}
	return row.end(hub.AskWithdrawn, at, nil)
}

func (f *AskExpired) closed(row StoredAsk, at Position) StoredAsk {
	row.Ask.Answer = row.Ask.Default
	return row.end(hub.AskExpired, at, row.told(at, f.Message))
}

// told is the message of a record that tells the agent; nil for a permission prompt.
func (r StoredAsk) told(at Position, message int) *hub.MessageID {
	if r.Ask.Permission != nil {
		return nil
	}
	return Optional(at.Message(message))
}

// end returns the row of a question that is closed at a position, by a message or none.
func (r StoredAsk) end(state hub.AskState, at Position, message *hub.MessageID) StoredAsk {
	r.Ask.State, r.Ask.ClosedAt, r.Ask.AnswerMessageID = state, &at.Now.Wall, message
	return r
}

// Row is the question as it is shown at a moment.
func (r StoredAsk) Row(now Now) hub.Ask {
	row := r.Ask
	row.Digest = row.DigestOf()
	if row.State == hub.AskOpen && r.DeadlineMS != 0 {
		at := now.Wall + hub.Time(max(r.DeadlineMS-now.HubMS, 0))
		row.DeadlineAt = &at
	}
	return row
}

// change replaces the row of an open question. Of closed ones it leaves all alone but one
// whose agents were kept apart and may go on now.
func (a *Asks) change(id hub.AskID, next func(StoredAsk) StoredAsk, at Position, rows RowSink) {
	if row, ok := a.open[id]; ok {
		a.put(next(row), at, rows)
	} else if row, ok := a.apart[id]; ok {
		if row = next(row); row.ApartMS == 0 {
			a.put(row, at, rows)
		}
	}
}

// put keeps a question while it is open or keeps agents apart, and writes its row. If
// the set of open ones changes, it also writes the row from which the owner is loaded,
// and drops those that keep agents apart no longer.
func (a *Asks) put(row StoredAsk, at Position, rows RowSink) {
	id := row.Ask.AskID
	_, was := a.open[id]
	open := row.Ask.State == hub.AskOpen
	if a.open[id] = row; !open {
		delete(a.open, id)
	}
	_, apart := a.apart[id]
	if delete(a.apart, id); row.ApartMS != 0 {
		a.apart[id] = row
	}
	maps.DeleteFunc(a.apart, func(_ hub.AskID, row StoredAsk) bool { return row.ApartMS <= at.Now.HubMS })
	seq, _ := SeqOf(PrefixAsk, string(id))
	rows.Put(TableAsk, SeqKey(seq), mustJSON(row))
	if was != open || apart {
		rows.Put(TableAskOpen, AskOpenKey(), mustJSON(OpenAsks{Open: slices.Sorted(maps.Keys(a.open)), Apart: slices.Sorted(maps.Keys(a.apart))}))
	}
}

// OpenAsks is the stored row from which the owner is loaded.
type OpenAsks struct {
	Open  []hub.AskID `json:"open"`
	Apart []hub.AskID `json:"apart,omitempty"` // answered ones that keep agents apart
}

// AskOpenKey is the key of the one row of TableAskOpen.
func AskOpenKey() []byte { return []byte("open") }

// AskKey is the key of a question in TableAsk, and false if id is not the id of a
// question.
func AskKey(id hub.AskID) ([]byte, bool) {
	seq, ok := SeqOf(PrefixAsk, string(id))
	return SeqKey(seq), ok
}
