package search_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
	"hubcli/persistence"
)

func opened(t *testing.T, h *testhub.Hub) {
	t.Helper()
	require.Eventually(t, "the index is open", func() bool { return h.Hub.SearchStatus().Open })
}

func say(t *testing.T, h *testhub.Hub, from, to hub.AgentID, body string) hub.MessageID {
	t.Helper()
	in := hub.PostInput{FromAgent: from, ToAgent: to, Channel: hub.DefaultChannel, Kind: hub.KindChat, Body: body}
	out, err := h.Hub.Post(context.Background(), in)
	require.NoError(t, err)
	row, err := out.Row.Decode()
	require.NoError(t, err)
	return row.ID
}

func search(t *testing.T, h *testhub.Hub, text string, viewer hub.AgentID) []hub.MessageID {
	t.Helper()
	page, err := h.Hub.Search(context.Background(), hub.SearchQuery{Text: text, Viewer: viewer, Limit: 1000})
	if err != nil {
		t.Fatalf("search %q: %v", text, err)
	}
	if page.Behind != 0 {
		t.Fatalf("search %q is %d behind", text, page.Behind)
	}
	ids := []hub.MessageID{}
	for _, row := range page.Rows {
		if row.MessageID != nil {
			ids = append(ids, *row.MessageID)
		}
	}
	slices.Sort(ids)
	return ids
}

// TestWhatIsAcknowledgedIsFound: a search after a post finds it, and nobody finds
// another's direct message.
func TestWhatIsAcknowledgedIsFound(t *testing.T) {
	h := testhub.Start(t)
	opened(t, h)
	agents := []hub.AgentID{"ann", "bob", "eve"}
	r := rand.New(rand.NewPCG(7, 7))
	want := map[hub.AgentID][]hub.MessageID{}
	for i := range 60 {
		from, to := agents[r.IntN(3)], hub.AgentID("")
		if r.IntN(2) == 0 {
			to = agents[r.IntN(3)]
		}
		id := say(t, h, from, to, fmt.Sprintf("needle number %d", i))
		for _, viewer := range append(agents, "") {
			if hub.Visible(viewer, from, to) {
				want[viewer] = append(want[viewer], id)
			}
		}
		viewer := append(agents, "")[r.IntN(4)]
		if got := search(t, h, "needle", viewer); !slices.Equal(got, want[viewer]) {
			t.Fatalf("%q finds %v, want %v", viewer, got, want[viewer])
		}
	}
	page, err := h.Hub.Search(hub.WithCaller(context.Background(), &hub.Caller{Operator: true}), hub.SearchQuery{Text: "needle", Limit: 100})
	if err != nil || len(page.Rows) != 60 {
		t.Errorf("the operator finds %d: %v", len(page.Rows), err)
	}
}

// TestEveryMessageIsFoundOnceAfterRestarts: a start goes on where the index ends,
// and makes it anew if it is gone.
func TestEveryMessageIsFoundOnceAfterRestarts(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	var all []hub.MessageID
	for round, lose := range []bool{false, false, true, false} {
		if lose {
			require.NoError(t, os.RemoveAll(filepath.Join(dir, "search")))
		}
		h := testhub.Start(t, testhub.Dir(dir))
		for i := range 300 {
			all = append(all, say(t, h, "ann", "", fmt.Sprintf("needle %d of %d", i, round)))
		}
		opened(t, h)
		require.Eventually(t, "nothing is behind", func() bool { return h.Hub.SearchStatus().Behind == 0 })
		if got := search(t, h, "needle", ""); len(got) != min(len(all), 1000) || len(all) <= 1000 && !slices.Equal(got, all) {
			t.Errorf("round %d: %d of %d are found", round, len(got), len(all))
		}
		if s := h.Hub.SearchStatus(); s.Documents != int64(len(all)) {
			t.Errorf("round %d: the index holds %d documents of %d", round, s.Documents, len(all))
		}
		require.NoError(t, h.Stop())
	}
}

// TestForeignFolderStays: the hub runs without searching, and deleting the store
// keeps what is not its own.
func TestForeignFolderStays(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	h := testhub.Start(t, testhub.Dir(dir))
	opened(t, h)
	require.NoError(t, h.Stop())
	index := filepath.Join(dir, "search")
	require.NoError(t, os.RemoveAll(index))
	require.NoError(t, os.WriteFile(index, []byte("mine"), 0o600))
	h = testhub.Start(t, testhub.Dir(dir))
	say(t, h, "ann", "", "needle")
	if _, err := h.Hub.Search(context.Background(), hub.SearchQuery{Text: "needle", Limit: 1}); err == nil {
		t.Error("the hub searches")
	}
	require.NoError(t, h.Stop())
	err := persistence.Delete(dir)
	var kept *persistence.Kept
	if !errors.As(err, &kept) || !slices.Equal(kept.Names, []string{"search"}) {
		t.Fatalf("deleting says %v", err)
	}
	if b, err := os.ReadFile(filepath.Join(kept.Dir, "search")); err != nil || string(b) != "mine" {
		t.Errorf("what was there is %q, %v", b, err)
	}
}

// TestDeleteTakesTheIndex: nothing of it stays.
func TestDeleteTakesTheIndex(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	h := testhub.Start(t, testhub.Dir(dir))
	opened(t, h)
	require.NoError(t, h.Stop())
	if err := persistence.Delete(dir); err != nil {
		t.Error(err)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(dir), "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("there is still %v, %v", left, err)
	}
}

// TestMemoriesAreFound: the latest of a key is, what it replaced only in history,
// also after the index was lost.
func TestMemoriesAreFound(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	h := testhub.Start(t, testhub.Dir(dir))
	opened(t, h)
	ctx := context.Background()
	if _, err := h.Hub.CreateProject(ctx, hub.ProjectInput{Name: "p"}); err != nil {
		t.Fatal(err)
	}
	made, err := h.Hub.CreateRoom(ctx, hub.RoomInput{Project: "p", Name: "r"})
	require.NoError(t, err)
	other, err := h.Hub.CreateRoom(ctx, hub.RoomInput{Project: "p", Name: "quite another"})
	require.NoError(t, err)
	room := made.Row.RoomID
	for _, in := range []hub.MemoryInput{
		{RoomID: room, Key: "build", Text: "needle one", Tags: []string{"ci"}},
		{RoomID: room, Key: "build", Text: "needle two"},
		{RoomID: room, Key: "gone", Text: "needle forgotten"},
		{RoomID: room, Key: "gone"},
		{RoomID: room, Text: "needle of the project", Scope: hub.ScopeProject},
		{RoomID: other.Row.RoomID, Text: "needle elsewhere"},
	} {
		if _, err := h.Hub.Remember(ctx, in); err != nil {
			t.Fatal(err)
		}
	}
	check := func(h *testhub.Hub) {
		t.Helper()
		for _, c := range []struct {
			q    hub.MemoryQuery
			want string
		}{
			{hub.MemoryQuery{}, "needle of the project, needle two"},
			{hub.MemoryQuery{History: true}, "needle forgotten, needle of the project, needle one, needle two"},
			{hub.MemoryQuery{Scope: hub.ScopeRoom}, "needle two"},
			{hub.MemoryQuery{Scope: hub.ScopeProject}, "needle of the project"},
			{hub.MemoryQuery{Tag: "ci", History: true}, "needle one"},
		} {
			c.q.RoomID, c.q.Query, c.q.Limit = room, "needle", 10
			rows, _, err := h.Hub.Recall(ctx, c.q)
			require.NoError(t, err)
			var texts []string
			for _, m := range rows {
				texts = append(texts, m.Text)
			}
			slices.Sort(texts)
			if got := strings.Join(texts, ", "); got != c.want {
				t.Errorf("%+v: %q, want %q", c.q, got, c.want)
			}
		}
		page, err := h.Hub.Search(ctx, hub.SearchQuery{Text: "needle", Types: []hub.FoundType{hub.FoundMemory}, Limit: 10})
		if err != nil || len(page.Rows) != 3 {
			t.Errorf("a search finds %+v, %v", page.Rows, err)
		}
	}
	check(h)
	require.NoError(t, h.Stop())
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "search")))
	h = testhub.Start(t, testhub.Dir(dir))
	opened(t, h)
	check(h)
}
