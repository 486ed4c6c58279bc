package homeroom

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"hubcli/hub"
	"hubcli/internal/require"
)

// rest are the calls that nothing here makes.
type rest interface{ hub.Projects }

// fake is a hub that knows projects, rooms and bindings, and decides one call after the other as
// the hub does.
type fake struct {
	rest
	mu       sync.Mutex
	projects []hub.Project
	rooms    []hub.Room
	before   func(call string) // called without the lock
}

func (h *fake) enter(call string) func() {
	if h.before != nil {
		h.before(call)
	}
	h.mu.Lock()
	return h.mu.Unlock
}

func (h *fake) find(ref string) *hub.Project {
	for i := range h.projects {
		if p := &h.projects[i]; string(p.ProjectID) == ref || p.Slug == ref || strings.EqualFold(p.Name, ref) {
			return p
		}
	}
	return nil
}

func (h *fake) Project(_ context.Context, ref string) (hub.Project, error) {
	defer h.enter("project")()
	if p := h.find(ref); p != nil {
		return *p, nil
	}
	return hub.Project{}, hub.NewError(hub.CodeProjectNotFound, "none")
}

func (h *fake) CreateProject(_ context.Context, in hub.ProjectInput) (hub.Outcome[hub.Project], error) {
	defer h.enter("create project")()
	if h.find(in.Name) != nil {
		return hub.Outcome[hub.Project]{}, hub.NewError(hub.CodeProjectExists, "exists")
	}
	p := hub.Project{ProjectID: hub.ProjectID(fmt.Sprintf("p_%d", len(h.projects)+1)), Slug: strings.ToLower(in.Name), Name: in.Name}
	h.projects = append(h.projects, p)
	return hub.Outcome[hub.Project]{Row: p, Created: true}, nil
}

func (h *fake) Rooms(_ context.Context, q hub.RoomsQuery) ([]hub.Room, hub.Cursor, error) {
	defer h.enter("rooms")()
	var rows []hub.Room
	for _, r := range h.rooms {
		if q.Project == "" || string(r.ProjectID) == q.Project {
			rows = append(rows, r)
		}
	}
	return rows, "", nil
}

func (h *fake) Room(_ context.Context, ref hub.RoomRef) (hub.Room, error) {
	defer h.enter("room")()
	for _, r := range h.rooms {
		if string(r.RoomID) == ref.Room || r.Slug == ref.Room {
			if p := h.find(ref.Project); ref.Project == "" || p != nil && p.ProjectID == r.ProjectID {
				return r, nil
			}
		}
	}
	return hub.Room{}, hub.NewError(hub.CodeRoomNotFound, "none")
}

func (h *fake) CreateRoom(_ context.Context, in hub.RoomInput) (hub.Outcome[hub.Room], error) {
	defer h.enter("create room")()
	for _, r := range h.rooms {
		if string(r.ProjectID) == in.Project && strings.EqualFold(r.Name, in.Name) {
			return hub.Outcome[hub.Room]{}, hub.NewError(hub.CodeSimilarRoomExists, "similar")
		}
	}
	r := hub.Room{RoomID: hub.RoomID(fmt.Sprintf("r_%d", len(h.rooms)+1)), ProjectID: hub.ProjectID(in.Project), Slug: strings.ToLower(in.Name), Name: in.Name}
	h.rooms = append(h.rooms, r)
	return hub.Outcome[hub.Room]{Row: r, Created: true}, nil
}

func (h *fake) BindRoom(_ context.Context, id hub.RoomID, in hub.BindingInput) (hub.Outcome[hub.Room], error) {
	defer h.enter("bind")()
	for i := range h.rooms {
		for _, path := range h.rooms[i].Bindings {
			if path == in.Path && h.rooms[i].RoomID != id {
				return hub.Outcome[hub.Room]{}, hub.NewError(hub.CodeAlreadyBound, "bound")
			}
			if path == in.Path {
				return hub.Outcome[hub.Room]{Row: h.rooms[i]}, nil
			}
		}
	}
	for i := range h.rooms {
		if r := &h.rooms[i]; r.RoomID == id {
			r.Bindings = append(r.Bindings[:len(r.Bindings):len(r.Bindings)], in.Path)
			return hub.Outcome[hub.Room]{Row: *r, Created: true}, nil
		}
	}
	return hub.Outcome[hub.Room]{}, hub.NewError(hub.CodeRoomNotFound, "none")
}

func (h *fake) UnbindRoom(_ context.Context, id hub.RoomID, in hub.BindingInput) (hub.Outcome[hub.Room], error) {
	defer h.enter("unbind")()
	for i := range h.rooms {
		if h.rooms[i].RoomID == id {
			h.rooms[i] = withoutFolder(h.rooms[i], in.Path)
		}
	}
	return hub.Outcome[hub.Room]{}, nil
}

func (h *fake) Resolve(_ context.Context, path string) (hub.Resolved, error) {
	defer h.enter("resolve")()
	for i := range h.rooms {
		r := h.rooms[i]
		for _, bound := range r.Bindings {
			if path == bound || below(path, bound) {
				p := *h.find(string(r.ProjectID))
				return hub.Resolved{Bound: true, RoomID: &r.RoomID, Room: &r, Project: &p, BoundPath: &bound}, nil
			}
		}
	}
	return hub.Resolved{}, nil
}

func (p *place) folder(path string) Folder {
	p.t.Helper()
	f, err := Find(path, p.wide)
	require.NoError(p.t, err)
	return f
}

func TestRoomIsMadeOnce(t *testing.T) {
	p, h := newPlace(t), &fake{}
	shop := p.folder(p.repository("home/sam/shop"))
	plan, made, err := Make(t.Context(), h, shop, Wish{})
	if err != nil || made != (Made{true, true, true}) || plan.Room.Slug != "shop" || plan.Project.Slug != "shop" || !plan.Bound || plan.At != shop.Top {
		t.Fatalf("the first: %+v, %+v, %v", plan, made, err)
	}
	plan, made, err = Make(t.Context(), h, shop, Wish{})
	if err != nil || made != (Made{}) || plan.Room.RoomID != "r_1" || !plan.Bound {
		t.Errorf("the second: %+v, %+v, %v", plan, made, err)
	}
	deeper, err := Here(p.dir("home/sam/shop/till"), p.wide)
	require.NoError(t, err)
	plan, _, err = Make(t.Context(), h, deeper, Wish{})
	if err != nil || plan.Room.RoomID != "r_1" || plan.At != shop.Top || len(h.rooms) != 1 {
		t.Errorf("a folder below: %+v, %v", plan, err)
	}
}

// Another repository of the name gets a number; a clone of the same remote, and one whose folder is
// gone, get the room.
func TestNameOfAnotherRepository(t *testing.T) {
	p, h := newPlace(t), &fake{}
	first := p.repository("a/shop")
	p.git(first, "remote", "add", "origin", "https://git.example.org/team/shop.git")
	_, _, err := Make(t.Context(), h, p.folder(first), Wish{})
	require.NoError(t, err)

	other := p.repository("b/shop")
	p.git(other, "remote", "add", "origin", "https://git.example.org/others/shop.git")
	plan, made, err := Make(t.Context(), h, p.folder(other), Wish{})
	if err != nil || plan.Project.Slug != "shop-2" || plan.Room.Slug != "shop-2" || made != (Made{true, true, true}) || !strings.Contains(plan.Note, first) {
		t.Errorf("another remote: %+v, %+v, %v", plan, made, err)
	}
	clone := p.repository("c/shop")
	p.git(clone, "remote", "add", "origin", "git@git.example.org:team/shop")
	plan, made, err = Make(t.Context(), h, p.folder(clone), Wish{})
	if err != nil || plan.Room.RoomID != "r_1" || made != (Made{Binding: true}) || plan.Note != "" {
		t.Errorf("a clone: %+v, %+v, %v", plan, made, err)
	}
	require.NoError(t, os.RemoveAll(other))
	moved := p.repository("d/shop")
	plan, _, err = Make(t.Context(), h, p.folder(moved), Wish{})
	if err != nil || plan.Room.Slug != "shop-2" {
		t.Errorf("after the other is gone: %+v, %v", plan, err)
	}
}

func TestNamedRooms(t *testing.T) {
	p, h := newPlace(t), &fake{}
	shop := p.folder(p.repository("home/sam/shop"))
	plan, _, err := Make(t.Context(), h, shop, Wish{Project: "Web", Room: "till"})
	if err != nil || plan.Project.Slug != "web" || plan.Room.Slug != "till" {
		t.Fatalf("%+v, %v", plan, err)
	}
	for _, w := range []Wish{{Room: "till"}, {Room: "web/till"}, {Room: "r_1"}, {Project: "web", Room: "till"}} {
		if plan, made, err := Make(t.Context(), h, shop, w); err != nil || made != (Made{}) || plan.Room.RoomID != "r_1" {
			t.Errorf("%+v again: %+v, %+v, %v", w, plan, made, err)
		}
	}
	var r *Refusal
	if _, _, err := Make(t.Context(), h, shop, Wish{Room: "other"}); !errors.As(err, &r) || !strings.Contains(r.Fix, "room unbind") {
		t.Errorf("another room: %v", err)
	}
	if _, _, err := Make(t.Context(), h, shop, Wish{Room: "r_99"}); !errors.Is(err, &hub.Error{Code: hub.CodeRoomNotFound}) {
		t.Errorf("no such room: %v", err)
	}
	cart := p.folder(p.repository("home/sam/cart"))
	plan, made, err := Make(t.Context(), h, cart, Wish{Room: "web/till"})
	if err != nil || plan.Room.RoomID != "r_1" || made != (Made{Binding: true}) {
		t.Errorf("a second folder: %+v, %+v, %v", plan, made, err)
	}
}

func TestArchivedRoomsAreLeft(t *testing.T) {
	p, h := newPlace(t), &fake{}
	shop := p.folder(p.repository("home/sam/shop"))
	_, _, err := Make(t.Context(), h, shop, Wish{})
	require.NoError(t, err)
	var r *Refusal
	h.rooms[0].Archived = true
	if _, _, err := Make(t.Context(), h, shop, Wish{}); !errors.As(err, &r) || !strings.Contains(r.Fix, "room unarchive r_1") {
		t.Errorf("the room: %v", err)
	}
	h.rooms[0].Bindings = nil
	if _, _, err := Make(t.Context(), h, shop, Wish{}); !errors.As(err, &r) || !strings.Contains(r.Fix, "room unarchive r_1") {
		t.Errorf("the room of the name: %v", err)
	}
	h.projects[0].Archived = true
	if _, _, err := Make(t.Context(), h, shop, Wish{}); !errors.As(err, &r) || !strings.Contains(r.Fix, "project unarchive shop") {
		t.Errorf("the project: %v", err)
	}
}

// However many make the room of one repository at once, there is one.
func TestManyMakeOneRoom(t *testing.T) {
	p, h := newPlace(t), &fake{}
	shop := p.folder(p.repository("home/sam/shop"))
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			plan, _, err := Make(context.Background(), h, shop, Wish{By: hub.AgentID(fmt.Sprint("a", i)), Auto: true})
			if err != nil || plan.Room == nil || plan.Room.RoomID != "r_1" {
				t.Errorf("agent %d: %+v, %v", i, plan, err)
			}
		})
	}
	all.Wait()
	if len(h.projects) != 1 || len(h.rooms) != 1 || len(h.rooms[0].Bindings) != 1 {
		t.Errorf("%+v, %+v", h.projects, h.rooms)
	}
}

// Two repositories of one name, each at any step of the other: they never share a room.
func TestTwoRepositoriesOfOneName(t *testing.T) {
	p := newPlace(t)
	one, two := p.folder(p.repository("a/shop")), p.folder(p.repository("b/shop"))
	at := 0
	for {
		at++
		h, n, within, interrupted := &fake{}, 0, false, false
		h.before = func(string) {
			if within {
				return
			}
			if n++; n == at {
				within, interrupted = true, true
				defer func() { within = false }()
				if _, _, err := Make(t.Context(), h, two, Wish{}); err != nil {
					t.Errorf("the second, before call %d: %v", at, err)
				}
			}
		}
		plan, _, err := Make(t.Context(), h, one, Wish{})
		h.before = nil
		if !interrupted { // the first had made fewer calls
			break
		}
		got, resolveErr := h.Resolve(t.Context(), two.Top)
		if err != nil || resolveErr != nil || !got.Bound || plan.Room == nil || *got.RoomID == plan.Room.RoomID {
			t.Errorf("before call %d: %+v and %+v, %v", at, plan.Room, got.Room, err)
		}
		for _, r := range h.rooms {
			if len(r.Bindings) > 1 {
				t.Errorf("before call %d: both are bound to %+v", at, r)
			}
		}
	}
	if at < 5 {
		t.Errorf("only %d calls were interrupted", at-1)
	}
}
