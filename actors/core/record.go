// Package core holds the decisions of the owners, as pure state machines, and
// the record in which the journal keeps them.
//
// Every owner kind is a state with two sides. Its decide methods take a command
// and the time and return a Decision (facts, messages and the way to answer) or
// an error. They change nothing. Its Apply changes the state by one fact. Apply
// is total: it refuses nothing and reads no clock, so a replay of the journal
// gives the state that was live.
//
// Nothing here is safe for concurrent use: an actor owns each state. Nothing
// here starts a goroutine, reads a clock, a random source, a file or a socket.
package core

import (
	"encoding/binary"
	"encoding/json"
	"fmt"

	"hubcli/hub"
)

// Machine is the state of an owner. Apply changes it by one fact and gives the rows
// that change with it; it is total.
type Machine interface {
	Apply(f Fact, at Position, rows RowSink)
}

// Weighed is a Machine whose size in memory depends on what it holds. Weight returns that
// size in bytes, roughly. It is called after each Apply, and must be cheap.
type Weighed interface {
	Weight() int
}

// OwnerKind says which state machine an owner runs. Its numbers are part of the
// journal's format: append, never reorder.
type OwnerKind uint8

// The owner kinds.
const (
	OwnerAgent    OwnerKind = 1
	OwnerChannel  OwnerKind = 2
	OwnerLeases   OwnerKind = 3
	OwnerTasks    OwnerKind = 4
	OwnerProjects OwnerKind = 5
	OwnerRoom     OwnerKind = 6
	OwnerMemory   OwnerKind = 7
	OwnerSettings OwnerKind = 8
	OwnerSpawns   OwnerKind = 9
	OwnerAsks     OwnerKind = 10
	OwnerPauses   OwnerKind = 12
	OwnerMutes    OwnerKind = 14
	OwnerBudgets  OwnerKind = 15

	OwnerConnections OwnerKind = 16
)

func (k OwnerKind) String() string {
	switch k {
	case OwnerAgent:
		return "agent"
	case OwnerChannel:
		return "channel"
	case OwnerLeases:
		return "leases"
	case OwnerTasks:
		return "tasks"
	case OwnerProjects:
		return "projects"
	case OwnerRoom:
		return "room"
	case OwnerMemory:
		return "memory"
	case OwnerSettings:
		return "settings"
	case OwnerSpawns:
		return "spawns"
	case OwnerAsks:
		return "asks"
	case OwnerPauses:
		return "pauses"
	case OwnerMutes:
		return "mutes"
	case OwnerBudgets:
		return "budgets"
	case OwnerConnections:
		return "connections"
	}
	return fmt.Sprintf("kind-%d", uint8(k))
}

// Owner names one actor. A record names the owner that decided it and whose
// state its facts change.
type Owner struct {
	Kind OwnerKind
	Name string // agent id, channel name, lease shard number, room id, or id of the memory's room or project; empty for a kind with one owner
}

func (o Owner) String() string {
	if o.Name == "" {
		return o.Kind.String()
	}
	return o.Kind.String() + "/" + o.Name
}

// Now is the time that a turn of an owner uses.
type Now struct {
	HubMS int64    // monotonic milliseconds that pass only while the hub runs
	Wall  hub.Time // wall time, for display only
}

// Position is the place of a record in the journal, given by the sequencer: its
// numbers and its time. Facts and messages name ids of their own record by
// index.
type Position struct {
	Seq          hub.Seq
	Now          Now
	FirstMessage hub.MessageID // id of the record's message 0
	FirstFence   hub.Fence     // the record's fence 0
}

// Message returns the id of the record's i-th message.
func (p Position) Message(i int) hub.MessageID { return p.FirstMessage + hub.MessageID(i) }

// Fence returns the record's i-th fence.
func (p Position) Fence(i int) hub.Fence { return p.FirstFence + hub.Fence(i) }

// Draft is a decision of an owner before it is numbered. An empty draft has no
// effect; only its answer counts.
type Draft struct {
	Facts    []Fact
	Messages []MessageDraft
	Fences   int // how many fences the facts take
	// Content is the content of the record's artifact, nil if it has none. No
	// fact carries it: it is stored under the record's sequence number.
	Content []byte
}

// Empty reports whether nothing is to be journaled.
func (d *Draft) Empty() bool { return len(d.Facts) == 0 && len(d.Messages) == 0 }

// Begins reports whether the draft makes a session live.
func (d *Draft) Begins() bool {
	for _, f := range d.Facts {
		switch f.(type) {
		case *SessionStarted, *SessionRevived:
			return true
		}
	}
	return false
}

// Decision is a draft and the function that answers the command after the draft
// is numbered. For an empty draft Answer is called with a zero Position.
type Decision[T any] struct {
	Draft
	Answer func(Position) T
}

// answering is the decision of facts whose answer is known before they are numbered; without facts, one that
// changes nothing.
func answering[T any](answer T, facts ...Fact) Decision[T] {
	return Decision[T]{Draft: Draft{Facts: facts}, Answer: func(Position) T { return answer }}
}

// FactType numbers the facts. Its numbers are part of the journal's format:
// append, never reorder.
type FactType uint16

// Fact is one event that an owner decided. It is a struct of exported fields
// with JSON names; FactType identifies the struct.
type Fact interface{ FactType() FactType }

// Signed is a fact by which something is said to others. It keeps the other user of the machine
// whose program says it.
type Signed interface {
	Fact
	Sign(user string)
}

// EncodedFact is a fact as the journal stores it.
type EncodedFact struct {
	Type FactType
	Data []byte // JSON
}

// Table names one kind of entity row. Its numbers are part of the store's
// format: append, never reorder.
type Table uint8

// The tables of entity rows: the latest state of a thing under its key. Owners
// write the rows of their things in Apply; views write their own.
const (
	TableChannel      Table = 1  // key: channel name
	TableAgent        Table = 2  // key: agent id; the agent's latest session
	TableTask         Table = 3  // key: task id, big endian
	TableTaskByParent Table = 4  // key: parent id, task id; empty value
	TableTaskByThread Table = 5  // key: thread id, 0, task id; empty value
	TableClaim        Table = 6  // key: claim key
	TableLock         Table = 7  // key: canonical path
	TableThread       Table = 8  // key: thread id; public part of the summary
	TableThreadAgent  Table = 9  // key: agent id, 0, thread id; direct part of the summary
	TableQuarantine   Table = 10 // key: owner; the record that it could not apply
	TableDirty        Table = 12 // key: owner; the record whose derived rows are missing, or 0
	TableSession      Table = 11 // key: public session id; value: agent id

	TableProject         Table = 13  // key: project id
	TableRoom            Table = 14  // key: room id
	TableSeat            Table = 15  // key: room id, 0, agent id
	TableInvite          Table = 16  // key: room id, 0, sequence number
	TableInviteCode      Table = 17  // key: hash of the code; value: the invite's key in TableInvite
	TableDecision        Table = 18  // key: sequence number, big endian
	TableDecisionByRoom  Table = 19  // key: room id, 0, sequence number; empty value
	TableArtifact        Table = 20  // key: sequence number, big endian
	TableArtifactByRoom  Table = 21  // key: room id, 0, sequence number; empty value
	TableArtifactTitle   Table = 22  // key: room id, 0, title; value: latest version, artifact id
	TableArtifactContent Table = 23  // key: sequence number, big endian; value: the bytes
	TableMemory          Table = 24  // key: sequence number, big endian
	TableMemoryBy        Table = 25  // key: room or project id, 0, sequence number; empty value
	TableMemoryKey       Table = 26  // key: room or project id, 0, key; value: sequence number of the latest
	TableRun             Table = 27  // key: sequence number, big endian
	TableRunByRoom       Table = 28  // key: room id, 0, sequence number; empty value
	TableTaskByRoom      Table = 29  // key: room id, 0, task id; empty value
	TableTaskByRun       Table = 30  // key: run id, 0, task id; value: sequence number of its joining, 1 if it is direct
	TableSeen            Table = 31  // key: agent id; how far the agent has seen
	TableSeatByAgent     Table = 32  // key: agent id, 0, sequence number; value: room id, empty if the seat is another's now
	TableInviteRoom      Table = 33  // key: sequence number, big endian; value: room id
	TableInvitesActive   Table = 34  // key: room id; ids of its invites that are active, as JSON
	TableToolSurface     Table = 35  // key: harness; value: its surface, empty: none was chosen
	TableSpawn           Table = 36  // key: sequence number, big endian
	TableSpawnByRoom     Table = 37  // key: room id, 0, sequence number; empty value
	TableSpawnPolicy     Table = 38  // one row; key: "policy"
	TableSpawnLive       Table = 39  // one row; key: "live"; what the owner must know to decide
	TableNotify          Table = 40  // one row; key: "notify"
	TableAsk             Table = 50  // key: sequence number, big endian
	TableAskOpen         Table = 51  // one row; key: "open"; ids of the open questions
	TablePermissions     Table = 52  // one row; key: "policy"; what becomes of permission prompts
	TableTakenBack       Table = 53  // key: message id, big endian; an answer that the operator has taken back
	TableChannelArchived Table = 80  // key: channel name; value: 1, empty: it is back
	TableRetired         Table = 81  // key: agent id; value: the time in decimal digits, empty: it is back
	TablePause           Table = 60  // key: "all", or "agent" or "room", 0, its id; empty value: the pause is over
	TableMute            Table = 70  // key: agent id, 0, room id or nothing; empty value: the mute is over
	TableImport          Table = 90  // key: first sequence number of the import's gap, big endian
	TableBudget          Table = 71  // key: "agent" or "room", 0, its id; empty value: the budget is over
	TableUser            Table = 101 // key: ID of an account of the machine; empty value: it is not let in any more
	TablePass            Table = 100 // key: pass id; empty value: the pass has ended
	TableMoment          Table = 120 // key: sequence number, number of the part; the tasks, runs and leases after that record
	TableSeatEnded       Table = 121 // key: room id, 0, sequence number of its end, agent id; the seat
	TablePauseBefore     Table = 122 // key: sequence number of a change, key of its target; the pause before, empty: there was none
	TableConnection      Table = 110 // key: connection id; empty value: it was deleted
	TableConnectionModel Table = 111 // key: connection id; value: the models that its provider told last, empty: none
)

// Row is the latest state of one thing. A later row of the same table and key
// replaces it.
type Row struct {
	Table Table
	Key   []byte
	Value []byte
}

// RowSink takes the rows that Apply writes. During replay there is none,
// because the rows are already stored.
type RowSink func(Row)

// Put adds a row, or does nothing without a sink.
func (s RowSink) Put(t Table, key, value []byte) {
	if s != nil {
		s(Row{Table: t, Key: key, Value: value})
	}
}

// IDKey is the key form of a numeric id: 8 bytes, big endian, so that keys sort
// by number.
func IDKey(id hub.MessageID) []byte { return binary.BigEndian.AppendUint64(nil, uint64(id)) }

// StoredMessage is one message row with the fields that filters need, so that
// they never parse its JSON.
type StoredMessage struct {
	ID      hub.MessageID
	TS      hub.Time
	From    hub.AgentID
	To      hub.AgentID // empty: public
	Channel hub.ChannelName
	Thread  hub.ThreadID // empty: none
	Kind    hub.Kind
	// BodyStart and BodyEnd bound, in JSON, the value of body and the member
	// truncated behind it: `"…","truncated":null`. A poll with a character
	// budget replaces only these bytes.
	BodyStart, BodyEnd int
	BodyChars          int  // characters of the body
	Whole              bool // wake notices: never shortened
	Muted              bool // its sender was muted: it wakes nobody
	JSON               hub.EncodedMessage
}

// Trial reports whether it is a direct message of a trial of an adapter, which concerns nobody else.
func (m *StoredMessage) Trial() bool { return m.To != "" && (m.From.Trial() || m.To.Trial()) }

// Effect is the answer of a write that carried an idempotency key, stored in
// the same record as the write.
type Effect struct {
	Scope  [32]byte // hash of agent, method, path and key
	Body   [32]byte // hash of the request body
	Seq    hub.Seq  // the record
	Kind   uint8    // how Answer is rendered again; see package actors
	Answer []byte
	At     hub.Time // wall time of the effect
}

// Record is the whole effect of one command. It becomes durable and visible as
// a whole or not at all.
type Record struct {
	Seq          hub.Seq
	Owner        Owner
	HubMS        int64
	Wall         hub.Time
	FirstMessage hub.MessageID // next free id if there is no message
	MessageCount int
	FirstFence   hub.Fence // next free fence if it takes none
	FenceCount   int
	Facts        []EncodedFact

	// The fields below go to rows of their own and are absent when a record is
	// read back for replay.
	Messages []StoredMessage
	Rows     []Row
	Effect   *Effect // nil without an idempotency key
}

// Position returns where the record stands.
func (r *Record) Position() Position {
	return Position{
		Seq: r.Seq, Now: Now{HubMS: r.HubMS, Wall: r.Wall},
		FirstMessage: r.FirstMessage, FirstFence: r.FirstFence,
	}
}

// Group is the content of one synced commit: records in sequence order without
// a gap, and the rows of the views that these records changed.
type Group struct {
	Records []*Record
	Rows    []Row
}

// Head is the end of the journal: the highest numbers in use and the hub's
// time.
type Head struct {
	Seq     hub.Seq
	Message hub.MessageID
	Fence   hub.Fence
	HubMS   int64
}

// ScopeKind says what a scope selects.
type ScopeKind uint8

// The scopes that messages are indexed by. ScopeAll is every message by id.
const (
	ScopeAll     ScopeKind = 0
	ScopeChannel ScopeKind = 1 // public messages of a channel
	ScopeThread  ScopeKind = 2 // all messages of a thread, direct ones too
	ScopeInbox   ScopeKind = 3 // direct messages to an agent
	ScopePublic  ScopeKind = 4 // all public messages; on disk this is ScopeAll, filtered
)

// Scope selects messages.
type Scope struct {
	Kind ScopeKind
	Name string // channel, thread or agent; empty for ScopeAll and ScopePublic
}

// Checkpoint is the state of all owners at one sequence number.
type Checkpoint struct {
	Head     Head // Head.Seq is the as-of: every record up to it is in the state
	Wall     hub.Time
	Sections []Section
}

// Section is the state of one owner in a checkpoint.
type Section struct {
	Owner   Owner
	AsOf    hub.Seq //  every record of the owner up to it is in Data; at least the checkpoint's
	Version uint16  // of the encoding of this owner kind
	Data    []byte
}

// MessageDraft is a message before it has an id and a time.
type MessageDraft struct {
	From        hub.AgentID
	To          hub.AgentID // empty: public
	Channel     hub.ChannelName
	Kind        hub.Kind
	Body        string
	Attachments []hub.Attachment
	ReplyTo     hub.MessageID   // 0: none
	Thread      hub.ThreadID    // empty: none
	Metadata    json.RawMessage // compact object; empty: {}
	Room        hub.RoomID      // empty: none
	Parent      hub.TaskID      // 0: none
	Authority   hub.Authority
	Assurance   hub.Assurance
	User        string          // the other user of the machine whose program sent it; empty: none
	Whole       bool            // a wake notice: never shortened
	Muted       bool            // its sender is muted: it wakes nobody
	Imported    *hub.ImportedAs // of a message that a capsule brought
	// Numbered, if set, fills in the ids of the message's own record when the
	// record has a position. It must do nothing else.
	Numbered func(*MessageDraft, Position)
}
