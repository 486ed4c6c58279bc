package core_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/require"
)

// projectRig plays the owner and the sequencer around the state of projects, with
// a replica that is fed with what the journal gives back, and a project index that is
// fed with the rows as the view is.
type projectRig struct {
	t             failer
	live, replica *core.Projects
	view          *core.ProjectIndex
	now           core.Now
	seq           hub.Seq
}

func newProjectRig(t failer) *projectRig {
	return &projectRig{
		t: t, live: core.NewProjects(), replica: core.NewProjects(), view: core.NewProjectIndex(),
		now: core.Now{HubMS: 1000, Wall: hub.TimeOf(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC))},
	}
}

func (r *projectRig) commit(d core.Draft) core.Position {
	r.t.Helper()
	if d.Empty() {
		return core.Position{}
	}
	r.now.HubMS += 1000
	r.now.Wall += 1000
	r.seq++
	at := core.Position{Seq: r.seq, Now: r.now, FirstMessage: 1, FirstFence: 1}
	for _, f := range d.Facts {
		r.live.Apply(f, at, r.show)
		r.replica.Apply(throughJournal(r.t, f), at, nil)
	}
	if live, replayed := r.live.Snapshot(), r.replica.Snapshot(); !bytes.Equal(live, replayed) {
		r.t.Fatalf("live and replayed state differ:\n%s\n%s", live, replayed)
	}
	return at
}

// show takes a row as the view does.
func (r *projectRig) show(row core.Row) {
	switch row.Table {
	case core.TableProject:
		p, err := core.DecodeProject(row.Value)
		if err != nil || string(row.Key) != string(p.ProjectID) {
			r.t.Fatalf("row %q: %+v, %v", row.Key, p, err)
		}
		r.view.PutProject(p)
	case core.TableRoom:
		s, err := core.DecodeRoom(row.Value)
		if err != nil || string(row.Key) != string(s.Room.RoomID) {
			r.t.Fatalf("row %q: %+v, %v", row.Key, s, err)
		}
		r.view.PutRoom(s)
	default:
		r.t.Fatalf("a row of table %d", row.Table)
	}
}

// restart takes the state through a checkpoint.
func (r *projectRig) restart() {
	r.t.Helper()
	restored, err := core.RestoreProjects(core.ProjectsVersion, r.live.Snapshot())
	if err != nil {
		r.t.Fatalf("restore: %v", err)
	}
	if was, is := r.live.Snapshot(), restored.Snapshot(); !bytes.Equal(was, is) {
		r.t.Fatalf("restored state differs:\n%s\n%s", was, is)
	}
	r.replica, r.live = r.live, restored
}

func (r *projectRig) project(in hub.ProjectInput) (hub.Project, error) {
	d, err := r.live.Create(in, core.StandingProved)
	if err != nil {
		return hub.Project{}, err
	}
	return d.Answer(r.commit(d.Draft)), nil
}

func (r *projectRig) room(in hub.RoomInput) (hub.Room, error) {
	d, err := r.live.CreateRoom(in, core.StandingProved)
	if err != nil {
		return hub.Room{}, err
	}
	return d.Answer(r.commit(d.Draft)), nil
}

func TestSlugs(t *testing.T) {
	r := newProjectRig(t)
	for _, c := range []struct{ name, slug string }{
		{"Web Shop", "web-shop"},
		{"Ünïcode Größe", "unicode-grosse"},
		{"cafe\u0301 crème", "cafe-creme"},
		{"Don't panic", "dont-panic"},
		{"  a --  b__c ", "a-b-c"},
		{"日本語", "project"},
		{"!!!", "project-2"},
		{"web/shop", "web-shop-2"},
		{"ﬁle №1", "file-no1"},
		{strings.Repeat("x", 70), strings.Repeat("x", 64)},
		{strings.Repeat("x", 71), strings.Repeat("x", 62) + "-2"},
		{strings.Repeat("x", 61) + " yz", strings.Repeat("x", 61) + "-yz"},
		{strings.Repeat("x", 61) + " yza", strings.Repeat("x", 61) + "-2"},
	} {
		p, err := r.project(hub.ProjectInput{Name: c.name})
		if err != nil || p.Slug != c.slug || hub.CheckSlug("slug", p.Slug) != nil {
			t.Errorf("%q has the slug %q, %v; want %q", c.name, p.Slug, err, c.slug)
		}
	}
}

// TestProjectProperties makes random projects and rooms: slugs and names stay
// unique, every reference finds what it names, in the state as in the view, and
// the state survives journal and checkpoint.
func TestProjectProperties(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := newProjectRig(rt)
		name := rapid.SampledFrom([]string{"a", "A", "á", "b b", "b-b", "B B", "c_1", "p_1", "r_2", "日本", "?", "a b c"})
		slug := rapid.SampledFrom([]string{"", "", "a", "b-b", "b-b-2"})
		rt.Repeat(map[string]func(*rapid.T){
			"project": func(rt *rapid.T) {
				in := hub.ProjectInput{Name: name.Draw(rt, "name"), Slug: slug.Draw(rt, "slug")}
				got, err := r.project(in)
				ofID := errors.Is(err, &hub.Error{Code: hub.CodeInvalid}) && in.Name == "p_1"
				if err != nil && !errors.Is(err, &hub.Error{Code: hub.CodeProjectExists}) && !ofID {
					rt.Fatalf("%+v: %v", in, err)
				}
				if err == nil && (got.Name != in.Name || in.Slug != "" && got.Slug != in.Slug) {
					rt.Fatalf("%+v made %+v", in, got)
				}
			},
			"room": func(rt *rapid.T) {
				in := hub.RoomInput{Project: name.Draw(rt, "project"), Name: name.Draw(rt, "name"), Force: rapid.Bool().Draw(rt, "force"), ForceReason: "why"}
				_, err := r.room(in)
				if err != nil && (in.Force && errors.Is(err, &hub.Error{Code: hub.CodeSimilarRoomExists}) || errors.Is(err, &hub.Error{Code: hub.CodeInternal})) {
					rt.Fatalf("%+v: %v", in, err)
				}
			},
			"restart": func(*rapid.T) { r.restart() },
			"":        func(rt *rapid.T) { r.checkPlaces(rt) },
		})
	})
}

func (r *projectRig) checkPlaces(rt *rapid.T) {
	names, slugs := map[string]bool{}, map[string]bool{}
	for _, p := range r.live.ProjectIndex().Projects() {
		if slugs[p.Slug] || names[strings.ToLower(p.Name)] || hub.CheckSlug("slug", p.Slug) != nil {
			rt.Fatalf("two projects are like %+v, or its slug is none", p)
		}
		slugs[p.Slug], names[strings.ToLower(p.Name)] = true, true
		for _, a := range []*core.ProjectIndex{r.live.ProjectIndex(), r.view} {
			for _, ref := range []string{string(p.ProjectID), p.Slug} {
				if got, err := a.FindProject(ref); err != nil || got != p {
					rt.Fatalf("%q finds %+v, %v; want %+v", ref, got, err, p)
				}
			}
			for _, name := range []string{p.Name, strings.ToUpper(p.Name)} {
				if got, err := a.FindProject(name); err != nil || got != p {
					rt.Fatalf("%q finds %+v, %v; want %+v", name, got, err, p)
				}
			}
		}
		taken := map[string]bool{}
		for _, room := range r.live.ProjectIndex().Rooms(p.ProjectID) {
			if taken[room.Slug] || room.ProjectID != p.ProjectID || hub.CheckSlug("slug", room.Slug) != nil {
				rt.Fatalf("two rooms of %s have the slug %s, or it is none", p.Slug, room.Slug)
			}
			taken[room.Slug] = true
			for _, ref := range []hub.RoomRef{
				{Room: string(room.RoomID)},
				{Project: p.Slug, Room: string(room.RoomID)},
				{Project: string(p.ProjectID), Room: room.Slug},
			} {
				if got, err := r.view.FindRoom(ref); err != nil || got.Room.RoomID != room.RoomID {
					rt.Fatalf("%+v finds %+v, %v; want %s", ref, got, err, room.RoomID)
				}
			}
		}
	}
	if live, view := len(r.live.ProjectIndex().Rooms("")), r.view.Len(); live != view {
		rt.Fatalf("%d rooms in the state, %d in the view", live, view)
	}
}

// A checkpoint that is not what Snapshot wrote is refused, not half restored.
func TestProjectsRefuseWhatTheyCannotRestore(t *testing.T) {
	const p = `{"project_id":"p_1","slug":"a","name":"A","created_at":"2030-01-01T00:00:00.000Z"}`
	for name, data := range map[string]string{
		"no JSON":         `{`,
		"twice":           `{"projects":[` + p + `,` + p + `]}`,
		"no id":           `{"projects":[{"slug":"a"}]}`,
		"slug twice":      `{"projects":[` + p + `,` + strings.Replace(p, "p_1", "p_2", 1) + `]}`,
		"no project":      `{"projects":[],"rooms":[{"room":{"room_id":"r_1","project_id":"p_1"}}]}`,
		"room twice":      `{"projects":[` + p + `],"rooms":[{"room":{"room_id":"r_2","project_id":"p_1"}},{"room":{"room_id":"r_2","project_id":"p_1"}}]}`,
		"room without id": `{"projects":[` + p + `],"rooms":[{"room":{"project_id":"p_1"}}]}`,
	} {
		if _, err := core.RestoreProjects(core.ProjectsVersion, []byte(data)); err == nil {
			t.Errorf("%s was restored", name)
		}
	}
	if _, err := core.RestoreProjects(core.ProjectsVersion+1, []byte(`{}`)); err == nil {
		t.Error("a later version was restored")
	}
}

// TestLocksOfARoom: what a room wants of locks survives a restart. A room that is older
// than the setting warns.
func TestLocksOfARoom(t *testing.T) {
	r := newProjectRig(t)
	project, err := r.live.Create(hub.ProjectInput{Name: "Shop"}, core.StandingProved)
	require.NoError(t, err)
	id := project.Answer(r.commit(project.Draft)).ProjectID
	made, err := r.live.CreateRoom(hub.RoomInput{Project: string(id), Name: "Till"}, core.StandingProved)
	require.NoError(t, err)
	room := made.Answer(r.commit(made.Draft))
	if room.Locks != hub.LocksWarn {
		t.Errorf("a new room has the policy %q", room.Locks)
	}
	for i := range 2 { // the second time nothing changes
		d, err := r.live.SetLocks(room.RoomID, hub.LockPolicyInput{Locks: hub.LocksRefuse}, core.RoomKeeper{Operator: true})
		if err != nil || d.Empty() != (i == 1) || d.Answer(r.commit(d.Draft)).Locks != hub.LocksRefuse {
			t.Errorf("try %d: %+v, %v", i+1, d.Draft, err)
		}
	}
	r.restart()
	if got, _ := r.live.ProjectIndex().Room(room.RoomID); got.Room.Locks != hub.LocksRefuse {
		t.Errorf("after a restart the policy is %q", got.Room.Locks)
	}
	if _, err := r.live.SetLocks("r_zz", hub.LockPolicyInput{Locks: hub.LocksWarn}, core.RoomKeeper{Operator: true}); !errors.Is(err, &hub.Error{Code: hub.CodeRoomNotFound}) {
		t.Errorf("of no room: %v", err)
	}
	room.Locks = ""
	old := core.NewProjectIndex()
	old.PutProject(hub.Project{ProjectID: id, Slug: "shop"})
	old.PutRoom(core.StoredRoom{Room: room})
	if got, _ := old.Room(room.RoomID); got.Room.Locks != hub.LocksWarn {
		t.Errorf("an old room has the policy %q", got.Room.Locks)
	}
}
