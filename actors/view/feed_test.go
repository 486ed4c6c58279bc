package view

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/require"
)

// listStore has messages and nothing else. It counts those that it shows.
type listStore struct {
	core.Rows
	all   []core.StoredMessage
	shown int
}

func (s *listStore) Messages(scope core.Scope, after, upto hub.MessageID, backward bool, fn func(*core.StoredMessage) bool) error {
	rows := s.all[after:max(after, min(upto, hub.MessageID(len(s.all))))]
	for n := range rows {
		m := &rows[n]
		if backward {
			m = &rows[len(rows)-1-n]
		}
		stored := scope == PublicScope() || scope == AllScope() || slices.Contains(appendScopes(nil, m), scope)
		if !stored {
			continue
		}
		if s.shown++; !fn(m) {
			break
		}
	}
	return nil
}

// listed makes a view that reads its messages from the store alone, as after a restart.
func listed(drafts ...core.MessageDraft) (*View, *listStore) {
	s := &listStore{}
	for i := range drafts {
		d := drafts[i]
		if d.From == "" {
			d.From = "ann"
		}
		d.Kind = hub.KindChat
		s.all = append(s.all, d.Encode(hub.MessageID(i+1), 0))
	}
	return &View{rows: s, Ring: newRing(1, hub.MessageID(len(s.all)))}, s
}

func idsOf(rows []*core.StoredMessage) (out []hub.MessageID) {
	for _, m := range rows {
		out = append(out, m.ID)
	}
	return out
}

// roomFeed selects what the log of the room "shop" shows with direct messages to bob and to
// cleo, from the last of them back.
func roomFeed() Feed {
	return Feed{
		Scopes: []core.Scope{ChannelScope("shop"), InboxScope("bob"), InboxScope("cleo")}, All: true, Limit: 10, Tail: true, looks: 5,
		Without: func(m *core.StoredMessage) bool { return m.To != "" && m.Channel != "shop" },
	}
}

// TestTailLeavesNoHole: where one scope of a tail has more rows than one look takes, the
// page has none from before the place that this look has reached. If that leaves no row, it
// goes on to look.
func TestTailLeavesNoHole(t *testing.T) {
	public := core.MessageDraft{Channel: "shop", Body: "public"}
	direct := core.MessageDraft{Channel: "shop", To: "bob", Body: "direct"}
	other := core.MessageDraft{Channel: hub.DirectChannel, To: "bob", Body: "of no room"}
	times := func(n int, d core.MessageDraft) []core.MessageDraft { return slices.Repeat([]core.MessageDraft{d}, n) }
	for name, x := range map[string]struct {
		rows []core.MessageDraft
		want []hub.MessageID
	}{
		"a row behind one look":        {slices.Concat(times(2, public), times(1, direct), times(7, other)), []hub.MessageID{1, 2, 3}},
		"a row behind many looks":      {slices.Concat(times(2, public), times(1, direct), times(40, other)), []hub.MessageID{1, 2, 3}},
		"a row within the look":        {slices.Concat(times(2, public), times(1, direct), times(3, other), times(1, public), times(3, other)), []hub.MessageID{7}},
		"a row where the look ends":    {slices.Concat(times(2, public), times(1, direct), times(4, other)), []hub.MessageID{3}},
		"a row right before its end":   {slices.Concat(times(1, direct), times(1, public), times(5, other)), []hub.MessageID{1, 2}},
		"one look takes all":           {slices.Concat(times(2, public), times(1, direct), times(3, other)), []hub.MessageID{1, 2, 3}},
		"nothing behind many looks":    {times(40, other), nil},
		"the other scope is the first": {slices.Concat(times(1, direct), times(30, public)), []hub.MessageID{27, 28, 29, 30, 31}},
	} {
		v, s := listed(x.rows...)
		f := roomFeed()
		rows, examined, err := v.Read(&f, 0, hub.MessageID(len(s.all)))
		require.NoError(t, err)
		if got := idsOf(rows); !slices.Equal(got, x.want) || examined != hub.MessageID(len(s.all)) {
			t.Errorf("%s: rows %v, examined up to %d; want %v", name, got, examined, x.want)
		}
	}
}

// TestTailLooksAreBounded: a tail whose rows are too far behind those that it must look at
// ends at last, and one without any row ends after one look.
func TestTailLooksAreBounded(t *testing.T) {
	rows := slices.Repeat([]core.MessageDraft{{Channel: hub.DirectChannel, To: "bob", Body: "of no room"}}, 1000)
	f := roomFeed()
	v, s := listed(rows...)
	got, _, err := v.Read(&f, 0, 1000)
	if err != nil || len(got) > 0 || s.shown != f.looks {
		t.Errorf("without a row: rows %v after a look at %d, %v", idsOf(got), s.shown, err)
	}
	rows[0] = core.MessageDraft{Channel: "shop", Body: "public"}
	v, s = listed(rows...)
	got, _, err = v.Read(&f, 0, 1000)
	if want := 1 + f.looks + 10*f.looks; err != nil || len(got) > 0 || s.shown != want {
		t.Errorf("a row far behind: rows %v after a look at %d, want %d, %v", idsOf(got), s.shown, want, err)
	}
}

// TestWalkBackShowsEveryRowOnce: pages that each begin before the first row of the last one
// show every row once, whatever the scopes and the bounds of a page. After a page without
// rows the walk goes on as docs/api.md says, so many ids further back as one look takes.
func TestWalkBackShowsEveryRowOnce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		agents := []hub.AgentID{"ann", "bob", "cleo"}
		to := rapid.SampledFrom([]hub.AgentID{"", "", "bob", "bob", "bob", "cleo"})
		in := rapid.SampledFrom([]hub.ChannelName{"shop", "store"})
		var drafts []core.MessageDraft
		for range rapid.IntRange(0, 60).Draw(rt, "messages") {
			// The same several times, because a long stretch is what one look does not take.
			d := core.MessageDraft{From: rapid.SampledFrom(agents).Draw(rt, "from"), To: to.Draw(rt, "to"), Channel: in.Draw(rt, "channel")}
			d.Thread = rapid.SampledFrom([]hub.ThreadID{"", "talk"}).Draw(rt, "thread")
			d.Body = strings.Repeat("x", rapid.IntRange(1, 300).Draw(rt, "body"))
			drafts = append(drafts, slices.Repeat([]core.MessageDraft{d}, rapid.IntRange(1, 12).Draw(rt, "times"))...)
		}
		v, s := listed(drafts...)
		f := Feed{
			All: rapid.Bool().Draw(rt, "all"), Viewer: "bob", Tail: true,
			Limit: rapid.IntRange(1, 10).Draw(rt, "limit"),
			bytes: rapid.IntRange(1, 4000).Draw(rt, "bytes"),
			looks: rapid.IntRange(1, 10).Draw(rt, "looks"),
			Party: rapid.SampledFrom([]hub.AgentID{"", "cleo"}).Draw(rt, "party"),
		}
		f.Scopes = rapid.SampledFrom([][]core.Scope{
			{AllScope()},
			{PublicScope()},
			{ThreadScope("talk")},
			{InboxScope("bob")},
			{PublicScope(), InboxScope("bob")},
			{ChannelScope("shop"), InboxScope("bob"), InboxScope("cleo")},
			{InboxScope("cleo"), ChannelScope("store"), ChannelScope("shop"), InboxScope("bob")},
		}).Draw(rt, "scopes")
		if rapid.Bool().Draw(rt, "without") {
			f.Without = func(m *core.StoredMessage) bool { return m.To != "" && m.Channel != "shop" }
		}
		var want, got []hub.MessageID
		for i := range s.all {
			if m := &s.all[i]; selected(&f, m) {
				want = append(want, m.ID)
			}
		}
		for before := hub.MessageID(len(s.all) + 1); before > 1; {
			rows, examined, err := v.Read(&f, 0, before-1)
			require.NoError(t, err)
			if examined != before-1 || len(rows) > f.Limit {
				rt.Fatalf("before %d: %d rows, examined up to %d", before, len(rows), examined)
			}
			if got = append(idsOf(rows), got...); len(rows) > 0 {
				before = rows[0].ID
			} else {
				before -= hub.MessageID(f.looks)
			}
		}
		if !slices.Equal(got, want) {
			rt.Fatalf("%s: a walk back shows %v, want %v", fmt.Sprint(f.Scopes), got, want)
		}
	})
}

// selected says what a feed selects, apart from the code under test.
func selected(f *Feed, m *core.StoredMessage) bool {
	in := slices.ContainsFunc(f.Scopes, func(s core.Scope) bool {
		switch s.Kind {
		case core.ScopePublic:
			return m.To == ""
		case core.ScopeChannel:
			return m.To == "" && string(m.Channel) == s.Name
		case core.ScopeThread:
			return string(m.Thread) == s.Name
		case core.ScopeInbox:
			return string(m.To) == s.Name
		case core.ScopeAll:
		}
		return true
	})
	return in && (m.To == "" || m.To == f.Viewer || f.All) && (f.Party == "" || m.From == f.Party || m.To == f.Party) &&
		(f.Without == nil || !f.Without(m))
}
