package persistence

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"hubcli/persistence/codec"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/require"
)

// passOver takes a gap behind the end of the journal.
func passOver(t *testing.T, s *Store, seqs, messages int) core.Gap {
	t.Helper()
	g := core.Gap{
		FromSeq: s.durable.Seq + 1, UptoSeq: s.durable.Seq + hub.Seq(seqs),
		FromMessage: s.durable.Message + 1, UptoMessage: s.durable.Message + hub.MessageID(messages),
	}
	require.NoError(t, s.PassOver(g))
	return g
}

// staged writes into a gap what an import writes: messages of a room and their thread, and
// a row of each table that a gap owns.
func staged(t *testing.T, s *Store, g core.Gap) (rows []core.Row) {
	t.Helper()
	room, project := hub.RoomID(core.IDAt(core.PrefixRoom, g.FromSeq)), hub.ProjectID(core.IDAt(core.PrefixProject, g.FromSeq))
	thread := hub.ImportedThread("work", project)
	var messages []core.StoredMessage
	for id := g.FromMessage; id <= g.UptoMessage; id++ {
		d := core.MessageDraft{From: hub.ImportedAgent("anna", project), Channel: room.Channel(), Kind: hub.KindChat, Body: fmt.Sprint("text ", id), Thread: thread, Room: room}
		if id == g.UptoMessage {
			d.To = "bert"
		}
		messages = append(messages, d.Encode(id, 1))
	}
	seq, id := core.SeqKey(g.UptoSeq), core.IDKey(g.FromMessage)
	for table, key := range map[core.Table][]byte{
		core.TableDecision: seq, core.TableArtifact: seq, core.TableArtifactContent: seq, core.TableMemory: seq, core.TableRun: seq,
		core.TableTask: id, core.TableTaskByParent: append(core.IDKey(1), id...), core.TableTaskByThread: append([]byte(thread+"\x00"), id...),
		core.TableTaskByRoom: core.OwnedKey(room, id), core.TableTaskByRun: core.OwnedKey("run_1", id),
		core.TableDecisionByRoom: core.OwnedKey(room, seq), core.TableArtifactByRoom: core.OwnedKey(room, seq), core.TableRunByRoom: core.OwnedKey(room, seq),
		core.TableArtifactTitle: core.OwnedKey(room, []byte("plan")), core.TableMemoryBy: core.OwnedKey(project, seq), core.TableMemoryKey: core.OwnedKey(project, nil),
		core.TableThread: []byte(thread), core.TableThreadAgent: []byte("bert\x00" + thread),
	} {
		rows = append(rows, core.Row{Table: table, Key: key, Value: []byte("value")})
	}
	half := len(messages) / 2
	require.NoError(t, s.Stage(g, messages[:half], rows[:9]))
	require.NoError(t, s.Stage(g, messages[half:], rows[9:]))
	return rows
}

// reveal commits the record that makes a gap visible.
func reveal(t *testing.T, s *Store, g core.Gap) {
	t.Helper()
	h := s.durable
	require.NoError(t, s.Append(&core.Group{Records: []*core.Record{{
		Seq: h.Seq + 1, FirstMessage: h.Message + 1, FirstFence: h.Fence + 1,
		Rows: []core.Row{{Table: core.TableImport, Key: core.ImportKey(g.FromSeq), Value: []byte("import")}},
	}}}))
}

// inSight counts what can be read of a gap, by every way there is: messages and rows.
func inSight(t *testing.T, s *Store, g core.Gap, rows []core.Row) (messages, found int) {
	t.Helper()
	project := hub.ProjectID(core.IDAt(core.PrefixProject, g.FromSeq))
	room := hub.RoomID(core.IDAt(core.PrefixRoom, g.FromSeq))
	count := func(*core.StoredMessage) bool { messages++; return true }
	for _, scope := range []core.Scope{
		{Kind: core.ScopeAll},
		{Kind: core.ScopeChannel, Name: string(room.Channel())},
		{Kind: core.ScopeThread, Name: string(hub.ImportedThread("work", project))},
		{Kind: core.ScopeInbox, Name: "bert"},
	} {
		for _, backward := range []bool{false, true} {
			require.NoError(t, s.Messages(scope, g.FromMessage-1, g.UptoMessage, backward, count))
		}
	}
	for id := g.FromMessage; id <= g.UptoMessage; id++ {
		if _, err := s.Message(id); err == nil {
			messages++
		} else if !errors.Is(err, core.ErrNotFound) {
			t.Fatal(err)
		}
	}
	for _, r := range rows {
		if _, err := s.Row(r.Table, r.Key); err == nil {
			found++
		}
		require.NoError(t, s.RowsOf(r.Table, nil, false, func(key, _ []byte) bool {
			if bytes.Equal(key, r.Key) {
				found++
			}
			return true
		}))
	}
	return messages, found
}

// seenOf is what inSight gives of a revealed gap of n messages with these rows.
func seenOf(n int, rows []core.Row) (messages, found int) { return 2*(n+n-1+n+1) + n, 2 * len(rows) }

func TestStagedThingsComeIntoSightAtOnce(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	post(t, s, 3)
	const n = 40
	g := passOver(t, s, 5, n)
	rows := staged(t, s, g)
	post(t, s, 3)
	look := func(when string, wantMessages, wantRows int) {
		t.Helper()
		if messages, found := inSight(t, s, g, rows); messages != wantMessages || found != wantRows {
			t.Fatalf("%s: %d messages and %d rows in sight, want %d and %d", when, messages, found, wantMessages, wantRows)
		}
	}
	look("staged", 0, 0)
	require.NoError(t, s.Close())
	s = openStore(t, dir)
	look("staged, after a start", 0, 0)
	if got := s.Staged(); len(got) != 1 || got[0] != g {
		t.Fatalf("staged: %v", got)
	}
	reveal(t, s, g)
	messages, found := seenOf(n, rows)
	look("revealed", messages, found)
	require.NoError(t, s.Close())
	s = openStore(t, dir)
	look("revealed, after a start", messages, found)
	if got := s.Staged(); len(got) != 0 {
		t.Fatalf("staged: %v", got)
	}
	if err := s.Unstage(t.Context(), g); err == nil {
		t.Error("what is revealed was deleted")
	}
	post(t, s, 2)
	seqs := 0
	require.NoError(t, s.Records(0, func(*core.Record) error { seqs++; return nil }))
	if seqs != 9 {
		t.Errorf("%d records, want 9", seqs)
	}
}

// A process that dies between the commit of a large group and that of its rows has committed the
// group. The next start takes the import for revealed, and does not delete what was staged.
func TestImportIsRevealedByAnInterruptedGroup(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	post(t, s, 3)
	const n = 40
	g := passOver(t, s, 5, n)
	rows := staged(t, s, g)
	records := []*core.Record{{
		Seq: s.durable.Seq + 1, FirstMessage: s.durable.Message + 1, FirstFence: s.durable.Fence + 1,
		Rows: []core.Row{{Table: core.TableImport, Key: core.ImportKey(g.FromSeq), Value: []byte("import")}},
	}}
	require.NoError(t, s.encodeGroup(records, nil))
	frame, err := codec.AppendFrame(nil, records, s.entries[1:])
	require.NoError(t, err)
	mustCommit(t, s, codec.Entry{Key: codec.SeqKey(codec.PrefixFrame, records[0].Seq), Value: frame})
	require.NoError(t, s.Close())
	s = openStore(t, dir)
	wantMessages, wantRows := seenOf(n, rows)
	if messages, found := inSight(t, s, g, rows); messages != wantMessages || found != wantRows || len(s.Staged()) != 0 {
		t.Errorf("%d messages and %d rows in sight, want %d and %d; staged: %v", messages, found, wantMessages, wantRows, s.Staged())
	}
}

// News leave imported messages out, however they are walked.
func TestImportedMessagesAreNobodysNews(t *testing.T) {
	s := openStore(t, t.TempDir())
	post(t, s, 3)
	g := passOver(t, s, 1, 10)
	staged(t, s, g)
	post(t, s, 3)
	reveal(t, s, g)
	post(t, s, 1)
	for _, backward := range []bool{false, true} {
		var ids []hub.MessageID
		require.NoError(t, s.Messages(core.Scope{Kind: core.ScopePublic}, 1, hub.MaxMessageID, backward, func(m *core.StoredMessage) bool {
			ids = append(ids, m.ID)
			return len(ids) < 5
		}))
		want := "[2 3 14 15 16]"
		if backward {
			want = "[17 16 15 14 3]"
		}
		if got := fmt.Sprint(ids); got != want {
			t.Errorf("backward %v: %s, want %s", backward, got, want)
		}
	}
}

func TestUnstagedThingsAreGone(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	post(t, s, 3)
	g := passOver(t, s, 5, 40)
	rows := staged(t, s, g)
	kept := passOver(t, s, 2, 4)
	keptRows := staged(t, s, kept)
	post(t, s, 3)
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Unstage(cancelled, g); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled call: %v", err)
	}
	require.NoError(t, s.Unstage(t.Context(), g))
	reveal(t, s, kept)
	for range 2 {
		s.imports.Store(&importGaps{}) // nothing hides what might be left
		if messages, found := inSight(t, s, g, rows); messages != 0 || found != 0 {
			t.Fatalf("%d messages and %d rows are left", messages, found)
		}
		wantMessages, wantRows := seenOf(4, keptRows)
		if messages, found := inSight(t, s, kept, keptRows); messages != wantMessages || found != wantRows {
			t.Errorf("of another import %d messages and %d rows are left, want %d and %d", messages, found, wantMessages, wantRows)
		}
		require.NoError(t, s.Close())
		s = openStore(t, dir)
	}
	post(t, s, 1)
}

// A store refuses to stage what Unstage would not find again.
func TestOnlyThingsOfTheGapAreStaged(t *testing.T) {
	s := openStore(t, t.TempDir())
	post(t, s, 3)
	g := passOver(t, s, 2, 4)
	d := core.MessageDraft{From: "anna", Channel: "general", Kind: hub.KindChat, Body: "text"}
	for name, stage := range map[string]func() error{
		"a message of a record": func() error { return s.Stage(g, []core.StoredMessage{d.Encode(2, 1)}, nil) },
		"messages out of order": func() error { return s.Stage(g, []core.StoredMessage{d.Encode(6, 1), d.Encode(5, 1)}, nil) },
		"a room": func() error {
			return s.Stage(g, nil, []core.Row{{Table: core.TableRoom, Key: []byte(core.IDAt("r", g.FromSeq))}})
		},
		"a decision of another":      func() error { return s.Stage(g, nil, []core.Row{{Table: core.TableDecision, Key: core.SeqKey(1)}}) },
		"a thread of the hub":        func() error { return s.Stage(g, nil, []core.Row{{Table: core.TableThread, Key: []byte("work")}}) },
		"into a gap that is unknown": func() error { return s.Stage(core.Gap{FromSeq: 1, UptoSeq: 2}, nil, nil) },
	} {
		if stage() == nil {
			t.Errorf("%s was staged", name)
		}
	}
	if err := s.Err(); err != nil {
		t.Errorf("the store has failed: %v", err)
	}
}

// A backup holds an import, whether it is revealed or not.
func TestBackupWithAnImport(t *testing.T) {
	s := openStore(t, t.TempDir())
	post(t, s, 3)
	shown := passOver(t, s, 5, 40)
	rows := staged(t, s, shown)
	reveal(t, s, shown)
	hidden := passOver(t, s, 2, 9)
	hiddenRows := staged(t, s, hidden)
	post(t, s, 3)
	r, _ := restored(t, backupOf(t, s))
	wantMessages, wantRows := seenOf(40, rows)
	if messages, found := inSight(t, r, shown, rows); messages != wantMessages || found != wantRows {
		t.Errorf("%d messages and %d rows, want %d and %d", messages, found, wantMessages, wantRows)
	}
	if messages, found := inSight(t, r, hidden, hiddenRows); messages != 0 || found != 0 {
		t.Errorf("%d messages and %d rows are in sight that were not", messages, found)
	}
	require.NoError(t, r.Unstage(t.Context(), hidden))
}
