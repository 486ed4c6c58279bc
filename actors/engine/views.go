package engine

import (
	"hubcli/actors/core"
	"hubcli/hub"
)

// Views shows committed records. The writer calls Prepare, Forget, Begin, Show and End
// in the order of the records, one call at a time.
type Views interface {
	// Prepare returns the rows that the views want stored with these records.
	Prepare(records []*core.Record) ([]core.Row, error)
	// Forget drops the notes of the last Prepare: its records were not committed.
	Forget()
	// Begin and End enclose the records of one group.
	Begin()
	End()
	// Show shows a record. It appends to scopes each scope that has something
	// new.
	Show(r *core.Record, facts []core.Fact, scopes []core.Scope) []core.Scope
	// PassedOver says that the next record follows a gap of an import. It is called
	// between Begin and End.
	PassedOver(g core.Gap)
	// Rebuilt shows the state of an owner that was rebuilt, and the rows that
	// its broken Apply did not return. A row that is already shown changes
	// nothing.
	Rebuilt(k core.Owner, state core.Machine, rows []core.Row)
	// Live reports whether an agent has a live session.
	Live(agent hub.AgentID) bool
	// Restore takes the section of a checkpoint that Snapshot made. Replay
	// takes a fact after that checkpoint. Started is called once with all
	// states, before the first turn; it returns the live sessions.
	Restore(s core.Section) error
	Replay(f core.Fact, at core.Position)
	Started(head core.Head, now hub.Time, states map[core.Owner]core.Machine) []core.SessionProof
	// Snapshot returns the sessions for a checkpoint, and the last record in them.
	Snapshot() (core.Section, core.Head, error)
	// Timed reports whether anything shown has a deadline. If so, a checkpoint
	// is due from time to time even without records, to save how much hub time
	// has passed.
	Timed() bool
	// ShownUpTo returns the last record that is shown.
	ShownUpTo() hub.Seq
}

// subscriber learns of each committed record, on the writer's goroutine.
type subscriber = func(r *core.Record, facts []core.Fact)
