package search

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/require"
)

func TestFind(t *testing.T) {
	x := opened(t)
	put(t, x,
		public(1, "the quick brown fox"),
		public(2, "the quick quick QUICK hare"),
		public(3, "a snake_case_name in pkg/file_one.go:12"),
		public(4, "func getUserName() error"),
		public(5, "日本語のテキスト"),
		public(6, "Un café à Zürich"),
		public(7, "brown quick"),
		public(8, "brown quick"),
		public(9, strings.Repeat("filler ", 300)+"fox"),
	)
	for _, c := range []struct {
		query string
		want  []uint64
	}{
		{"fox", []uint64{1, 9}},            // the shorter text first
		{"quick", []uint64{2, 8, 7, 1}},    // more often, then shorter, then later
		{"quick brown", []uint64{8, 7, 1}}, // all words
		{`"quick brown"`, []uint64{1}},     // next to each other
		{`"brown quick`, []uint64{8, 7}},   // a quote that is not closed
		{"quick -brown", []uint64{2}},      // without this word
		{`quick -"quick brown"`, []uint64{2, 8, 7}},
		{"case", []uint64{3}},
		{"snake_case_name", []uint64{3}},
		{"case_name", []uint64{3}},
		{"name_case", nil},
		{"file_one.go", []uint64{3}},
		{"pkg/file_one.go:12", []uint64{3}},
		{"12", []uint64{3}},
		{"getusername", []uint64{4}},
		{"getUserName", []uint64{4}},
		{"user", []uint64{4}},
		{"GetUser", []uint64{4}},
		{"日本", []uint64{5}},
		{"本語の", []uint64{5}},
		{"語", []uint64{5}},
		{"ト", []uint64{5}},
		{"本日", nil},
		{"CAFE zurich", []uint64{6}},
		{"hare fox", []uint64{2, 1, 9}},  // no text holds both words: any of them
		{"brown qui", []uint64{8, 7, 1}}, // the last word may be a beginning
		{"br", nil},                      // too short to be completed
		{"nothing", nil},
		{"fox*", []uint64{1, 9}},
		{"f?x", nil},
		{"text:fox", nil},
		{"+fox~2^3", nil},
	} {
		got := find(t, x, core.IndexQuery{Text: c.query})
		if !slices.Equal(got, c.want) && len(got)+len(c.want) > 0 {
			t.Errorf("%q finds %v, want %v", c.query, got, c.want)
		}
	}
}

func TestNoWords(t *testing.T) {
	x := opened(t)
	for _, text := range []string{"", " ", `""`, "-", "-fox", "/.*/", "😀", "\xff", `-"a b"`} {
		if _, err := x.Find(context.Background(), core.IndexQuery{Text: text, Limit: 1}); !errors.Is(err, &hub.Error{Code: hub.CodeInvalid}) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestSelect(t *testing.T) {
	x := opened(t)
	doc := func(n int, change func(*core.IndexDocument)) core.IndexDocument {
		d := public(n, "word")
		change(&d)
		return d
	}
	put(t, x,
		doc(1, func(d *core.IndexDocument) { d.Channel = "c" }),
		doc(2, func(d *core.IndexDocument) { d.From = "bob" }),
		doc(3, func(d *core.IndexDocument) { d.Kind = "notice" }),
		doc(4, func(d *core.IndexDocument) { d.Type, d.Place = hub.FoundMemory, "r_1" }),
		doc(5, func(d *core.IndexDocument) { d.Type, d.Place, d.History = hub.FoundMemory, "r_1", true }),
		doc(6, func(d *core.IndexDocument) { d.Type, d.Place = hub.FoundArtifact, "p_1" }),
	)
	for i, c := range []struct {
		q    core.IndexQuery
		want []uint64
	}{
		{core.IndexQuery{}, []uint64{6, 4, 3, 2, 1}},
		{core.IndexQuery{History: true}, []uint64{6, 5, 4, 3, 2, 1}},
		{core.IndexQuery{Channel: "c"}, []uint64{1}},
		{core.IndexQuery{From: "bob"}, []uint64{2}},
		{core.IndexQuery{Kind: "notice"}, []uint64{3}},
		{core.IndexQuery{Places: []string{"r_1", "p_1"}}, []uint64{6, 4}},
		{core.IndexQuery{Types: []hub.FoundType{hub.FoundMemory, hub.FoundArtifact}}, []uint64{6, 4}},
		{core.IndexQuery{Since: 3000}, []uint64{6, 4, 3}},
		{core.IndexQuery{Limit: 2}, []uint64{6, 4}},
		{core.IndexQuery{Channel: "none"}, nil},
	} {
		c.q.Text = "word"
		if got := find(t, x, c.q); !slices.Equal(got, c.want) && len(got)+len(c.want) > 0 {
			t.Errorf("%d: %v, want %v", i, got, c.want)
		}
	}
}

// TestAnyOfTheRarest: a search for any of many words leaves out the most common
// ones.
func TestAnyOfTheRarest(t *testing.T) {
	x := opened(t)
	for i := range 5 {
		put(t, x, public(i+1, "aa bb cc dd ee ff"))
	}
	put(t, x, public(6, "rare"), public(7, "everywhere"))
	for i := range 10 {
		put(t, x, public(i+8, "everywhere else"))
	}
	got := find(t, x, core.IndexQuery{Text: "everywhere aa bb cc dd ee rare nowhere"})
	if !slices.Equal(got, []uint64{5, 4, 3, 2, 1, 6}) {
		t.Errorf("found %v", got)
	}
}

// TestPutAgain: a document that is put again replaces its earlier form.
func TestPutAgain(t *testing.T) {
	x := opened(t)
	put(t, x, public(1, "old words"), public(2, "other words"))
	put(t, x, public(1, "new words"))
	put(t, x, public(1, "new words"))
	if got := find(t, x, core.IndexQuery{Text: "words"}); !slices.Equal(got, []uint64{2, 1}) {
		t.Errorf("found %v", got)
	}
	if got := find(t, x, core.IndexQuery{Text: "old"}); len(got) > 0 {
		t.Errorf("found %v", got)
	}
	if n := x.Documents(); n != 2 {
		t.Errorf("%d documents", n)
	}
}

// TestFindIsWhatAScanFinds: a search in random messages finds what a scan of
// those that the viewer may see finds. Direct messages between others change
// neither hits nor scores.
func TestFindIsWhatAScanFinds(t *testing.T) {
	agents := []hub.AgentID{"ann", "bob", "eve"}
	words := []string{"alpha", "beta", "gamma", "delta"}
	type message struct {
		from, to hub.AgentID
		words    []string
	}
	rapid.Check(t, func(rt *rapid.T) {
		messages := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) message {
			return message{
				from: rapid.SampledFrom(agents).Draw(rt, "from"), to: rapid.SampledFrom(append([]hub.AgentID{"", ""}, agents...)).Draw(rt, "to"),
				words: rapid.SliceOfN(rapid.SampledFrom(words), 1, 6).Draw(rt, "words"),
			}
		}), 1, 25).Draw(rt, "messages")
		viewer := rapid.SampledFrom(append([]hub.AgentID{""}, agents...)).Draw(rt, "viewer")
		query := rapid.SliceOfNDistinct(rapid.SampledFrom(words), 1, 2, rapid.ID).Draw(rt, "query")
		all, own := opened(t), opened(t) // own holds only what the viewer may see
		var docs, ownDocs []core.IndexDocument
		want := map[uint64]bool{}
		some := map[uint64]bool{}
		for i, m := range messages {
			d := public(i+1, strings.Join(m.words, " "))
			d.From = m.from
			if m.to != "" {
				d.Parties = []hub.AgentID{m.from, m.to}
			}
			docs = append(docs, d)
			if !hub.Visible(viewer, m.from, m.to) {
				continue
			}
			ownDocs = append(ownDocs, d)
			held := 0
			for _, w := range query {
				if slices.Contains(m.words, w) {
					held++
				}
			}
			if held == len(query) {
				want[d.Number] = true
			}
			if held > 0 {
				some[d.Number] = true
			}
		}
		if len(want) == 0 {
			want = some
		}
		put(t, all, docs...)
		put(t, own, ownDocs...)
		q := core.IndexQuery{Text: strings.Join(query, " "), Viewer: viewer, Limit: 1000}
		hits, err := all.Find(context.Background(), q)
		require.NoError(rt, err)
		got := map[uint64]bool{}
		for _, h := range hits {
			if got[h.Number] {
				rt.Fatalf("%d is found twice", h.Number)
			}
			got[h.Number] = true
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			rt.Fatalf("%q as %q finds %v, want %v", q.Text, viewer, got, want)
		}
		alone, err := own.Find(context.Background(), q)
		require.NoError(rt, err)
		if !slices.Equal(hits, alone) {
			rt.Fatalf("others' messages change the answer: %v, without them %v", hits, alone)
		}
	})
}

// FuzzFind: any text of a query gives hits or the error invalid.
func FuzzFind(f *testing.F) {
	x := opened(f)
	put(f, x, public(1, "the quick brown fox"), public(2, "getUserName 日本語 snake_case"))
	for _, s := range []string{`"`, `-"`, `--a`, `"a" -"b c" d`, "a* b? /x/ [y] (z) ~ ^ + && ||", strings.Repeat("a ", 500), "日 日本 本", "\xff\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, err := x.Find(context.Background(), core.IndexQuery{Text: text, Viewer: "ann", Limit: 10})
		if err != nil && !errors.Is(err, &hub.Error{Code: hub.CodeInvalid}) {
			t.Fatal(err)
		}
	})
}

// TestTimesOfAllBytes: a row is found by its time, and stands in the order of the times,
// whatever bytes the time is made of. The engine ends a stored value at a byte 0xff.
func TestTimesOfAllBytes(t *testing.T) {
	x := opened(t)
	var times []hub.Time
	for shift := range 7 {
		times = append(times, hub.Time(0xff)<<(8*shift), hub.Time(0xffff)<<(8*shift)&(1<<62-1))
	}
	times = append(times, 1<<62)
	slices.Sort(times)
	times = slices.Compact(times)
	for i, ts := range times {
		d := public(i+1, "word")
		d.TS = ts
		put(t, x, d)
	}
	for i, ts := range times {
		var want []uint64
		for n := len(times); n > i; n-- { // equal rows: the later first
			want = append(want, uint64(n))
		}
		if got := find(t, x, core.IndexQuery{Text: "word", Since: ts}); !slices.Equal(got, want) {
			t.Errorf("since %#x: %v, want %v", int64(ts), got, want)
		}
	}
}
