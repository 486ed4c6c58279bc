package core_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/require"
)

func (r *projectRig) bind(room hub.RoomID, l core.Level, same ...string) (core.BindAnswer, error) {
	r.t.Helper()
	c := core.BindCommand{Room: room, Path: l.Plain, Level: l, Seen: map[string]bool{}, By: "ann"}
	d, err := r.live.Bind(c)
	if met := new(core.BindingsUnseen); errors.As(err, &met) {
		for _, plain := range met.Plain {
			c.Seen[plain] = slices.Contains(same, plain)
		}
		d, err = r.live.Bind(c)
	}
	if err != nil {
		return core.BindAnswer{}, err
	}
	return d.Answer(r.commit(d.Draft)), nil
}

func (r *projectRig) unbind(room hub.RoomID, path string, plain ...string) (hub.Room, error) {
	r.t.Helper()
	d, err := r.live.Unbind(core.UnbindCommand{Room: room, Path: path, Plain: plain})
	if err != nil {
		return hub.Room{}, err
	}
	return d.Answer(r.commit(d.Draft)), nil
}

// rooms makes a project with n rooms that look unlike each other.
func (r *projectRig) rooms(n int) []hub.RoomID {
	r.t.Helper()
	if _, err := r.project(hub.ProjectInput{Name: "P"}); err != nil {
		r.t.Fatalf("project: %v", err)
	}
	ids := make([]hub.RoomID, n)
	for i := range ids {
		room, err := r.room(hub.RoomInput{Project: "p", Name: fmt.Sprint("room ", i), Force: true, ForceReason: "test"})
		if err != nil {
			r.t.Fatalf("room: %v", err)
		}
		ids[i] = room.RoomID
	}
	return ids
}

func level(plain string) core.Level { return core.Level{Plain: plain} }

func tree(root, rel string) core.Level {
	plain := root
	if rel != "." {
		plain += "/" + rel
	}
	return core.Level{Plain: plain, Root: root, Common: "/repo/.git", Rel: rel}
}

// The nearest binding wins; at one level the folder's own path comes before its
// place in a work tree; what only looks alike has to be asked for.
func TestCandidates(t *testing.T) {
	r := newProjectRig(t)
	id := r.rooms(4)
	must := func(room hub.RoomID, l core.Level) {
		t.Helper()
		if a, err := r.bind(room, l); err != nil || !a.Bound {
			t.Fatalf("bind %+v: %+v, %v", l, a, err)
		}
	}
	must(id[0], level("/"))
	must(id[1], tree("/repo", "."))
	must(id[2], tree("/repo", "pkg"))
	must(id[3], tree("/linked", "pkg"))
	must(id[3], level("/home/Ann"))
	rest := []core.Level{level("/")}
	for name, c := range map[string]struct {
		levels []core.Level
		want   string
	}{
		"the root":               {rest, "room0"},
		"exactly":                {append([]core.Level{tree("/repo", "."), level("/")}, rest...), "room1"},
		"below":                  {append([]core.Level{tree("/repo", "doc"), tree("/repo", ".")}, rest...), "room1"},
		"deeper wins":            {append([]core.Level{tree("/repo", "pkg/x"), tree("/repo", "pkg"), tree("/repo", ".")}, rest...), "room2"},
		"shared":                 {append([]core.Level{tree("/third", "pkg"), tree("/third", ".")}, rest...), "room2"},
		"shared root":            {append([]core.Level{tree("/third", "x"), tree("/third", ".")}, rest...), "room1"},
		"own path before shared": {append([]core.Level{tree("/linked", "pkg"), tree("/linked", ".")}, rest...), "room3"},
		"another repository":     {append([]core.Level{{Plain: "/o/pkg", Root: "/o", Common: "/o/.git", Rel: "pkg"}}, rest...), "room0"},
		"another case":           {append([]core.Level{level("/HOME/ann")}, rest...), "room3 if /home/Ann=/HOME/ann, room0"},
		"case in a work tree":    {append([]core.Level{tree("/third", "PKG")}, rest...), "room2 if /repo/.git=/repo/.git /third/pkg=/third/PKG, room3 if /repo/.git=/repo/.git /third/pkg=/third/PKG, room0"},
	} {
		got := ""
		for _, found := range r.view.Candidates(c.levels) {
			if got != "" {
				got += ", "
			}
			for i := range id {
				if found.Room == id[i] {
					got += fmt.Sprint("room", i)
				}
			}
			for i, pair := range found.Same {
				if i == 0 {
					got += " if"
				}
				got += " " + pair[0] + "=" + pair[1]
			}
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	if got := core.NewProjectIndex().Candidates(rest); len(got) != 0 {
		t.Errorf("nothing is bound, found %+v", got)
	}
}

func TestBindAndUnbind(t *testing.T) {
	r := newProjectRig(t)
	id := r.rooms(2)
	if a, err := r.bind(id[0], level("/b")); err != nil || !a.Bound || fmt.Sprint(a.Room.Bindings) != "[/b]" {
		t.Fatalf("%+v, %v", a, err)
	}
	if a, err := r.bind(id[0], level("/a")); err != nil || fmt.Sprint(a.Room.Bindings) != "[/a /b]" {
		t.Fatalf("%+v, %v", a, err)
	}
	seq := r.seq
	if a, err := r.bind(id[0], level("/b")); err != nil || a.Bound || r.seq != seq || len(a.Room.Bindings) != 2 {
		t.Errorf("again: %+v, %v", a, err)
	}
	if a, err := r.bind(id[0], level("/B"), "/b"); err != nil || a.Bound || r.seq != seq {
		t.Errorf("again in another spelling: %+v, %v", a, err)
	}
	_, err := r.bind(id[1], level("/b"))
	var e *hub.Error
	if !errors.As(err, &e) || e.Code != hub.CodeAlreadyBound || e.Detail["room"].(hub.Room).RoomID != id[0] || e.Fix == "" {
		t.Errorf("bound to another room: %v", err)
	}
	if _, err := r.bind(id[1], level("/B"), "/b"); !errors.Is(err, &hub.Error{Code: hub.CodeAlreadyBound}) {
		t.Errorf("bound to another room in another spelling: %v", err)
	}
	if a, err := r.bind(id[1], level("/B")); err != nil || !a.Bound {
		t.Errorf("another folder that is spelled alike: %+v, %v", a, err)
	}
	if _, err := r.unbind(id[1], "/b"); !errors.Is(err, &hub.Error{Code: hub.CodeNotBound}) {
		t.Errorf("unbound from a room that it is not bound to: %v", err)
	}
	if room, err := r.unbind(id[0], "/link", "/b"); err != nil || fmt.Sprint(room.Bindings) != "[/a]" {
		t.Errorf("unbound by the plain path: %+v, %v", room, err)
	}
	if room, err := r.unbind(id[0], "/a"); err != nil || len(room.Bindings) != 0 || room.Bindings == nil {
		t.Errorf("unbound by the text: %+v, %v", room, err)
	}
	if _, err := r.bind("r_none", level("/x")); !errors.Is(err, &hub.Error{Code: hub.CodeRoomNotFound}) {
		t.Errorf("bound to no room: %v", err)
	}
	if _, err := r.unbind("r_none", "/x"); !errors.Is(err, &hub.Error{Code: hub.CodeRoomNotFound}) {
		t.Errorf("unbound from no room: %v", err)
	}
	for i := range hub.MaxRoomBindings {
		if _, err := r.bind(id[0], level(fmt.Sprint("/many/", i))); err != nil {
			t.Fatalf("folder %d: %v", i, err)
		}
	}
	if _, err := r.bind(id[0], level("/more")); !errors.Is(err, &hub.Error{Code: hub.CodeLimitReached}) {
		t.Errorf("one folder more than there may be: %v", err)
	}
}

// A link that was bound and then led elsewhere: one command takes back one binding,
// that of the folder which the path names now before those of its text, the latest
// of which comes first.
func TestUnbindTakesOneBinding(t *testing.T) {
	r := newProjectRig(t)
	id := r.rooms(1)[0]
	for _, plain := range []string{"/a", "/b", "/c"} {
		d, err := r.live.Bind(core.BindCommand{Room: id, Path: "/way", Level: level(plain)})
		require.NoError(t, err)
		r.commit(d.Draft)
	}
	for _, want := range []struct{ now, gone string }{{"/a", "/a"}, {"/elsewhere", "/c"}, {"", "/b"}} {
		var plain []string
		if want.now != "" {
			plain = []string{want.now}
		}
		d, err := r.live.Unbind(core.UnbindCommand{Room: id, Path: "/way", Plain: plain})
		if err != nil || len(d.Draft.Facts) != 1 {
			t.Fatalf("%+v, %v", d, err)
		}
		if f := d.Draft.Facts[0].(*core.RoomUnbound); fmt.Sprint(f.Plain) != "["+want.gone+"]" {
			t.Errorf("the link leads to %q: unbound %v, want %s", want.now, f.Plain, want.gone)
		}
		r.commit(d.Draft)
	}
	if _, err := r.unbind(id, "/way"); !errors.Is(err, &hub.Error{Code: hub.CodeNotBound}) {
		t.Errorf("a fourth time: %v", err)
	}
}

// TestBindingProperties binds and unbinds at random. What a list of all bindings
// says by itself, the atlases must say: of the state, of the view and after a
// checkpoint.
func TestBindingProperties(t *testing.T) {
	type bound struct {
		room hub.RoomID
		l    core.Level
	}
	rapid.Check(t, func(rt *rapid.T) {
		r := newProjectRig(rt)
		id := r.rooms(3)
		var all []bound // in the order in which they were bound
		folder := rapid.SampledFrom([]core.Level{
			level("/"), level("/x"), level("/X"), level("/x/y"), tree("/one", "."), tree("/two", "."), tree("/one", "a"), tree("/two", "a"), tree("/two", "A"),
		})
		holder := func(match func(core.Level) bool) (hub.RoomID, bool) {
			for _, b := range all {
				if match(b.l) {
					return b.room, true
				}
			}
			return "", false
		}
		rt.Repeat(map[string]func(*rapid.T){
			"bind": func(rt *rapid.T) {
				room, l := rapid.SampledFrom(id).Draw(rt, "room"), folder.Draw(rt, "folder")
				was, taken := holder(func(b core.Level) bool { return b.Plain == l.Plain })
				a, err := r.bind(room, l)
				if (err != nil) != (taken && was != room) || err == nil && a.Bound == taken {
					rt.Fatalf("bind %s to %s: %+v, %v; it was %q", l.Plain, room, a, err, was)
				}
				if err == nil && a.Bound {
					all = append(all, bound{room, l})
				}
			},
			"unbind": func(rt *rapid.T) {
				room, l := rapid.SampledFrom(id).Draw(rt, "room"), folder.Draw(rt, "folder")
				was, taken := holder(func(b core.Level) bool { return b.Plain == l.Plain })
				_, err := r.unbind(room, "", l.Plain)
				if (err == nil) != (taken && was == room) {
					rt.Fatalf("unbind %s from %s: %v; it was %q", l.Plain, room, err, was)
				}
				if err == nil {
					var left []bound
					for _, b := range all {
						if b.l.Plain != l.Plain {
							left = append(left, b)
						}
					}
					all = left
				}
			},
			"restart": func(*rapid.T) { r.restart() },
			"": func(rt *rapid.T) {
				l := folder.Draw(rt, "folder")
				want, found := holder(func(b core.Level) bool { return b.Plain == l.Plain })
				if !found && l.Common != "" {
					want, _ = holder(func(b core.Level) bool { return b.Common == l.Common && b.Rel == l.Rel })
				}
				for _, a := range []*core.ProjectIndex{r.live.ProjectIndex(), r.view} {
					got := hub.RoomID("")
					for _, c := range a.Candidates([]core.Level{l}) {
						if len(c.Same) == 0 { // case counts on this file system
							got = c.Room
						}
					}
					if got != want {
						rt.Fatalf("%+v is found in %q, want %q; bound are %+v", l, got, want, all)
					}
				}
			},
		})
	})
}
