package conformance

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"hubcli/actors/core"
	"hubcli/hub"
)

// TestJournal checks the laws of a journal. open opens the store in dir and makes
// it if dir is empty.
func TestJournal(t *testing.T, open func(t testing.TB, dir string) Journal) {
	t.Run("empty", func(t *testing.T) { emptyJournal(t, open) })
	t.Run("records come back as they were, without their rows", func(t *testing.T) { recordsComeBack(t, open) })
	t.Run("any position", func(t *testing.T) { anyPosition(t, open) })
	t.Run("the error of fn ends the reading", func(t *testing.T) { errorEnds(t, open) })
	t.Run("groups of every size", func(t *testing.T) { groupSizes(t, open) })
	t.Run("a group that does not follow is refused", func(t *testing.T) { mustFollow(t, open) })
	t.Run("checkpoints", func(t *testing.T) { checkpoints(t, open) })
	t.Run("closed", func(t *testing.T) { closedJournal(t, open) })
	t.Run("room", func(t *testing.T) { room(t, open) })
}

func emptyJournal(t *testing.T, open func(testing.TB, string) Journal) {
	dir := t.TempDir()
	for range 2 {
		j := open(t, dir)
		if h := j.Head(); h != (core.Head{}) {
			t.Errorf("Head = %+v, want zero", h)
		}
		if got := replay(t, j, 0); len(got) != 0 {
			t.Errorf("%d records in an empty journal", len(got))
		}
		if _, err := j.Checkpoint(); !errors.Is(err, core.ErrNotFound) {
			t.Errorf("Checkpoint: %v, want ErrNotFound", err)
		}
		if err := j.Append(&core.Group{}); err != nil {
			t.Errorf("Append of an empty group: %v", err)
		}
		mustClose(t, j)
	}
}

// stripped is r as the journal gives it back.
func stripped(r *core.Record) *core.Record {
	c := *r
	c.Messages, c.Rows, c.Effect = nil, nil, nil
	return &c
}

func recordsComeBack(t *testing.T, open func(testing.TB, string) Journal) {
	dir := t.TempDir()
	j := open(t, dir)
	w := &Writer{}
	full := w.Post("general", "topic", "hello \u2603")
	full.Owner = core.Owner{Kind: core.OwnerTasks}
	full.Facts = []core.EncodedFact{
		{Type: 1, Data: []byte(`{"a":"b"}`)}, {Type: 65535, Data: bytes.Repeat([]byte("x"), 5000)}, {Type: 2, Data: []byte{}},
	}
	full.Rows = []core.Row{{Table: core.TableTask, Key: core.IDKey(1), Value: []byte("v")}}
	full.Effect = &core.Effect{Scope: [32]byte{1}, Seq: 1, Answer: []byte("{}")}
	bare := w.Record()
	bare.Facts = nil
	names := w.Record()
	names.Owner.Name = "Zürich/日本 #1"
	want := []*core.Record{stripped(full), stripped(bare), stripped(names)}
	mustAppend(t, j, full, bare)
	mustAppend(t, j, names)
	for range 2 {
		got := replay(t, j, 0)
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("replay\n got %+v\nwant %+v", got, want)
		}
		mustClose(t, j)
		j = open(t, dir)
		if j.Head() != w.Head {
			t.Errorf("Head after opening = %+v, want %+v", j.Head(), w.Head)
		}
	}
	mustClose(t, j)
}

func anyPosition(t *testing.T, open func(testing.TB, string) Journal) {
	j := open(t, t.TempDir())
	defer mustClose(t, j)
	w := &Writer{}
	for _, n := range []int{1, 5, 3} {
		var group []*core.Record
		for range n {
			group = append(group, w.Post("general", "", "x"))
		}
		mustAppend(t, j, group...)
	}
	for after := hub.Seq(0); after <= 12; after++ {
		got := replay(t, j, after)
		if want := max(0, 9-int(after)); len(got) != want {
			t.Fatalf("after %d: %d records, want %d", after, len(got), want)
		}
		for i, r := range got {
			if r.Seq != after+1+hub.Seq(i) {
				t.Fatalf("after %d: record %d is %d", after, i, r.Seq)
			}
		}
	}
}

func errorEnds(t *testing.T, open func(testing.TB, string) Journal) {
	j := open(t, t.TempDir())
	defer mustClose(t, j)
	w := &Writer{}
	mustAppend(t, j, w.Record(), w.Record(), w.Record())
	stop, seen := errors.New("stop"), 0
	err := j.Records(0, func(*core.Record) error {
		if seen++; seen == 2 {
			return stop
		}
		return nil
	})
	if !errors.Is(err, stop) || seen != 2 {
		t.Errorf("Records: %v after %d records, want %v after 2", err, seen, stop)
	}
}

func groupSizes(t *testing.T, open func(testing.TB, string) Journal) {
	dir := t.TempDir()
	j := open(t, dir)
	w := &Writer{}
	groups := map[string]func() []*core.Record{
		"1 MB body": func() []*core.Record { return []*core.Record{w.Post("general", "", strings.Repeat("b", 1<<20))} },
		"1,000 records": func() (g []*core.Record) {
			for range 1000 {
				g = append(g, w.Post("general", "t", strings.Repeat("b", 300)))
			}
			return g
		},
		"1,000 rows with the longest names": func() []*core.Record {
			name := strings.Repeat("名", hub.MaxNameChars)
			drafts := make([]core.MessageDraft, hub.MaxRecordRows)
			for i := range drafts {
				drafts[i] = core.MessageDraft{From: "ann", Channel: hub.ChannelName(name), Thread: hub.ThreadID(name), Kind: hub.KindNotice, Body: "b"}
			}
			r := w.Record(drafts...)
			for i := range hub.MaxExpireBatch {
				key := fmt.Appendf(nil, "%s%04d", strings.Repeat("径", hub.MaxFilePathChars-4), i)
				r.Rows = append(r.Rows, core.Row{Table: core.TableLock, Key: key, Value: key})
			}
			return []*core.Record{r}
		},
		"20,000 records": func() (g []*core.Record) {
			for range 20_000 {
				g = append(g, w.Record())
			}
			return g
		},
	}
	for name, build := range groups {
		if err := j.Append(&core.Group{Records: build(), Rows: []core.Row{{Table: core.TableThread, Key: []byte(name), Value: []byte("v")}}}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	mustClose(t, j)
	j = open(t, dir)
	defer mustClose(t, j)
	if j.Head() != w.Head {
		t.Errorf("Head = %+v, want %+v", j.Head(), w.Head)
	}
	if got := replay(t, j, 0); len(got) != int(w.Head.Seq) {
		t.Errorf("%d records, want %d", len(got), w.Head.Seq)
	}
}

func mustFollow(t *testing.T, open func(testing.TB, string) Journal) {
	spoil := map[string]func(*core.Record){
		"a sequence number is left out": func(r *core.Record) { r.Seq++ },
		"a sequence number comes again": func(r *core.Record) { r.Seq-- },
		"a message id is left out":      func(r *core.Record) { r.FirstMessage++ },
		"a message is not counted":      func(r *core.Record) { r.MessageCount = 0 },
		"a message has another's id":    func(r *core.Record) { r.Messages[0].ID++ },
		"a fence comes again":           func(r *core.Record) { r.FirstFence-- },
	}
	for name, change := range spoil {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			j := open(t, dir)
			w := &Writer{}
			mustAppend(t, j, w.Post("general", "", "first"))
			bad := w.Post("general", "", "second")
			change(bad)
			if err := j.Append(&core.Group{Records: []*core.Record{bad}}); err == nil {
				t.Fatal("Append accepted it")
			}
			if err := j.Append(&core.Group{Records: []*core.Record{w.Record()}}); err == nil {
				t.Error("an Append after a failed one was accepted")
			}
			if got := replay(t, j, 0); len(got) != 1 {
				t.Errorf("%d records, want 1", len(got))
			}
			_ = j.Close()
		})
	}
}

func checkpoints(t *testing.T, open func(testing.TB, string) Journal) {
	dir := t.TempDir()
	j := open(t, dir)
	w := &Writer{}
	at := func() *core.Checkpoint {
		return &core.Checkpoint{Head: w.Head, Wall: 42, Sections: []core.Section{
			{Owner: core.Owner{Kind: core.OwnerAgent, Name: "ann"}, AsOf: w.Head.Seq, Version: 7, Data: []byte(`{"x":1}`)},
			{Owner: core.Owner{Kind: core.OwnerTasks}, AsOf: w.Head.Seq + 3, Version: 1, Data: fmt.Appendf(nil, "state at %d", w.Head.Seq)},
			{Owner: core.Owner{Kind: core.OwnerLeases, Name: "15"}, AsOf: w.Head.Seq + 1<<40, Version: 2, Data: []byte{}},
		}}
	}
	if err := j.SaveCheckpoint(&core.Checkpoint{Head: core.Head{Seq: 1}}); err == nil {
		t.Error("a checkpoint ahead of the journal was saved")
	}
	for round := range 6 {
		for range 40 {
			mustAppend(t, j, w.Post("general", "", "x"), w.Record())
		}
		want := at()
		if err := j.SaveCheckpoint(want); err != nil {
			t.Fatalf("SaveCheckpoint: %v", err)
		}
		mustAppend(t, j, w.Record())
		mustClose(t, j)
		j = open(t, dir)
		got, err := j.Checkpoint()
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("round %d: Checkpoint = %+v, %v, want %+v", round, got, err, want)
		}
		if tail := replay(t, j, got.Head.Seq); len(tail) != 1 || tail[0].Seq != w.Head.Seq {
			t.Fatalf("round %d: %d records behind the checkpoint, want 1", round, len(tail))
		}
		if j.Head() != w.Head {
			t.Fatalf("round %d: Head = %+v, want %+v", round, j.Head(), w.Head)
		}
	}
	mustClose(t, j)
}

func closedJournal(t *testing.T, open func(testing.TB, string) Journal) {
	j := open(t, t.TempDir())
	w := &Writer{}
	mustAppend(t, j, w.Record())
	mustClose(t, j)
	mustClose(t, j)
	calls := map[string]error{
		"Append":         j.Append(&core.Group{Records: []*core.Record{w.Record()}}),
		"Records":        j.Records(0, func(*core.Record) error { return nil }),
		"SaveCheckpoint": j.SaveCheckpoint(&core.Checkpoint{}),
		"PutRows":        j.PutRows([]core.Row{{Table: core.TableThread, Key: []byte("k")}}),
	}
	for name, err := range calls {
		if err == nil {
			t.Errorf("%s after Close succeeded", name)
		}
	}
}

func room(t *testing.T, open func(testing.TB, string) Journal) {
	j := open(t, t.TempDir())
	defer mustClose(t, j)
	if ok, free := j.Room(); !ok || free <= 0 {
		t.Errorf("Room = %v, %d on a disk with room", ok, free)
	}
}
