package core

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"hubcli/hub"
)

// Agent decides about one agent: its sessions, which resume keys are valid,
// when the agent counts as gone, and the direct messages to it. Only the
// agent's latest session can be live; earlier sessions are displaced for good.
type Agent struct {
	id  hub.AgentID
	row AgentRow
}

// AgentRow is an agent as stored. It is the whole state of the owner, so an
// agent that is not connected costs no memory.
type AgentRow struct {
	AsOf      hub.Seq       `json:"as_of"`   // the last record that the row includes
	Session   hub.Session   `json:"session"` // the latest; a zero Incarnation means none
	EndReason EndReason     `json:"end_reason,omitempty"`
	EndedAt   hub.Time      `json:"ended_at,omitempty"`
	Words     string        `json:"words,omitempty"`     // of the operator who ended it
	Successor hub.AgentID   `json:"successor,omitempty"` // the id under which the agent went on after Session
	Prior     hub.SessionID `json:"prior,omitempty"`     // its resume key is valid until the first call of Session
	// Since is when the agent registered first. 0: before the hub noted that.
	Since hub.Time `json:"since,omitempty"`
	// Retired is since when the operator takes the agent for gone. 0: it is not retired.
	Retired hub.Time `json:"retired,omitempty"`
}

// EndReason says why a session ended.
type EndReason string

// The reasons. An idle session revives with its agent's next call. A closed
// session can only be resumed with its key.
const (
	EndedClosed EndReason = "closed"
	EndedIdle   EndReason = "idle"
	// EndedOperator: like a closed session, and the agent is told the operator's words.
	EndedOperator EndReason = "operator"
)

// SessionStarted says that the agent has a new session, which ends and
// displaces the earlier session if there is one.
type SessionStarted struct {
	Agent        hub.AgentID     `json:"agent"`
	Incarnation  uint64          `json:"incarnation"`
	DisplayName  string          `json:"display_name,omitempty"`
	Capabilities []string        `json:"capabilities,omitempty"`
	Metadata     json.RawMessage `json:"metadata,omitempty"`
	Prior        hub.SessionID   `json:"prior,omitempty"` // set by a resume
}

// SessionRenamed says that the live session has another display name.
type SessionRenamed struct {
	Agent       hub.AgentID `json:"agent"`
	DisplayName string      `json:"display_name"`
}

// SessionEnded says that the live session is over.
type SessionEnded struct {
	Agent     hub.AgentID `json:"agent"`
	Reason    EndReason   `json:"reason"`
	Successor hub.AgentID `json:"successor,omitempty"` // the id under which the agent goes on
	Words     string      `json:"words,omitempty"`     // of the operator who ended it
}

// SessionProof names one session of an agent: the one that a command has proved, or
// one that a record begins or ends. The zero value is none.
type SessionProof struct {
	Agent       hub.AgentID
	Incarnation uint64
}

// SessionRevived says that the idle session is live again. It carries the whole
// row, because views do not keep idle sessions.
type SessionRevived struct {
	Session hub.Session `json:"session"`
}

// PriorKeyRetired says that the resume key of the previous session is no longer
// valid.
type PriorKeyRetired struct {
	Agent hub.AgentID `json:"agent"`
}

// FactType gives the fact's number in the journal.
func (*SessionStarted) FactType() FactType { return 100 }

// FactType gives the fact's number in the journal.
func (*SessionRenamed) FactType() FactType { return 101 }

// FactType gives the fact's number in the journal.
func (*SessionEnded) FactType() FactType { return 102 }

// FactType gives the fact's number in the journal.
func (*SessionRevived) FactType() FactType { return 103 }

// FactType gives the fact's number in the journal.
func (*PriorKeyRetired) FactType() FactType { return 104 }

func agentFacts() map[FactType]func() Fact {
	return map[FactType]func() Fact{
		100: func() Fact { return &SessionStarted{} },
		101: func() Fact { return &SessionRenamed{} },
		102: func() Fact { return &SessionEnded{} },
		103: func() Fact { return &SessionRevived{} },
		104: func() Fact { return &PriorKeyRetired{} },
	}
}

// NewAgent returns the state of agent id from its stored row, or a new state if
// row is nil.
func NewAgent(id hub.AgentID, row *AgentRow) *Agent {
	a := &Agent{id: id}
	if row != nil {
		a.row = *row
	}
	return a
}

// sessionBytes is what a live session takes in memory besides its texts.
const sessionBytes = 512

// SessionBytes returns what a session takes in memory while it is live, roughly.
func SessionBytes(s *hub.Session) int {
	size := sessionBytes + len(s.DisplayName) + len(s.Metadata)
	for _, c := range s.Capabilities {
		size += 16 + len(c)
	}
	return size
}

// Weight implements Weighed.
func (a *Agent) Weight() int { return SessionBytes(&a.row.Session) }

// Row returns the stored form of the state.
func (a *Agent) Row() AgentRow { return a.row }

// SessionIDAt is the public form of the session that the record at seq starts.
func SessionIDAt(seq hub.Seq) hub.SessionID {
	return hub.SessionID("s" + strconv.FormatUint(uint64(seq), 36))
}

// Register decides a new session. Errors: session_conflict if replace is false and the agent has a
// live session, and session_ended as in.UnlessEnded says.
func (a *Agent) Register(in hub.RegisterInput, now Now) (Decision[hub.Session], error) {
	if in.Replace != nil && !*in.Replace && a.row.Session.Active {
		return Decision[hub.Session]{}, hub.Errorf(hub.CodeSessionConflict, "agent %s already has a live session", a.id).
			With("session_id", a.row.Session.SessionID).
			WithFix("register with replace true to displace it, or use another agent id")
	}
	if in.UnlessEnded && !a.row.Session.Active && a.row.EndReason == EndedOperator {
		return Decision[hub.Session]{}, a.row.ErrEnded()
	}
	return a.start(in.DisplayName, in.Capabilities, in.Metadata, ""), nil
}

// Resume decides a new session for a caller that has proved the key of session
// prior. Only the latest session can be resumed, and the previous one until the
// latest has made its first call. Error: resume_denied.
func (a *Agent) Resume(prior hub.SessionID, now Now) (Decision[hub.Session], error) {
	latest := a.row.Session
	if latest.Incarnation == 0 || prior != latest.SessionID && prior != a.row.Prior {
		return Decision[hub.Session]{}, hub.NewError(hub.CodeResumeDenied, "this session cannot be resumed").
			WithFix("register the agent anew")
	}
	if !latest.Active && a.row.EndReason == EndedOperator {
		return Decision[hub.Session]{}, a.row.ErrEnded()
	}
	return a.start(latest.DisplayName, latest.Capabilities, latest.Metadata, prior), nil
}

// ErrEnded tells an agent why the operator has ended its session.
func (r *AgentRow) ErrEnded() error {
	return hub.Errorf(hub.CodeSessionEnded, "the operator has ended the session of agent %s at %s: %s", r.Session.AgentID, r.EndedAt, r.Words).
		With("agent_id", r.Session.AgentID).With("ended_at", r.EndedAt)
}

func (a *Agent) start(name string, caps []string, metadata json.RawMessage, prior hub.SessionID) Decision[hub.Session] {
	fact := &SessionStarted{
		Agent: a.id, Incarnation: a.row.Session.Incarnation + 1,
		DisplayName: name, Capabilities: caps, Metadata: metadata, Prior: prior,
	}
	return Decision[hub.Session]{
		Draft:  Draft{Facts: []Fact{fact}},
		Answer: func(at Position) hub.Session { return fact.Session(at) },
	}
}

// Rename decides the live session's display name. Error: session_not_found.
func (a *Agent) Rename(name string, now Now) (Decision[hub.Session], error) {
	if !a.row.Session.Active {
		return Decision[hub.Session]{}, a.noSession()
	}
	row := a.row.Session
	row.DisplayName, row.LastSeen = name, now.Wall
	return answering(row, &SessionRenamed{Agent: a.id, DisplayName: name}), nil
}

// Close decides the end of session id if it is the live one. A successor is the
// id under which the agent goes on. Errors: session_not_found, and invalid if
// the agent is its own successor.
func (a *Agent) Close(id hub.SessionID, successor hub.AgentID) (Decision[hub.ClosedSession], error) {
	if successor == a.id {
		return Decision[hub.ClosedSession]{}, hub.Invalid("successor", "an agent cannot be its own successor").
			WithFix("leave successor out")
	}
	if !a.row.Session.Active || a.row.Session.SessionID != id {
		return Decision[hub.ClosedSession]{}, hub.NewError(hub.CodeSessionNotFound, "there is no such live session").
			WithFix("nothing is left to do if the session was yours")
	}
	return answering(hub.ClosedSession{SessionID: id, Deleted: true}, &SessionEnded{Agent: a.id, Reason: EndedClosed, Successor: successor}), nil
}

// End decides that the operator ends the live session, and tells the agent why. Error:
// session_not_found.
func (a *Agent) End(reason string) (Decision[hub.ClosedSession], error) {
	if !a.row.Session.Active {
		return Decision[hub.ClosedSession]{}, hub.Errorf(hub.CodeSessionNotFound, "agent %s has no live session", a.id)
	}
	id := a.row.Session.SessionID
	return Decision[hub.ClosedSession]{
		Draft: Draft{
			Facts: []Fact{&SessionEnded{Agent: a.id, Reason: EndedOperator, Words: reason}},
			Messages: []MessageDraft{{
				From: hub.AgentOperator, To: a.id, Channel: hub.DirectChannel, Kind: hub.KindNotice, Body: "I have ended your session: " + reason,
				Authority: hub.AuthorityOperator, Assurance: hub.AssuranceOperator,
			}},
		},
		Answer: func(Position) hub.ClosedSession { return hub.ClosedSession{SessionID: id, Deleted: true} },
	}, nil
}

// Idle decides that the session with this incarnation has been silent for too
// long. The draft is empty if that session is not live.
func (a *Agent) Idle(incarnation uint64) Draft {
	if !a.row.Session.Active || a.row.Session.Incarnation != incarnation {
		return Draft{}
	}
	return Draft{Facts: []Fact{&SessionEnded{Agent: a.id, Reason: EndedIdle}}}
}

// Seen decides what a call of the agent changes. An idle session revives. If
// the call proved the latest session (incarnation), the key of the previous
// session is retired. The answer is the latest session after that.
func (a *Agent) Seen(incarnation uint64, now Now) Decision[hub.Session] {
	row := a.row.Session
	var d Draft
	if !row.Active && a.row.EndReason == EndedIdle && row.Incarnation > 0 {
		row.Active, row.LastSeen = true, now.Wall
		d.Facts = append(d.Facts, &SessionRevived{Session: row})
	} else if a.row.Retired != 0 {
		d.Facts = append(d.Facts, &AgentReturned{Agent: a.id})
	}
	if a.row.Prior != "" && incarnation != 0 && incarnation == row.Incarnation {
		d.Facts = append(d.Facts, &PriorKeyRetired{Agent: a.id})
	}
	return Decision[hub.Session]{Draft: d, Answer: func(Position) hub.Session { return row }}
}

// Deliver decides that the direct message m stands in the agent's inbox.
func (*Agent) Deliver(m MessageDraft) Decision[hub.MessageID] { return postDecision(m) }

func (a *Agent) noSession() error {
	return hub.Errorf(hub.CodeSessionNotFound, "agent %s has no such live session", a.id).
		WithFix("register the agent first")
}

// Session returns the row of the session that the record at position starts.
func (f *SessionStarted) Session(at Position) hub.Session {
	caps := slices.Clone(f.Capabilities)
	if caps == nil {
		caps = []string{}
	}
	name := f.DisplayName
	if name == "" {
		name = string(f.Agent)
	}
	return hub.Session{
		SessionID: SessionIDAt(at.Seq), AgentID: f.Agent, DisplayName: name, Capabilities: caps,
		Metadata: objectOf(f.Metadata), CreatedAt: at.Now.Wall, LastSeen: at.Now.Wall,
		Active: true, Incarnation: f.Incarnation,
	}
}

// Apply changes the state by one fact.
func (a *Agent) Apply(f Fact, at Position, rows RowSink) {
	switch f := f.(type) {
	case *SessionStarted:
		a.setRetired(0, rows)
		since := a.row.Since
		if f.Incarnation == 1 {
			since = at.Now.Wall
		}
		a.row = AgentRow{Session: f.Session(at), Prior: f.Prior, Since: since}
		rows.Put(TableSession, []byte(a.row.Session.SessionID), []byte(a.id))
	case *SessionRenamed:
		a.row.Session.DisplayName = f.DisplayName
	case *SessionEnded:
		a.row.Session.Active = false
		a.row.EndReason, a.row.EndedAt, a.row.Successor, a.row.Words = f.Reason, at.Now.Wall, f.Successor, f.Words
	case *SessionRevived:
		a.row.Session = f.Session
		a.row.EndReason, a.row.EndedAt = "", 0
		a.setRetired(0, rows)
	case *PriorKeyRetired:
		a.row.Prior = ""
	case *AgentRetired:
		a.setRetired(at.Now.Wall, rows)
	case *AgentReturned:
		a.setRetired(0, rows)
	default:
		panic(fmt.Sprintf("core: an agent was given the fact %T", f))
	}
	a.row.AsOf = at.Seq
	rows.Put(TableAgent, []byte(a.id), mustJSON(a.row))
}
