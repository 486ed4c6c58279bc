package core

import (
	"bytes"
	"slices"
	"sync"
)

// BaseFormat is the format of a store in which nothing is stored that a step of
// FormatSteps brought. A store of an earlier format is raised to it when it is
// opened: before it one number stood for many programs, of which the older ones
// could not read what the newer ones wrote.
const BaseFormat = 5

// FormatStep is one number of the store's format and all that it brought. The number
// in FORMAT is the least program that understands the store: a store gets the number
// of a step when something of the step is about to be written for the first time, and
// not before. So a store in which nothing new was used stays readable by older programs.
type FormatStep struct {
	Number int
	Brings string // in a few words, for people

	Owners  []OwnerKind
	Facts   []FactType
	Tables  []Table
	Effects []uint8 // kinds of stored answers
	// Members are new members of facts, rows, messages and sections that were there before.
	Members []FormatMember
	// Sections are new versions of the sections of checkpoints.
	Sections []FormatSection
	// Flags are new flags of stored messages, as bits.
	Flags uint8
	// Files are names in the folder of the store. Code that makes such a file calls
	// Store.RaiseFor first.
	Files []string
	// Encodings are names of encodings, with their version, and of prefixes of keys; see
	// persistence/format_test.go. Code that writes one calls Store.RaiseFor first.
	Encodings []string
}

// FormatMember is a member that something stored got later. Exactly one of Fact, Table,
// Section and Message is set.
type FormatMember struct {
	Fact    FactType
	Table   Table
	Section OwnerKind // OwnerAgent: the live sessions
	Message bool
	// Name is the member's name in the JSON. Value, if it is set, is the JSON of one new
	// value of it: only this value counts.
	Name, Value string
}

// FormatSection is a version of a section.
type FormatSection struct {
	Kind    OwnerKind // OwnerAgent: the live sessions
	Version uint16
}

// FormatSteps are the steps behind BaseFormat, rising by one. A step is never changed
// once it has been released. docs/formats.md, "Versions", says how to add one.
var FormatSteps = []FormatStep{
	{
		Number: 6, Brings: "users of the machine who are let in, and the mark of what they write",
		Facts: []FactType{factUserAllowed, factUserRefused}, Tables: []Table{TableUser}, Effects: []uint8{71},
		Members: []FormatMember{
			{Message: true, Name: "local_user"},
			{Fact: factAsked, Name: "local_user"},
			{Fact: factDecisionAdded, Name: "local_user"},
			{Fact: factArtifactAdded, Name: "local_user"},
			{Fact: factMemoryRemembered, Name: "local_user"},
			{Table: TableAsk, Name: "local_user"},
			{Table: TableDecision, Name: "local_user"},
			{Table: TableArtifact, Name: "local_user"},
			{Table: TableMemory, Name: "local_user"},
		},
	},
	{
		Number: 7, Brings: "the mark of the data root whose hub made the store, and the operator's socket",
		Files: []string{"MAKER", "SOCKET"},
	},
	{
		Number: 8, Brings: "who made a project, an invite's seat and a channel that counts, and whether the maker of an invite was proved",
		Members: []FormatMember{
			{Table: TableProject, Name: "made_by"},
			{Fact: factProjectImported, Name: "made_by"},
			{Section: OwnerProjects, Name: "made_by"},
			{Fact: factSeatTaken, Name: "by"},
			{Fact: factSeatMoved, Name: "by"},
			{Table: TableSeat, Name: "by"},
			{Table: TableSeatEnded, Name: "by"},
			{Fact: factInviteCreated, Name: "proved"},
			{Table: TableInvite, Name: "proved"},
			{Section: OwnerAgent, Name: "creators"},
		},
		Effects: []uint8{62}, // the operator has freed a seat
	},
	{
		Number: 9, Brings: "projects, rooms and channels that were deleted because they held nothing",
		Facts: []FactType{factRoomDeleted, factProjectDeleted, factChannelDeleted},
	},
	{
		Number: 10, Brings: "tasks of a plan that go on after one that they waited for has failed",
		Members: []FormatMember{
			{Fact: factTaskOpened, Name: "goes_on"},
			{Table: TableTask, Name: "goes_on"},
			{Section: OwnerTasks, Name: "goes_on"},
		},
	},
	{
		Number: 11, Brings: "tasks whose assignee has gone",
		Facts: []FactType{factTaskLeft},
		Members: []FormatMember{
			{Table: TableTask, Name: "assignee_gone_since"},
			{Section: OwnerTasks, Name: "assignee_gone_since"},
			{Table: TableTask, Name: "taken_over"},
			{Section: OwnerTasks, Name: "taken_over"},
		},
	},
	{
		Number: 12, Brings: "free tasks that an idle agent was told of",
		Facts: []FactType{factTaskSuggested},
		Members: []FormatMember{
			{Table: TableTask, Name: "suggested"},
			{Section: OwnerTasks, Name: "suggested"},
			{Table: TableTask, Name: "suggested_at"},
			{Section: OwnerTasks, Name: "suggested_at"},
		},
	},
	{
		Number: 13, Brings: "answers of writes whose effect is not in the journal, such as exports, and records that hold nothing else",
		Effects: []uint8{72},
	},
	{
		Number: 14, Brings: "answers to questions that the operator has taken back",
		Facts: []FactType{factAnswerTakenBack}, Tables: []Table{TableTakenBack},
	},
}

// Formats tells which format something needs that is about to be stored.
type Formats struct {
	latest    int
	owners    map[OwnerKind]int
	facts     map[FactType]int
	tables    map[Table]int
	effects   map[uint8]int
	sections  map[FormatSection]int
	names     map[string]int // files and encodings
	flags     [8]int
	moments   int // what the sections in a moment may need; its table has a number of its own
	inFact    map[FactType][]memberNeed
	inTable   map[Table][]memberNeed
	inSection map[OwnerKind][]memberNeed
	inMessage []memberNeed
}

// memberNeed is a member, as it stands in compact JSON, and the format that it needs.
type memberNeed struct {
	text   []byte
	name   string
	format int
}

// StoreFormats knows the formats of this program.
var StoreFormats = sync.OnceValue(func() *Formats { return NewFormats(FormatSteps) })

// NewFormats makes the Formats of a program that knows these steps.
func NewFormats(steps []FormatStep) *Formats {
	f := &Formats{
		latest: BaseFormat, owners: map[OwnerKind]int{}, facts: map[FactType]int{}, tables: map[Table]int{}, effects: map[uint8]int{},
		sections: map[FormatSection]int{}, names: map[string]int{},
		inFact: map[FactType][]memberNeed{}, inTable: map[Table][]memberNeed{}, inSection: map[OwnerKind][]memberNeed{},
	}
	for i := range steps {
		f.add(&steps[i])
	}
	return f
}

func (f *Formats) add(s *FormatStep) {
	f.latest = max(f.latest, s.Number)
	enter(f.owners, s.Owners, s.Number)
	enter(f.facts, s.Facts, s.Number)
	enter(f.tables, s.Tables, s.Number)
	enter(f.effects, s.Effects, s.Number)
	enter(f.sections, s.Sections, s.Number)
	enter(f.names, s.Files, s.Number)
	enter(f.names, s.Encodings, s.Number)
	for bit := range f.flags {
		if s.Flags&(1<<bit) != 0 {
			f.flags[bit] = s.Number
		}
	}
	for _, m := range s.Members {
		need := memberNeed{text: []byte(`"` + m.Name + `":` + m.Value), name: m.Name, format: s.Number}
		switch {
		case m.Fact != 0:
			f.inFact[m.Fact] = append(f.inFact[m.Fact], need)
		case m.Table != 0:
			f.inTable[m.Table] = append(f.inTable[m.Table], need)
		case m.Section != 0:
			f.inSection[m.Section] = append(f.inSection[m.Section], need)
			if m.Section == OwnerTasks || m.Section == OwnerLeases { // a moment has these
				// Its rows are deflated: nobody can look for a member in them.
				f.moments = s.Number
			}
		case m.Message:
			f.inMessage = append(f.inMessage, need)
		}
	}
}

func enter[K comparable](into map[K]int, all []K, number int) {
	for _, k := range all {
		into[k] = number
	}
}

// Latest is the newest format that the program knows.
func (f *Formats) Latest() int { return f.latest }

// needOf is the highest format that a member in text needs. A text with metadata of an
// agent may hold the same characters. The format then rises too early, which harms no
// data.
func needOf(all []memberNeed, text []byte) (format int) {
	for i := range all {
		if all[i].format > format && bytes.Contains(text, all[i].text) {
			format = all[i].format
		}
	}
	return format
}

// OfGroup is the format that a group needs.
func (f *Formats) OfGroup(g *Group) int {
	need := f.OfRows(g.Rows)
	for _, r := range g.Records {
		need = max(need, f.owners[r.Owner.Kind], f.OfRows(r.Rows), f.OfMessages(r.Messages))
		for i := range r.Facts {
			fact := &r.Facts[i]
			need = max(need, f.facts[fact.Type], needOf(f.inFact[fact.Type], fact.Data))
		}
		if r.Effect != nil {
			need = max(need, f.effects[r.Effect.Kind])
		}
	}
	return need
}

// OfRows is the format that rows need.
func (f *Formats) OfRows(rows []Row) (need int) {
	for i := range rows {
		need = max(need, f.tables[rows[i].Table], needOf(f.inTable[rows[i].Table], rows[i].Value))
		if rows[i].Table == TableMoment {
			need = max(need, f.moments)
		}
	}
	return need
}

// OfMessages is the format that messages need, their flags left out.
func (f *Formats) OfMessages(messages []StoredMessage) (need int) {
	if len(f.inMessage) == 0 {
		return 0
	}
	for i := range messages {
		need = max(need, needOf(f.inMessage, messages[i].JSON))
	}
	return need
}

// OfFlags is the format that the flags of a message need.
func (f *Formats) OfFlags(flags uint8) (need int) {
	for bit, number := range f.flags {
		if flags&(1<<bit) != 0 {
			need = max(need, number)
		}
	}
	return need
}

// OfCheckpoint is the format that a checkpoint needs.
func (f *Formats) OfCheckpoint(c *Checkpoint) (need int) {
	for i := range c.Sections {
		s := &c.Sections[i]
		need = max(need, f.owners[s.Owner.Kind], f.sections[FormatSection{s.Owner.Kind, s.Version}], needOf(f.inSection[s.Owner.Kind], s.Data))
	}
	return need
}

// OfName is the format that a file in the store's folder or an encoding needs.
func (f *Formats) OfName(name string) int { return f.names[name] }

// EffectNumber is the number of the step that brought a kind of stored answers; 0: none.
func (f *Formats) EffectNumber(kind uint8) int { return f.effects[kind] }

// SectionNumber is the number of the step that brought a version of a section; 0: none.
func (f *Formats) SectionNumber(s FormatSection) int { return f.sections[s] }

// MemberNumber is the number of the step that brought a member of a fact, table, section
// or message, 0: none; path are the names from the outermost member on. A member of a new
// member is as new.
func (f *Formats) MemberNumber(of FormatMember, path []string) int {
	all := f.inMessage
	switch {
	case of.Fact != 0:
		all = f.inFact[of.Fact]
	case of.Table != 0:
		all = f.inTable[of.Table]
	case of.Section != 0:
		all = f.inSection[of.Section]
	}
	number := 0
	for _, need := range all {
		if slices.Contains(path, need.name) {
			number = max(number, need.format)
		}
	}
	return number
}
