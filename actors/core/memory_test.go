package core_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/require"
)

// memoryRig is the memory of one room, its stored rows and its time.
type memoryRig struct {
	t    testing.TB
	live *core.Memory
	rows map[string]core.Row // by table and key
	at   core.Position
	last core.Draft
}

func newMemoryRig(t testing.TB) *memoryRig {
	return &memoryRig{t: t, live: core.NewMemory(string(rigRoom)), rows: map[string]core.Row{}, at: core.Position{Now: core.Now{Wall: 1000}}}
}

// remember decides and commits as an owner and its journal do.
func (r *memoryRig) remember(in hub.MemoryInput) (core.StoredMemory, error) {
	d, err := r.live.Remember(core.MemoryCommand{RoomID: rigRoom, ProjectID: "p_1", In: in})
	if err != nil {
		return core.StoredMemory{}, err
	}
	r.at.Seq++
	r.at.Now.Wall++
	r.last = d.Draft
	for _, f := range d.Draft.Facts {
		decoded, err := core.DecodeFact(core.EncodeFact(f))
		require.NoError(r.t, err)
		r.live.Apply(decoded, r.at, func(row core.Row) { r.rows[fmt.Sprintf("%02d/%s", row.Table, row.Key)] = row })
	}
	return d.Answer(r.at).Row, nil
}

// loaded is the state made of the stored rows.
func (r *memoryRig) loaded() *core.Memory {
	m := core.NewMemory(string(rigRoom))
	for _, k := range slices.Sorted(maps.Keys(r.rows)) {
		if row := r.rows[k]; row.Table == core.TableMemoryKey {
			require.NoError(r.t, m.Restore(row.Key, row.Value))
		}
	}
	return m
}

// kept returns the memories that are kept as the rows say, by number.
func (r *memoryRig) kept() map[hub.Seq]core.StoredMemory {
	out := map[hub.Seq]core.StoredMemory{}
	for _, row := range r.rows {
		if row.Table != core.TableMemory {
			continue
		}
		var m core.StoredMemory
		require.NoError(r.t, json.Unmarshal(row.Value, &m))
		seq, ok := core.SeqOf(core.PrefixMemory, string(m.MemoryID))
		if !ok {
			r.t.Fatalf("the id is %q", m.MemoryID)
		}
		by, ok := r.rows[fmt.Sprintf("%02d/%s", core.TableMemoryBy, core.MemoryByKey(m.Of(), seq))]
		if !ok {
			r.t.Fatalf("memory %s does not say whether it was replaced", m.MemoryID)
		}
		if len(by.Value) == 0 {
			out[seq] = m
		}
	}
	return out
}

func TestMemoryTranscripts(t *testing.T) {
	runTranscripts(t, "memory_*.txt", func(t *testing.T) func([]string) string {
		r := newMemoryRig(t)
		return func(args []string) string {
			if args[0] == "kept" {
				var out strings.Builder
				rows := r.kept()
				for _, seq := range slices.Sorted(maps.Keys(rows)) {
					fmt.Fprintf(&out, "  %s %s: %s %v\n", rows[seq].MemoryID, rows[seq].Key, rows[seq].Text, rows[seq].Tags)
				}
				return out.String()
			}
			in := hub.MemoryInput{RoomID: rigRoom, Key: named(args, "key"), Text: named(args, "text"), By: hub.AgentID(named(args, "by")), Scope: hub.ScopeRoom}
			if tags := named(args, "tags"); tags != "" {
				in.Tags = strings.Split(tags, ",")
			}
			row, err := r.remember(in)
			if err != nil {
				var refusal *hub.Error
				errors.As(err, &refusal)
				return fmt.Sprintf("  refused %s: %s\n", refusal.Code, refusal.Message)
			}
			data, err := json.Marshal(row)
			require.NoError(t, err)
			return show(r.last, r.at) + fmt.Sprintf("  row %s\n", data)
		}
	})
}

// TestMemoryIsItsRows: random commands keep what a plain map keeps, and the state
// loaded from the rows is the live one after each of them.
func TestMemoryIsItsRows(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := newMemoryRig(t)
		want := map[string]string{} // what each key has
		var loose []string          // texts without a key
		for range rapid.IntRange(1, 30).Draw(rt, "commands") {
			in := hub.MemoryInput{
				RoomID: rigRoom, Scope: hub.ScopeRoom,
				Key:  rapid.SampledFrom([]string{"", "a", "b", "a\x00b", "ключ"}).Draw(rt, "key"),
				Text: rapid.SampledFrom([]string{"", "one", "two", "\x00"}).Draw(rt, "text"),
			}
			if in.Key == "" && in.Text == "" {
				continue // the edge refuses it
			}
			row, err := r.remember(in)
			_, had := want[in.Key]
			switch {
			case in.Text == "" && !had:
				if !errors.Is(err, &hub.Error{Code: hub.CodeMemoryNotFound}) {
					rt.Fatalf("forgetting what is not there: %v", err)
				}
				continue
			case err != nil:
				rt.Fatal(err)
			case in.Text == "":
				delete(want, in.Key)
			case in.Key == "":
				loose = append(loose, in.Text)
			default:
				want[in.Key] = in.Text
			}
			if had != (row.Replaces != 0) || (row.ReplacedAt != nil) != (in.Text == "") {
				rt.Fatalf("the row is %+v", row)
			}
			if loaded := r.loaded(); !reflect.DeepEqual(loaded, r.live) {
				rt.Fatalf("loaded %+v\nlive %+v", loaded, r.live)
			}
		}
		var got, expect []string
		for _, m := range r.kept() {
			got = append(got, m.Key+"="+m.Text)
		}
		for k, text := range want {
			expect = append(expect, k+"="+text)
		}
		for _, text := range loose {
			expect = append(expect, "="+text)
		}
		slices.Sort(got)
		slices.Sort(expect)
		if !slices.Equal(got, expect) {
			rt.Fatalf("kept %q, want %q", got, expect)
		}
	})
}

// TestMemoryLimit: history does not count, replacing is always possible, and
// forgetting makes room; also for a state that was loaded.
func TestMemoryLimit(t *testing.T) {
	r := newMemoryRig(t)
	must := func(in hub.MemoryInput) {
		t.Helper()
		if _, err := r.remember(in); err != nil {
			t.Fatalf("%+v: %v", in, err)
		}
	}
	for i := range hub.MaxKeptMemories {
		must(hub.MemoryInput{Key: fmt.Sprint("k", i), Text: "x"})
	}
	r.live = r.loaded()
	for _, in := range []hub.MemoryInput{{Text: "x"}, {Key: "new", Text: "x"}} {
		if _, err := r.remember(in); !errors.Is(err, &hub.Error{Code: hub.CodeRoomFull}) {
			t.Errorf("%+v beyond the limit: %v", in, err)
		}
	}
	must(hub.MemoryInput{Key: "k1", Text: "y"})
	must(hub.MemoryInput{Key: "k2"})
	must(hub.MemoryInput{Key: "new", Text: "x"})
}
