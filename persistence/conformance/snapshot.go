package conformance

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"testing"

	"hubcli/actors/core"
	"hubcli/hub"
)

// oneCommit changes every kind of row beneath an open snapshot, which must not show it.
func oneCommit(t *testing.T, open func(testing.TB, string) Store) {
	s := open(t, t.TempDir())
	w := &Writer{}
	key := []byte("k")
	put := func(body string) {
		r := w.Post("general", "t", body)
		r.Rows = []core.Row{{Table: core.TableTask, Key: key, Value: []byte(body)}}
		r.Effect = &core.Effect{Scope: [32]byte{byte(r.Seq)}, Seq: r.Seq, Answer: []byte("a")}
		mustAppend(t, s, r)
	}
	put("before")
	v, err := s.Snapshot()
	if err != nil {
		t.Fatalf("Snapshot: %v", err)
	}
	before := w.Head
	for i := range 400 { // more than the commits after which a store forgets what was replaced
		put(fmt.Sprint("after ", i))
	}
	if err := s.PutRows([]core.Row{{Table: core.TableThread, Key: key, Value: []byte("after")}}); err != nil {
		t.Fatalf("PutRows: %v", err)
	}
	if v.Head() != before {
		t.Errorf("Head = %+v, want %+v", v.Head(), before)
	}
	checkSnapshot(t, v, key)
	v.Close()
	v.Close()
	if _, err := v.Message(1); err == nil || errors.Is(err, core.ErrNotFound) {
		t.Errorf("Message after Close: %v, want an error of its own", err)
	}
	mustClose(t, s)
	if _, err := s.Snapshot(); err == nil {
		t.Error("a closed store gave a snapshot")
	}
}

// checkSnapshot expects what was there at first, by every way to read it.
func checkSnapshot(t *testing.T, v core.Snapshot, key []byte) {
	t.Helper()
	for _, scope := range []core.Scope{{}, {Kind: core.ScopePublic}, {Kind: core.ScopeChannel, Name: "general"}, {Kind: core.ScopeThread, Name: "t"}} {
		for _, backward := range []bool{false, true} {
			var ids []hub.MessageID
			if err := v.Messages(scope, 0, hub.MaxMessageID, backward, func(m *core.StoredMessage) bool {
				ids = append(ids, m.ID)
				return true
			}); err != nil || len(ids) != 1 || ids[0] != 1 {
				t.Errorf("Messages(%+v, backward %v) = %v, %v, want message 1", scope, backward, ids, err)
			}
		}
	}
	if m, err := v.Message(1); err != nil || !bytes.Contains(m.JSON, []byte("before")) {
		t.Errorf("Message(1) = %s, %v", m.JSON, err)
	}
	if _, err := v.Message(2); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("Message(2): %v, want ErrNotFound", err)
	}
	if b, err := v.Row(core.TableTask, key); err != nil || string(b) != "before" {
		t.Errorf("Row = %q, %v, want what was there at first", b, err)
	}
	if _, err := v.Row(core.TableThread, key); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("Row of a later commit: %v, want ErrNotFound", err)
	}
	if err := v.RowsOf(core.TableTask, nil, false, func(_, value []byte) bool {
		if string(value) != "before" {
			t.Errorf("RowsOf gave %q", value)
		}
		return true
	}); err != nil {
		t.Errorf("RowsOf: %v", err)
	}
	if _, err := v.Effect([32]byte{2}); !errors.Is(err, core.ErrNotFound) {
		t.Errorf("Effect of a later commit: %v, want ErrNotFound", err)
	}
}

// snapshotsBeside takes snapshots while another goroutine appends. Each must hold all of
// its head and nothing behind it.
func snapshotsBeside(t *testing.T, open func(testing.TB, string) Store) {
	s := open(t, t.TempDir())
	w := &Writer{}
	var appender sync.WaitGroup
	appender.Go(func() {
		for range 150 {
			r := w.Record(core.MessageDraft{From: "ann", Channel: "general"}, core.MessageDraft{From: "ann", Channel: "general"})
			r.Rows = []core.Row{{Table: core.TableThread, Key: []byte("t"), Value: fmt.Append(nil, r.Seq)}}
			if err := s.Append(&core.Group{Records: []*core.Record{r}}); err != nil {
				t.Errorf("Append: %v", err)
				return
			}
		}
	})
	for range 60 {
		v, err := s.Snapshot()
		if err != nil {
			t.Errorf("Snapshot: %v", err)
			break
		}
		head, last := v.Head(), hub.MessageID(0)
		if err := v.Messages(core.Scope{}, 0, hub.MaxMessageID, false, func(m *core.StoredMessage) bool {
			last = m.ID
			return true
		}); err != nil || last != head.Message || head.Message != 2*hub.MessageID(head.Seq) {
			t.Errorf("the messages end with %d, %v; the head is %+v", last, err, head)
		}
		value, err := v.Row(core.TableThread, []byte("t"))
		if head.Seq > 0 && (err != nil || string(value) != fmt.Sprint(head.Seq)) {
			t.Errorf("Row = %q, %v; the head is %+v", value, err, head)
		}
		v.Close()
	}
	appender.Wait()
	mustClose(t, s)
}
