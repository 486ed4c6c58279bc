package core

import (
	"bytes"
	"context"
	"strings"

	"hubcli/hub"
)

// A Gap is a range of sequence numbers and of message ids that no record has. An import
// takes one, and gives the numbers to the things of a project. Until the record that makes
// the project visible is committed, nothing of the gap can be read; see Stager.
type Gap struct {
	FromSeq     hub.Seq       `json:"from_seq"`
	UptoSeq     hub.Seq       `json:"upto_seq"`     // at least FromSeq
	FromMessage hub.MessageID `json:"from_message"` // the next free id if the gap has no messages
	UptoMessage hub.MessageID `json:"upto_message"` // FromMessage-1 if the gap has no messages
}

// HasMessage reports whether an id is one of the gap.
func (g *Gap) HasMessage(id hub.MessageID) bool { return id >= g.FromMessage && id <= g.UptoMessage }

func (g *Gap) hasSeq(seq hub.Seq) bool { return seq >= g.FromSeq && seq <= g.UptoSeq }

// Owns reports whether the row of a table under key belongs to the gap: whether its key
// has a number or an id of the gap. Rows of projects and rooms do not, because the record
// that makes the project visible carries them.
func (g *Gap) Owns(t Table, key []byte) bool {
	switch t { //nolint:exhaustive // no import writes the others
	case TableDecision, TableArtifact, TableArtifactContent, TableMemory, TableRun:
		return len(key) == 8 && g.hasSeq(hub.Seq(KeyEnd(key)))
	case TableTask, TableTaskByParent, TableTaskByThread, TableTaskByRoom, TableTaskByRun:
		return len(key) >= 8 && g.HasMessage(hub.MessageID(KeyEnd(key)))
	case TableDecisionByRoom, TableArtifactByRoom, TableArtifactTitle, TableMemoryBy, TableMemoryKey, TableRunByRoom:
		owner, _, _ := bytes.Cut(key, []byte{0})
		return g.HasID(string(owner))
	case TableAgent:
		_, project, ok := hub.AgentID(key).Imported()
		return ok && g.HasID(string(project))
	case TableThread, TableThreadAgent:
		_, project, ok := hub.ThreadID(key).Imported() // the agent of the key stands before the thread
		return ok && g.HasID(string(project))
	}
	return false
}

// HasID reports whether an id of a thing that imports make has a number of the gap.
func (g *Gap) HasID(id string) bool {
	seq, ok := ImportedSeq(id)
	return ok && g.hasSeq(seq)
}

// ImportedSeq returns the number of an id of a thing that imports make, or false if the text is
// no such id.
func ImportedSeq(id string) (hub.Seq, bool) {
	prefix, _, _ := strings.Cut(id, "_")
	switch prefix {
	case PrefixProject, PrefixRoom, PrefixDecision, PrefixArtifact, PrefixMemory, PrefixRun:
		return SeqOf(prefix, id)
	}
	return 0, false
}

// Stager keeps what an import has written out of sight until a record reveals it, and
// deletes it if none ever does. A gap is revealed by the record that carries a row of
// TableImport under ImportKey(gap.FromSeq): with its commit, everything staged in the gap
// can be read, all at once. All methods but PassOver may be called by any goroutine.
type Stager interface {
	// PassOver makes durable that a gap follows the end of the journal. The next record
	// follows the gap. It is called by the goroutine that appends. Errors: as of
	// Journal.Append.
	PassOver(g Gap) error
	// Stage makes messages and rows of a gap durable. The ids of the messages rise by
	// one from each to the next, and lie above those of earlier calls. Each row must be
	// owned by the gap. Errors: ErrNoRoom, nothing was written; any other error is final
	// for the store.
	Stage(g Gap, messages []StoredMessage, rows []Row) error
	// Unstage deletes all that was staged in a gap that was not revealed. The numbers of
	// the gap stay unused. If it fails, it may be called again. Errors: ErrNoRoom, the
	// cause of ctx.
	Unstage(ctx context.Context, g Gap) error
	// Staged returns the gaps that are not revealed.
	Staged() []Gap
	// Vacant returns how many ids from 1 to upto no message has that can be read: those of
	// gaps that are not revealed or were deleted, of lost records, and of tasks that came
	// without the messages that opened them.
	Vacant(upto hub.MessageID) int64
}

// ImportKey is the key of a gap's row in TableImport.
func ImportKey(from hub.Seq) []byte { return SeqKey(from) }
