package conformance

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sort"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"hubcli/actors/core"
	"hubcli/hub"
)

// TestRows checks the laws of the rows that readers fetch. open opens the store
// in dir and makes it if dir is empty.
func TestRows(t *testing.T, open func(t testing.TB, dir string) Store) {
	t.Run("messages as a model says", func(t *testing.T) { messagesModel(t, open) })
	t.Run("a message comes back as it was", func(t *testing.T) { messageComesBack(t, open) })
	t.Run("the largest message", func(t *testing.T) { largestMessage(t, open) })
	t.Run("rows of a table", func(t *testing.T) { rowsOfTable(t, open) })
	t.Run("effects", func(t *testing.T) { effects(t, open) })
	t.Run("rows of large groups", func(t *testing.T) { largeGroups(t, open) })
	t.Run("bytes belong to the caller", func(t *testing.T) { bytesAreCopies(t, open) })
	t.Run("reads beside an appender", func(t *testing.T) { concurrentReads(t, open) })
	t.Run("a snapshot shows one commit", func(t *testing.T) { oneCommit(t, open) })
	t.Run("snapshots beside an appender", func(t *testing.T) { snapshotsBeside(t, open) })
	t.Run("reads after Close", func(t *testing.T) { readsAfterClose(t, open) })
}

// messagesModel posts at random and compares every scope, range and direction
// with a list in memory.
func messagesModel(t *testing.T, open func(testing.TB, string) Store) {
	dir := t.TempDir()
	s := open(t, dir)
	w := &Writer{Head: s.Head()}
	var all []core.StoredMessage
	channels := []hub.ChannelName{"a", "ab", "a/b", "general", "日本"}
	threads := []hub.ThreadID{"", "t", "t1", "t/1"}
	agents := []hub.AgentID{"", "", "ann", "ann.watch", "bob"}
	rapid.Check(t, func(r *rapid.T) {
		drafts := rapid.SliceOfN(rapid.Custom(func(r *rapid.T) core.MessageDraft {
			return core.MessageDraft{
				From:    "eve",
				To:      rapid.SampledFrom(agents).Draw(r, "to"),
				Channel: rapid.SampledFrom(channels).Draw(r, "channel"),
				Thread:  rapid.SampledFrom(threads).Draw(r, "thread"),
				Kind:    hub.KindChat, Body: strings.Repeat("b", rapid.IntRange(0, 400).Draw(r, "size")),
				Whole: rapid.Bool().Draw(r, "whole"), Muted: rapid.Bool().Draw(r, "muted"),
			}
		}), 0, 5).Draw(r, "drafts")
		rec := w.Record(drafts...)
		all = append(all, rec.Messages...)
		if err := s.Append(&core.Group{Records: []*core.Record{rec}}); err != nil {
			r.Fatalf("Append: %v", err)
		}
		scope := core.Scope{Kind: core.ScopeKind(rapid.IntRange(0, 4).Draw(r, "scope"))}
		switch scope.Kind {
		case core.ScopeAll, core.ScopePublic:
		case core.ScopeChannel:
			scope.Name = string(rapid.SampledFrom(channels).Draw(r, "name"))
		case core.ScopeThread:
			scope.Name = string(rapid.SampledFrom(threads[1:]).Draw(r, "name"))
		case core.ScopeInbox:
			scope.Name = string(rapid.SampledFrom(agents[2:]).Draw(r, "name"))
		}
		low := hub.MessageID(rapid.IntRange(-1, len(all)+1).Draw(r, "after"))
		upto := hub.MessageID(rapid.IntRange(-1, len(all)+1).Draw(r, "upto"))
		backward, most := rapid.Bool().Draw(r, "backward"), rapid.IntRange(1, 40).Draw(r, "limit")
		want := selectMessages(all, scope, low, upto, backward, most)
		got := readMessages(r, s, scope, low, upto, backward, most)
		if !reflect.DeepEqual(got, want) {
			r.Fatalf("%+v (%d, %d] backward %v: got %d rows, want %d", scope, low, upto, backward, len(got), len(want))
		}
		wantRecipients(r, s, all, rapid.SampledFrom([]hub.AgentID{"", "a", "ann", "ann.watch", "bob"}).Draw(r, "behind"), most)
	})
	mustClose(t, s)
	s = open(t, dir)
	defer mustClose(t, s)
	if got := readMessages(t, s, core.Scope{}, 0, hub.MaxMessageID, false, 1<<30); !reflect.DeepEqual(got, all) {
		t.Errorf("after opening again: %d messages, want %d", len(got), len(all))
	}
}

// wantRecipients expects the agents of the messages behind an id, each once, until the walk is ended.
func wantRecipients(t rapid.TB, s Store, all []core.StoredMessage, behind hub.AgentID, most int) {
	var want, got []hub.AgentID
	for i := range all {
		if to := all[i].To; to > behind && !slices.Contains(want, to) {
			want = append(want, to)
		}
	}
	slices.Sort(want)
	want = want[:min(len(want), most)]
	err := s.Recipients(behind, func(agent hub.AgentID) bool {
		got = append(got, agent)
		return len(got) < most
	})
	if err != nil || !slices.Equal(got, want) {
		t.Fatalf("recipients behind %q, at most %d: got %v, %v, want %v", behind, most, got, err, want)
	}
}

func selectMessages(all []core.StoredMessage, scope core.Scope, low, upto hub.MessageID, backward bool, most int) []core.StoredMessage {
	var out []core.StoredMessage
	for _, m := range all {
		in := m.ID > low && m.ID <= upto
		switch scope.Kind {
		case core.ScopeAll, core.ScopePublic:
		case core.ScopeChannel:
			in = in && m.To == "" && string(m.Channel) == scope.Name
		case core.ScopeThread:
			in = in && string(m.Thread) == scope.Name
		case core.ScopeInbox:
			in = in && string(m.To) == scope.Name
		}
		if in {
			out = append(out, m)
		}
	}
	if backward {
		slices.Reverse(out)
	}
	return out[:min(most, len(out))]
}

type fataler interface{ Fatalf(string, ...any) }

func readMessages(t fataler, s Store, scope core.Scope, low, upto hub.MessageID, backward bool, most int) []core.StoredMessage {
	var out []core.StoredMessage
	if err := s.Messages(scope, low, upto, backward, func(m *core.StoredMessage) bool {
		out = append(out, *m)
		return len(out) < most
	}); err != nil {
		t.Fatalf("Messages: %v", err)
	}
	return out
}

func messageComesBack(t *testing.T, open func(testing.TB, string) Store) {
	s := open(t, t.TempDir())
	defer mustClose(t, s)
	w := &Writer{}
	r := w.Record(core.MessageDraft{
		From: "ann", To: "bob", Channel: "direct", Kind: hub.KindNotice, Body: "line\n\"quoted\" \x01 ☃", Thread: "t",
		ReplyTo: 1, Metadata: []byte(`{"k":[1,2]}`), Room: "r", Parent: 1, Whole: true, Muted: true,
		Authority: hub.AuthorityOperator, Assurance: hub.AssuranceSession,
	}, core.MessageDraft{From: "ann", Channel: "c"})
	mustAppend(t, s, r)
	for _, want := range r.Messages {
		got, err := s.Message(want.ID)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("Message(%d) = %+v, %v, want %+v", want.ID, got, err, want)
		}
	}
	for _, id := range []hub.MessageID{-1, 0, 3, hub.MaxMessageID} {
		if _, err := s.Message(id); !errors.Is(err, core.ErrNotFound) {
			t.Errorf("Message(%d): %v, want ErrNotFound", id, err)
		}
	}
}

func largestMessage(t *testing.T, open func(testing.TB, string) Store) {
	s := open(t, t.TempDir())
	defer mustClose(t, s)
	limits := hub.DefaultLimits()
	content := []byte(`"` + strings.Repeat("\U0001F6A2", limits.MaxAttachmentChars-2) + `"`)
	d := core.MessageDraft{From: "ann", Channel: "c", Body: strings.Repeat("\x01", limits.MaxBodyChars)}
	for range limits.MaxAttachments {
		d.Attachments = append(d.Attachments, hub.Attachment{Type: hub.AttachmentText, Content: content})
	}
	w := &Writer{}
	r := w.Record(d)
	if len(r.Messages[0].JSON) < 32_000_000 {
		t.Fatalf("only %d bytes", len(r.Messages[0].JSON))
	}
	mustAppend(t, s, r)
	got, err := s.Message(1)
	if err != nil || !bytes.Equal(got.JSON, r.Messages[0].JSON) {
		t.Errorf("Message: %d bytes, %v, want %d", len(got.JSON), err, len(r.Messages[0].JSON))
	}
}

func rowsOfTable(t *testing.T, open func(testing.TB, string) Store) {
	dir := t.TempDir()
	s := open(t, dir)
	w := &Writer{}
	model := map[string]string{}
	put := func(rec *core.Record, key, value string) {
		model[key] = value
		rec.Rows = append(rec.Rows, core.Row{Table: core.TableClaim, Key: []byte(key), Value: []byte(value)})
	}
	keys := []string{"", "a", "a\x00", "a\x00\x01", "aa", "a\xff", "a\xff\xff", "a\xff\xff\x00", "b", "\xff", "\xff\xff\xff", strings.Repeat("long/", 300)}
	for round, size := range []int{0, 10, 1000} {
		r := w.Record()
		for _, k := range keys {
			put(r, k, strings.Repeat(string(rune('0'+round)), size))
		}
		mustAppend(t, s, r)
	}
	if err := s.PutRows([]core.Row{
		{Table: core.TableThread, Key: []byte("a"), Value: []byte("another table")},
		{Table: core.TableClaim, Key: []byte("put"), Value: []byte("x")},
	}); err != nil {
		t.Fatalf("PutRows: %v", err)
	}
	model["put"] = "x"
	for range 2 {
		checkRows(t, s, model, append(keys, "put", "missing", "a\xff\xff\xff"))
		mustClose(t, s)
		s = open(t, dir)
	}
	mustClose(t, s)
}

func checkRows(t *testing.T, s Store, model map[string]string, prefixes []string) {
	t.Helper()
	var sorted []string
	for k := range model {
		sorted = append(sorted, k)
	}
	sort.Strings(sorted)
	for _, prefix := range prefixes {
		value, err := s.Row(core.TableClaim, []byte(prefix))
		if want, ok := model[prefix]; ok != (err == nil) || string(value) != want || !ok && !errors.Is(err, core.ErrNotFound) {
			t.Errorf("Row(%q) = %q, %v, want %q, %v", prefix, value, err, want, ok)
		}
		for _, backward := range []bool{false, true} {
			var want, got []string
			for _, k := range sorted {
				if strings.HasPrefix(k, prefix) {
					want = append(want, k+"="+model[k])
				}
			}
			if backward {
				slices.Reverse(want)
			}
			if err := s.RowsOf(core.TableClaim, []byte(prefix), backward, func(k, v []byte) bool {
				got = append(got, string(k)+"="+string(v))
				return true
			}); err != nil {
				t.Fatalf("RowsOf(%q): %v", prefix, err)
			}
			if !slices.Equal(got, want) {
				t.Errorf("RowsOf(%q, backward %v): got %.200q, want %.200q", prefix, backward, got, want)
			}
			n := 0
			_ = s.RowsOf(core.TableClaim, []byte(prefix), backward, func(_, _ []byte) bool { n++; return n < 2 })
			if n != min(2, len(want)) {
				t.Errorf("RowsOf(%q) went on to %d rows after false", prefix, n)
			}
			for _, behind := range append(sorted, prefixes...) {
				wantRowsBehind(t, s, want, prefix, behind, backward)
			}
		}
	}
}

// wantRowsBehind expects those of all rows of a prefix, in the order of the walk,
// that lie behind a key, whether or not there is a row of it.
func wantRowsBehind(t *testing.T, s Store, all []string, prefix, behind string, backward bool) {
	t.Helper()
	want := slices.DeleteFunc(slices.Clone(all), func(row string) bool {
		key, _, _ := strings.Cut(row, "=")
		return key == behind || (key < behind) != backward
	})
	var got []string
	err := s.RowsBehind(core.TableClaim, []byte(prefix), []byte(behind), backward, func(k, v []byte) bool {
		got = append(got, string(k)+"="+string(v))
		return true
	})
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("RowsBehind(%q, %q, backward %v): got %.200q, %v, want %.200q", prefix, behind, backward, got, err, want)
	}
}

func effects(t *testing.T, open func(testing.TB, string) Store) {
	dir := t.TempDir()
	s := open(t, dir)
	w := &Writer{}
	r := w.Post("general", "", "x")
	want := &core.Effect{Scope: [32]byte{1, 2}, Body: [32]byte{9}, Seq: r.Seq, Kind: 3, Answer: []byte(`{"id":1}`), At: 77}
	r.Effect = want
	empty := w.Record()
	empty.Effect = &core.Effect{Scope: [32]byte{3}, Seq: empty.Seq, Answer: []byte{}}
	mustAppend(t, s, r, empty)
	for range 2 {
		for _, x := range []*core.Effect{want, empty.Effect} {
			got, err := s.Effect(x.Scope)
			if err != nil || !reflect.DeepEqual(got, x) {
				t.Errorf("Effect = %+v, %v, want %+v", got, err, x)
			}
		}
		if _, err := s.Effect([32]byte{8}); !errors.Is(err, core.ErrNotFound) {
			t.Errorf("Effect of an unknown scope: %v, want ErrNotFound", err)
		}
		mustClose(t, s)
		s = open(t, dir)
	}
	mustClose(t, s)
}

// largeGroups writes what exceeds any one transaction and expects every row.
func largeGroups(t *testing.T, open func(testing.TB, string) Store) {
	dir := t.TempDir()
	s := open(t, dir)
	w := &Writer{}
	g := &core.Group{}
	for i := range 30 {
		r := w.Post("general", "t", strings.Repeat("b", 100))
		for k := range 1000 {
			r.Rows = append(r.Rows, core.Row{Table: core.TableLock, Key: fmt.Appendf(nil, "%02d/%04d/%s", i, k, strings.Repeat("p", 60)), Value: fmt.Append(nil, i)})
		}
		r.Effect = &core.Effect{Scope: [32]byte{byte(i), 1}, Seq: r.Seq, Answer: []byte("a")}
		g.Records = append(g.Records, r)
	}
	g.Rows = []core.Row{{Table: core.TableThread, Key: []byte("t"), Value: []byte("summary")}}
	if err := s.Append(g); err != nil {
		t.Fatalf("Append: %v", err)
	}
	for range 2 {
		n := 0
		if err := s.RowsOf(core.TableLock, nil, false, func(_, _ []byte) bool { n++; return true }); err != nil || n != 30_000 {
			t.Errorf("%d rows, %v, want 30000", n, err)
		}
		if v, err := s.Row(core.TableThread, []byte("t")); err != nil || string(v) != "summary" {
			t.Errorf("Row = %q, %v", v, err)
		}
		if x, err := s.Effect([32]byte{29, 1}); err != nil || x.Seq != 30 {
			t.Errorf("Effect = %+v, %v", x, err)
		}
		if got := readMessages(t, s, core.Scope{Kind: core.ScopeThread, Name: "t"}, 0, 100, false, 100); len(got) != 30 {
			t.Errorf("%d messages, want 30", len(got))
		}
		mustClose(t, s)
		s = open(t, dir)
	}
	mustClose(t, s)
}

func bytesAreCopies(t *testing.T, open func(testing.TB, string) Store) {
	s := open(t, t.TempDir())
	defer mustClose(t, s)
	w := &Writer{}
	r := w.Post("general", "", "body")
	r.Rows = []core.Row{{Table: core.TableTask, Key: []byte("k"), Value: []byte("value")}}
	r.Effect = &core.Effect{Scope: [32]byte{5}, Seq: 1, Answer: []byte("answer")}
	want := string(r.Messages[0].JSON)
	mustAppend(t, s, r)
	for range 2 {
		m, _ := s.Message(1)
		v, _ := s.Row(core.TableTask, []byte("k"))
		x, _ := s.Effect([32]byte{5})
		if string(m.JSON) != want || string(v) != "value" || string(x.Answer) != "answer" {
			t.Fatalf("changed: %q %q %q", m.JSON, v, x.Answer)
		}
		clear(m.JSON)
		clear(v)
		clear(x.Answer)
	}
}

// concurrentReads expects that every reader sees all that was appended before it
// began, and never half of a record.
func concurrentReads(t *testing.T, open func(testing.TB, string) Store) {
	s := open(t, t.TempDir())
	defer mustClose(t, s)
	w := &Writer{}
	var mu sync.Mutex
	acknowledged, stop := hub.MessageID(0), make(chan struct{})
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				mu.Lock()
				least := acknowledged
				mu.Unlock()
				n := hub.MessageID(0)
				err := s.Messages(core.Scope{Kind: core.ScopeThread, Name: "t"}, 0, hub.MaxMessageID, false, func(m *core.StoredMessage) bool {
					n++
					return m.ID == n
				})
				if err != nil || n < least || n%2 != 0 {
					t.Errorf("read %d messages, %v; %d were acknowledged, two per record", n, err, least)
					return
				}
			}
		})
	}
	for i := range 150 {
		d := core.MessageDraft{From: "ann", Channel: "general", Thread: "t", Body: strings.Repeat("b", 300)}
		r := w.Record(d, d)
		r.Rows = []core.Row{{Table: core.TableThread, Key: []byte("t"), Value: fmt.Append(nil, i)}}
		mustAppend(t, s, r)
		if i%10 == 0 {
			if err := s.PutRows([]core.Row{{Table: core.TableQuarantine, Key: []byte("q"), Value: fmt.Append(nil, i)}}); err != nil {
				t.Errorf("PutRows: %v", err)
			}
		}
		mu.Lock()
		acknowledged = r.FirstMessage + 1
		mu.Unlock()
	}
	close(stop)
	readers.Wait()
}

func readsAfterClose(t *testing.T, open func(testing.TB, string) Store) {
	s := open(t, t.TempDir())
	w := &Writer{}
	mustAppend(t, s, w.Post("general", "", "x"))
	mustClose(t, s)
	_, message := s.Message(1)
	_, row := s.Row(core.TableClaim, []byte("k"))
	_, effect := s.Effect([32]byte{})
	for name, err := range map[string]error{
		"Message": message, "Row": row, "Effect": effect,
		"Messages": s.Messages(core.Scope{}, 0, 9, false, func(*core.StoredMessage) bool { return true }),
		"RowsOf":   s.RowsOf(core.TableClaim, nil, true, func(_, _ []byte) bool { return true }),
	} {
		if err == nil || errors.Is(err, core.ErrNotFound) {
			t.Errorf("%s after Close: %v, want an error of its own", name, err)
		}
	}
}
