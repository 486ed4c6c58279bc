package core

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"testing"

	"hubcli/hub"
	"hubcli/internal/formatlist"
	"hubcli/internal/require"
)

var updateFormat = flag.Bool("update", false, "add what has a number of the store's format to the list")

// storedRows are the values of the tables whose rows are JSON made here. The other tables
// hold keys and numbers; those of the views, the engine and of moments are in the lists of
// their packages and under the sections.
var storedRows = map[Table]any{
	TableChannel: hub.Channel{}, TableAgent: AgentRow{}, TableTask: StoredTask{}, TableClaim: Lease{}, TableLock: Lease{},
	TableProject: hub.Project{}, TableRoom: StoredRoom{}, TableSeat: StoredSeat{}, TableInvite: StoredInvite{},
	TableDecision: hub.Decision{}, TableArtifact: hub.Artifact{}, TableArtifactTitle: LatestArtifact{},
	TableMemory: StoredMemory{}, TableMemoryBy: MemoryEnd{}, TableMemoryKey: memoryTally{}, TableRun: StoredRun{},
	TableSeen: Seen{}, TableSpawn: hub.Spawn{}, TableSpawnPolicy: hub.SpawnPolicy{}, TableSpawnLive: LiveSpawns{},
	TableNotify: hub.Notify{}, TableAsk: StoredAsk{}, TableAskOpen: OpenAsks{}, TableTakenBack: TakenBack{}, TablePermissions: hub.PermissionPolicy{},
	TablePause: hub.Pause{}, TablePauseBefore: hub.Pause{}, TableMute: hub.Mute{}, TableImport: Import{}, TableBudget: hub.Budget{},
	TablePass: hub.Pass{}, TableUser: hub.AllowedUser{}, TableSeatEnded: StoredSeat{}, TableConnection: hub.Connection{}, TableConnectionModel: []hub.ProviderModel{},
}

// notStored are members that only answers have: the hub makes them anew each time, and
// stores them nowhere.
var notStored = []string{"table 50 (TableAsk) member ask.digest"}

// TestStoredThingsHaveNumbers: a new owner kind, fact, table or version of a section has a
// number of the store's format, and so has a new member of one of them. Then older programs
// say that the store was made by a newer one.
func TestStoredThingsHaveNumbers(t *testing.T) {
	var things []formatlist.Thing
	add := func(name string, number int) { things = append(things, formatlist.Thing{Name: name, Number: number}) }
	members := func(under string, of FormatMember, v any) {
		things = append(things, formatlist.Members(under, v, func(path []string) int {
			return max(StoreFormats().MemberNumber(of, path), StoreFormats().facts[of.Fact], StoreFormats().tables[of.Table])
		})...)
	}
	for kind := range constants(t, "OwnerKind") {
		add(fmt.Sprintf("owner kind %d (%s)", kind, OwnerKind(kind)), StoreFormats().owners[OwnerKind(kind)])
	}
	for fact, made := range factTypes() {
		name := fmt.Sprintf("fact %d (%s)", fact, fact)
		add(name, StoreFormats().facts[fact])
		members(name, FormatMember{Fact: fact}, made())
	}
	for number, constant := range constants(t, "Table") {
		name := fmt.Sprintf("table %d (%s)", number, constant)
		add(name, StoreFormats().tables[Table(number)])
		if v, ok := storedRows[Table(number)]; ok {
			members(name, FormatMember{Table: Table(number)}, v)
		}
	}
	members("message", FormatMember{Message: true}, hub.Message{})
	for kind, section := range map[OwnerKind]struct {
		latest uint16
		state  any
	}{OwnerLeases: {LeasesVersion, leasesSnapshot{}}, OwnerTasks: {TasksVersion, tasksSnapshot{}}, OwnerProjects: {ProjectsVersion, projectsSnapshot{}}} {
		for version := uint16(1); version <= section.latest; version++ {
			add(fmt.Sprintf("section %s version %d", kind, version), StoreFormats().sections[FormatSection{kind, version}])
		}
		members("section "+kind.String(), FormatMember{Section: kind}, section.state)
	}
	things = slices.DeleteFunc(things, func(thing formatlist.Thing) bool { return slices.Contains(notStored, thing.Name) })
	formatlist.Check(t, "testdata/format.txt", things, *updateFormat)
}

// constants returns the constants of a type in this package, by their number.
func constants(t *testing.T, typ string) map[int]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "record.go", nil, 0)
	require.NoError(t, err)
	all := map[int]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if name, ok := spec.Type.(*ast.Ident); ok && name.Name == typ {
			number, err := strconv.Atoi(spec.Values[0].(*ast.BasicLit).Value)
			require.NoError(t, err)
			if other := all[number]; other != "" {
				t.Errorf("%s and %s are both %d", other, spec.Names[0], number)
			}
			all[number] = spec.Names[0].Name
		}
		return true
	})
	if len(all) < 10 {
		t.Errorf("%d constants of %s were found", len(all), typ)
	}
	return all
}

// TestStepsRise: the numbers of the steps follow each other, and each says what it brought.
func TestStepsRise(t *testing.T) {
	for i, s := range FormatSteps {
		if s.Number != BaseFormat+1+i || s.Brings == "" {
			t.Errorf("step %d has the number %d and brings %q; it must have %d and say what it brings", i, s.Number, s.Brings, BaseFormat+1+i)
		}
		for _, m := range s.Members {
			set := 0
			for _, is := range []bool{m.Fact != 0, m.Table != 0, m.Section != 0, m.Message} {
				if is {
					set++
				}
			}
			if set != 1 || m.Name == "" {
				t.Errorf("step %d: a member must name one of fact, table, section and message: %+v", s.Number, m)
			}
		}
	}
}

// TestNeedOfStored: each thing that a step brings raises what is about to be stored, alone
// and among old things; what was there before raises nothing.
func TestNeedOfStored(t *testing.T) {
	f := NewFormats([]FormatStep{
		{Number: 6, Owners: []OwnerKind{200}, Facts: []FactType{20000}, Tables: []Table{200}, Effects: []uint8{200}},
		{Number: 7, Members: []FormatMember{{Fact: 100, Name: "os_user"}, {Table: TableAgent, Name: "os_user"}, {Message: true, Name: "from_user"}}},
		{Number: 8, Members: []FormatMember{{Fact: 102, Name: "reason", Value: `"moved"`}, {Section: OwnerTasks, Name: "late"}}, Flags: 1 << 3},
		{Number: 9, Sections: []FormatSection{{OwnerProjects, 2}}, Files: []string{"MAKER"}},
	})
	group := func(change func(*Record)) *Group {
		old := Record{
			Owner: AgentOwner("a"), Facts: []EncodedFact{{100, []byte(`{"agent":"a","display_name":"\"os_user\":"}`)}, {102, []byte(`{"agent":"a","reason":"idle"}`)}},
			Rows: []Row{{Table: TableAgent, Value: []byte(`{"session":{}}`)}}, Messages: []StoredMessage{{JSON: []byte(`{"body":"\"from_user\":1"}`)}}, Effect: &Effect{Kind: 1},
		}
		changed := old
		changed.Facts, changed.Rows, changed.Messages = slices.Clone(old.Facts), slices.Clone(old.Rows), slices.Clone(old.Messages)
		change(&changed)
		return &Group{Records: []*Record{&old, &changed}}
	}
	for what, c := range map[string]struct {
		want int
		g    *Group
	}{
		"nothing new":        {0, group(func(*Record) {})},
		"owner kind":         {6, group(func(r *Record) { r.Owner.Kind = 200 })},
		"fact":               {6, group(func(r *Record) { r.Facts[0].Type = 20000 })},
		"table":              {6, group(func(r *Record) { r.Rows[0].Table = 200 })},
		"row of a view":      {6, &Group{Rows: []Row{{Table: 200}}}},
		"effect":             {6, group(func(r *Record) { r.Effect = &Effect{Kind: 200} })},
		"member of a fact":   {7, group(func(r *Record) { r.Facts[0].Data = []byte(`{"agent":"a","os_user":"eve"}`) })},
		"of another fact":    {0, group(func(r *Record) { r.Facts[1].Data = []byte(`{"os_user":"eve"}`) })},
		"member of a row":    {7, group(func(r *Record) { r.Rows[0].Value = []byte(`{"os_user":1}`) })},
		"of another row":     {0, group(func(r *Record) { r.Rows[0] = Row{Table: TableSeat, Value: []byte(`{"os_user":1}`)} })},
		"member of message":  {7, group(func(r *Record) { r.Messages[0].JSON = []byte(`{"from_user":"eve"}`) })},
		"value of a member":  {8, group(func(r *Record) { r.Facts[1].Data = []byte(`{"reason":"moved"}`) })},
		"moment of sections": {8, &Group{Rows: []Row{{Table: TableMoment}}}},
	} {
		if got := f.OfGroup(c.g); got != c.want {
			t.Errorf("%s: %d, want %d", what, got, c.want)
		}
	}
	sections := func(s ...Section) int { return f.OfCheckpoint(&Checkpoint{Sections: s}) }
	for what, got := range map[string][2]int{
		"flag": {f.OfFlags(1 << 3), 8}, "old flags": {f.OfFlags(3), 0}, "file": {f.OfName("MAKER"), 9}, "old file": {f.OfName("key"), 0},
		"section":           {sections(Section{Owner: ProjectsOwner(), Version: 2}), 9},
		"old section":       {sections(Section{Owner: ProjectsOwner(), Version: 1}, Section{Owner: TasksOwner(), Version: 5, Data: []byte(`{}`)}), 0},
		"member of section": {sections(Section{Owner: TasksOwner(), Version: 5, Data: []byte(`{"tasks":[{"late":true}]}`)}), 8},
		"latest":            {f.Latest(), 9},
	} {
		if got[0] != got[1] {
			t.Errorf("%s: %d, want %d", what, got[0], got[1])
		}
	}
}
