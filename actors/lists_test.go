package actors

import (
	"context"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/require"
)

// pager is a list under test. What it lists is named by text: add makes one that was
// not there, remove takes one away, if the list knows that, and touch changes one
// that stays.
type pager struct {
	page   func(at hub.Cursor, limit int) ([]string, hub.Cursor, error)
	add    func(n int) string
	remove func(name string)
	touch  func(name string)
}

// pageOf makes the page of a pager: name names a row.
func pageOf[Q hub.PageQuery[Q], T any](list func(context.Context, Q) ([]T, hub.Cursor, error), q func(limit int) Q, name func(*T) string) func(hub.Cursor, int) ([]string, hub.Cursor, error) {
	return func(at hub.Cursor, limit int) ([]string, hub.Cursor, error) {
		rows, next, err := list(context.Background(), q(limit).At(at))
		names := make([]string, len(rows))
		for i := range rows {
			names[i] = name(&rows[i])
		}
		return names, next, err
	}
}

// TestWalksAreWhole compares walks through every list with a plain model: whatever is
// added, removed and changed between the pages, what is there all the time is shown
// exactly once, and nothing is shown twice.
func TestWalksAreWhole(t *testing.T) {
	for name, make := range pagers {
		t.Run(name, func(t *testing.T) {
			r := start(t, newMemStore())
			defer r.stop()
			p, rng := make(r), rand.New(rand.NewPCG(7, uint64(len(name))))
			m := &model{there: map[string]bool{}, p: &p, rng: rng}
			for range 40 {
				m.step(true)
			}
			for range 10 {
				m.walk(t)
			}
		})
	}
}

// model knows what is there.
type model struct {
	p     *pager
	rng   *rand.Rand
	n     int
	there map[string]bool
	names []string // in the order of their making
}

// step makes one change.
func (m *model) step(grow bool) (gone string) {
	name := ""
	if len(m.names) > 0 {
		name = m.names[m.rng.IntN(len(m.names))]
	}
	switch what := m.rng.IntN(3); {
	case grow || what == 0 || name == "":
		m.n++
		name = m.p.add(m.n)
		m.there[name], m.names = true, append(m.names, name)
	case what == 1 && m.p.remove != nil && len(m.names) > 20:
		m.p.remove(name)
		delete(m.there, name)
		m.names = slices.DeleteFunc(m.names, func(s string) bool { return s == name })
		return name
	case m.p.touch != nil:
		m.p.touch(name)
	}
	return ""
}

// walk goes through the list once, in pages of any size.
func (m *model) walk(t *testing.T) {
	t.Helper()
	stays, shown, order := map[string]bool{}, map[string]int{}, []string{}
	for name := range m.there {
		stays[name] = true
	}
	ever := func(name string) bool { return stays[name] || m.there[name] }
	gone := map[string]bool{}
	for at, pages := hub.Cursor(""), 0; ; pages++ {
		limit := 1 + m.rng.IntN(12)
		names, next, err := m.p.page(at, limit)
		require.NoError(t, err)
		if len(names) > limit || next != "" && len(names) < limit {
			t.Fatalf("a page of %d rows within a limit of %d, cursor %q", len(names), limit, next)
		}
		for _, name := range names {
			shown[name]++
			if order = append(order, name); !ever(name) && !gone[name] {
				t.Fatalf("%s is shown, and there is none", name)
			}
		}
		if next == "" {
			break
		}
		if at = next; pages > 1000 {
			t.Fatal("the walk does not end")
		}
		for range m.rng.IntN(4) {
			if name := m.step(false); name != "" {
				delete(stays, name)
				gone[name] = true
			}
		}
	}
	for name := range stays {
		if shown[name] != 1 {
			t.Errorf("%s was there all the time and is shown %d times in %v", name, shown[name], order)
		}
	}
	for name, n := range shown {
		if n > 1 {
			t.Errorf("%s is shown %d times", name, n)
		}
	}
}

// must fails for what the pagers do themselves.
func must[T any](out T, err error) T {
	if err != nil {
		panic(err)
	}
	return out
}

// TestEveryListIsWalked: no list of the service is left out of the pagers.
func TestEveryListIsWalked(t *testing.T) {
	walked := map[string]bool{"Spawns": true} // by TestEveryListPages of httpapi: they need processes
	for name := range pagers {
		list, _, _ := strings.Cut(name, "/")
		walked[list] = true
	}
	service, cursor := reflect.TypeFor[hub.Service](), reflect.TypeFor[hub.Cursor]()
	for i := range service.NumMethod() {
		if m := service.Method(i); m.Type.NumOut() == 3 && m.Type.Out(1) == cursor && !walked[m.Name] {
			t.Errorf("%s is not walked", m.Name)
		}
	}
}

// TestClaimGrantedDuringTheLook: between the commit of a grant and the moment that the
// view shows it, the key is not passed over.
func TestClaimGrantedDuringTheLook(t *testing.T) {
	r := start(t, newMemStore())
	r.claim("ann", "k", 600)
	r.release("ann", "k")
	r.claim("bob", "k", 600)
	r.view.Leases.Replace(core.LeaseOwner(core.LeaseShard(core.LeaseKey{Space: core.SpaceClaim, Key: "k"})), core.SpaceClaim, nil)
	rows, _, err := r.Claims(t.Context(), hub.LeasesQuery{Limit: 9})
	if err != nil || len(rows) != 1 || rows[0].OwnerAgentID != "bob" {
		t.Errorf("the claims are %+v, %v", rows, err)
	}
}
