package search_test

import (
	"context"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"hubcli/actors"
	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
	"hubcli/supervisor"
)

// breaks is an ApplyHook that panics the first times that a fact of each type is
// applied; what waits is called before each time that is not the first.
type breaks struct {
	mu    sync.Mutex
	times map[core.FactType]int // how often; the types left out never
	seen  map[core.FactType]int
	waits func()
}

func (b *breaks) hook(_ core.Owner, f core.Fact) {
	b.mu.Lock()
	times, breaks := b.times[f.FactType()]
	b.seen[f.FactType()]++
	n := b.seen[f.FactType()]
	b.mu.Unlock()
	if breaks && n > 1 && b.waits != nil {
		b.waits()
	}
	if n <= times {
		panic("a planted fault")
	}
}

func startBreaking(t *testing.T, dir string, waits func(), times int, facts ...core.Fact) *testhub.Hub {
	t.Helper()
	b := &breaks{times: map[core.FactType]int{}, seen: map[core.FactType]int{}, waits: waits}
	for _, f := range facts {
		b.times[f.FactType()] = times
	}
	h := testhub.Start(t, testhub.Dir(dir), testhub.With(func(c *supervisor.Config) {
		c.Actors = func(o *actors.Options) { o.ApplyHook = b.hook }
	}))
	opened(t, h)
	return h
}

func makeRoom(t *testing.T, h *testhub.Hub, name string) hub.RoomID {
	t.Helper()
	_, _ = h.Hub.CreateProject(t.Context(), hub.ProjectInput{Name: "P", Slug: "p"})
	made, err := h.Hub.CreateRoom(t.Context(), hub.RoomInput{Project: "p", Name: name})
	require.NoError(t, err)
	return made.Row.RoomID
}

func decide(t *testing.T, h *testhub.Hub, room hub.RoomID, title string) {
	t.Helper()
	if _, err := h.Hub.AddDecision(t.Context(), hub.DecisionInput{RoomID: room, Title: title, By: "ann"}); err != nil {
		t.Fatal(err)
	}
}

// kept returns the types of the hits that are not messages.
func kept(t *testing.T, h *testhub.Hub, text string) (types []hub.FoundType, behind int64) {
	t.Helper()
	page, err := h.Hub.Search(context.Background(), hub.SearchQuery{
		Text: text, Limit: 100, Types: []hub.FoundType{hub.FoundDecision, hub.FoundArtifact, hub.FoundMemory},
	})
	require.NoError(t, err)
	for _, row := range page.Rows {
		types = append(types, row.Type)
	}
	slices.Sort(types)
	return types, page.Behind
}

// TestFoundAfterARebuild: what an owner decided in a record whose rows it owed is
// found once it has been rebuilt, also after a restart.
func TestFoundAfterARebuild(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	h := startBreaking(t, dir, nil, 1, &core.DecisionAdded{}, &core.ArtifactAdded{}, &core.MemoryRemembered{})
	room := makeRoom(t, h, "r")
	decide(t, h, room, "needle")
	if _, err := h.Hub.AddArtifact(t.Context(), hub.ArtifactInput{RoomID: room, Title: "a", Kind: "note", Body: new("needle")}); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Hub.Remember(t.Context(), hub.MemoryInput{RoomID: room, Text: "needle"}); err != nil {
		t.Fatal(err)
	}
	want := []hub.FoundType{hub.FoundArtifact, hub.FoundDecision, hub.FoundMemory}
	for range 2 {
		require.Eventually(t, "the index has caught up", func() bool {
			s := h.Hub.SearchStatus()
			return s.Open && s.Behind == 0
		})
		if got, behind := kept(t, h, "needle"); !slices.Equal(got, want) || behind != 0 {
			t.Errorf("found are %v, %d behind; want %v", got, behind, want)
		}
		require.NoError(t, h.Stop())
		h = testhub.Start(t, testhub.Dir(dir))
	}
}

// TestSearchSaysWhatIsInDoubt: as long as rows are owed a search says that it has
// not seen all, and what comes behind them is found when they are.
func TestSearchSaysWhatIsInDoubt(t *testing.T) {
	rebuilding, rebuild := make(chan struct{}), make(chan struct{})
	h := startBreaking(t, filepath.Join(t.TempDir(), "store"), func() { close(rebuilding); <-rebuild }, 1, &core.DecisionAdded{})
	broken, other := makeRoom(t, h, "broken"), makeRoom(t, h, "quite another")
	var decided sync.WaitGroup
	decided.Go(func() { decide(t, h, broken, "needle") }) // the rebuild is on its goroutine
	<-rebuilding
	if _, err := h.Hub.Remember(t.Context(), hub.MemoryInput{RoomID: other, Text: "needle"}); err != nil {
		t.Fatal(err)
	}
	if _, behind := kept(t, h, "needle"); behind == 0 {
		t.Error("a decision is in doubt, and nothing is behind")
	}
	close(rebuild)
	decided.Wait()
	require.Eventually(t, "both are found", func() bool {
		got, behind := kept(t, h, "needle")
		return slices.Equal(got, []hub.FoundType{hub.FoundDecision, hub.FoundMemory}) && behind == 0
	})
}

// TestSearchGoesOnAfterAQuarantine: rows that will not come hold up nothing.
func TestSearchGoesOnAfterAQuarantine(t *testing.T) {
	h := startBreaking(t, filepath.Join(t.TempDir(), "store"), nil, 2, &core.DecisionAdded{})
	broken, other := makeRoom(t, h, "broken"), makeRoom(t, h, "quite another")
	decide(t, h, broken, "needle")
	if _, err := h.Hub.Remember(t.Context(), hub.MemoryInput{RoomID: other, Text: "needle"}); err != nil {
		t.Fatal(err)
	}
	require.Eventually(t, "the other room's is found", func() bool {
		got, behind := kept(t, h, "needle")
		return slices.Equal(got, []hub.FoundType{hub.FoundMemory}) && behind == 0
	})
}
