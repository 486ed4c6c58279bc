package actors

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/integrations/folders"
	"hubcli/internal/require"
)

func withFolders(f Folders) func(*Options) { return func(o *Options) { o.Folders = f } }

func (r *rig) resolved(path string) hub.RoomID {
	r.t.Helper()
	got, err := r.Resolve(r.t.Context(), path)
	if err != nil {
		r.t.Fatalf("resolve %s: %v", path, err)
	}
	if !got.Bound {
		if got.RoomID != nil || got.Room != nil || got.Project != nil || got.BoundPath != nil {
			r.t.Fatalf("resolve %s: not bound, and yet %+v", path, got)
		}
		return ""
	}
	if got.Room.RoomID != *got.RoomID || got.Project.ProjectID != got.Room.ProjectID || *got.BoundPath == "" {
		r.t.Fatalf("resolve %s: %+v", path, got)
	}
	return *got.RoomID
}

// Bindings hold on real folders, by every way to them, and survive a loss of
// power and the folder itself.
func TestBindings(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	deep := filepath.Join(dir, "work", "deep")
	require.NoError(t, os.MkdirAll(deep, 0o755))
	link := filepath.Join(dir, "link")
	if err := os.Symlink(filepath.Join(dir, "work"), link); err != nil {
		t.Skipf("needs symbolic links: %v", err)
	}
	r := start(t, newMemStore(), withFolders(folders.New()))
	room, other := r.newRoom("Front"), r.newRoom("Back")
	bind := func(id hub.RoomID, path string) (hub.Outcome[hub.Room], error) {
		return r.BindRoom(t.Context(), id, hub.BindingInput{Path: path, AgentID: "ann"})
	}
	if out, err := bind(room.RoomID, link+"/"); err != nil || !out.Created || len(out.Row.Bindings) != 1 || out.Row.Bindings[0] != link {
		t.Fatalf("bind: %+v, %v", out, err)
	}
	if out, err := bind(room.RoomID, filepath.Join(dir, "work")); err != nil || out.Created {
		t.Errorf("bind again by the real path: %+v, %v", out, err)
	}
	_, err = bind(other.RoomID, filepath.Join(dir, "work"))
	wantCode(t, err, hub.CodeAlreadyBound)
	_, err = bind(other.RoomID, filepath.Join(dir, "none"))
	wantCode(t, err, hub.CodePathNotFound)
	_, err = bind("r_none", dir)
	wantCode(t, err, hub.CodeRoomNotFound)
	if out, err := bind(other.RoomID, deep); err != nil || !out.Created {
		t.Errorf("bind a folder below: %+v, %v", out, err)
	}
	check := func(r *rig, when string) {
		t.Helper()
		for path, want := range map[string]hub.RoomID{
			filepath.Join(dir, "work"): room.RoomID, link: room.RoomID, filepath.Join(dir, "work", "new", "x"): room.RoomID,
			deep: other.RoomID, filepath.Join(link, "deep", "y"): other.RoomID, dir: "", "/": "",
		} {
			if got := r.resolved(path); got != want {
				t.Errorf("%s: %s is of %q, want %q", when, path, got, want)
			}
		}
	}
	check(r, "live")
	again := start(t, r.crash(), withFolders(folders.New()))
	check(again, "after a loss of power")
	require.NoError(t, os.RemoveAll(deep))
	if out, err := again.UnbindRoom(t.Context(), other.RoomID, hub.BindingInput{Path: deep}); err != nil || len(out.Row.Bindings) != 0 {
		t.Errorf("unbind what no longer exists: %+v, %v", out, err)
	}
	_, err = again.UnbindRoom(t.Context(), other.RoomID, hub.BindingInput{Path: deep})
	wantCode(t, err, hub.CodeNotBound)
	if out, err := again.UnbindRoom(t.Context(), room.RoomID, hub.BindingInput{Path: filepath.Join(dir, "work")}); err != nil || len(out.Row.Bindings) != 0 {
		t.Errorf("unbind by the real path: %+v, %v", out, err)
	}
	if got := again.resolved(link); got != "" {
		t.Errorf("unbound, and still of %s", got)
	}
}

// caseless is a file system that takes names of different case for one, as those
// of other machines do: what it answers is what this one answers of the names in
// lower case.
type caseless struct{ Folders }

func (c caseless) Chain(_ context.Context, path string, _ bool) ([]core.Level, error) {
	var levels []core.Level
	for ; filepath.Dir(path) != path; path = filepath.Dir(path) {
		levels = append(levels, core.Level{Plain: path})
	}
	return append(levels, core.Level{Plain: path}), nil
}

func (caseless) Same(_ context.Context, a, b string) (bool, error) {
	return strings.EqualFold(a, b), nil
}

// A folder is one folder however its name is spelled, if its file system says so.
func TestBindingsWhereCaseDoesNotCount(t *testing.T) {
	r := start(t, newMemStore(), withFolders(caseless{}))
	room, other := r.newRoom("Front"), r.newRoom("Back")
	bind := func(id hub.RoomID, path string) (hub.Outcome[hub.Room], error) {
		return r.BindRoom(t.Context(), id, hub.BindingInput{Path: path})
	}
	if _, err := bind(room.RoomID, "/Users/Ann/Work"); err != nil {
		t.Fatal(err)
	}
	if got := r.resolved("/users/ann/work/x"); got != room.RoomID {
		t.Errorf("in another spelling it is of %q", got)
	}
	if out, err := bind(room.RoomID, "/users/ann/WORK"); err != nil || out.Created {
		t.Errorf("bind again in another spelling: %+v, %v", out, err)
	}
	_, err := bind(other.RoomID, "/users/ann/work")
	wantCode(t, err, hub.CodeAlreadyBound)
	if out, err := r.UnbindRoom(t.Context(), room.RoomID, hub.BindingInput{Path: "/USERS/ANN/WORK"}); err != nil || len(out.Row.Bindings) != 0 {
		t.Errorf("unbind in another spelling: %+v, %v", out, err)
	}
}

// Commands that bind one folder in several spellings at once bind it to one room:
// each looks at what was bound before it, however late that came.
func TestBindingsMadeAtOnce(t *testing.T) {
	store := newMemStore()
	store.delay = randomDelay(3, time.Millisecond)
	r := start(t, store, withFolders(caseless{}))
	rooms := []hub.Room{r.newRoom("Front"), r.newRoom("Back"), r.newRoom("Attic")}
	for i := range 40 {
		var bound atomic.Int32
		var wg sync.WaitGroup
		for j, name := range []string{"foo", "Foo", "FOO"} {
			wg.Go(func() {
				switch _, err := r.BindRoom(t.Context(), rooms[j].RoomID, hub.BindingInput{Path: fmt.Sprint("/", name, i)}); {
				case err == nil:
					bound.Add(1)
				case !errors.Is(err, &hub.Error{Code: hub.CodeAlreadyBound}):
					t.Errorf("bind %s%d: %v", name, i, err)
				}
			})
		}
		wg.Wait()
		if n := bound.Load(); n != 1 {
			t.Errorf("folder %d is bound to %d rooms", i, n)
		}
	}
}

// hung is a file system that does not answer.
type hung struct{ Folders }

func (hung) Chain(context.Context, string, bool) ([]core.Level, error) {
	return nil, hub.NewError(hub.CodeTimedOut, "it hangs").WithRetryAfter(1)
}

// A folder whose disk hangs can still be unbound by its text; a caller on another
// machine names no paths here; and a hub without folders says so.
func TestBindingsThatCannotBeLookedAt(t *testing.T) {
	r := start(t, newMemStore(), withFolders(caseless{}))
	room := r.newRoom("Front")
	if _, err := r.BindRoom(t.Context(), room.RoomID, hub.BindingInput{Path: "/mnt/share"}); err != nil {
		t.Fatal(err)
	}
	again := start(t, r.crash(), withFolders(hung{}))
	_, err := again.Resolve(t.Context(), "/mnt/share")
	wantCode(t, err, hub.CodeTimedOut)
	_, err = again.BindRoom(t.Context(), room.RoomID, hub.BindingInput{Path: "/mnt/share"})
	wantCode(t, err, hub.CodeTimedOut)
	if out, err := again.UnbindRoom(t.Context(), room.RoomID, hub.BindingInput{Path: "/mnt/share"}); err != nil || len(out.Row.Bindings) != 0 {
		t.Errorf("unbind: %+v, %v", out, err)
	}
	remote := hub.WithCaller(t.Context(), &hub.Caller{Remote: true})
	_, err = again.Resolve(remote, "/")
	wantCode(t, err, hub.CodeInvalid)
	_, err = again.BindRoom(remote, room.RoomID, hub.BindingInput{Path: "/"})
	wantCode(t, err, hub.CodeInvalid)
	_, err = again.UnbindRoom(remote, room.RoomID, hub.BindingInput{Path: "/"})
	wantCode(t, err, hub.CodeInvalid)
	none := start(t, newMemStore())
	_, err = none.Resolve(t.Context(), "/")
	if e := new(hub.Error); !errors.As(err, &e) || e.Code != hub.CodePathNotFound || e.Fix == "" {
		t.Errorf("a hub without folders: %v", err)
	}
}

// Where case counts, two folders whose names differ in it alone are two.
func TestSpellingsAreAskedFor(t *testing.T) {
	dir := t.TempDir()
	upper, lower := filepath.Join(dir, "Work"), filepath.Join(dir, "work")
	require.NoError(t, os.Mkdir(upper, 0o755))
	if err := os.Mkdir(lower, 0o755); err != nil {
		t.Skipf("needs a file system on which case counts: %v", err)
	}
	r := start(t, newMemStore(), withFolders(folders.New()))
	room, other := r.newRoom("Front"), r.newRoom("Back")
	bind := func(id hub.RoomID, path string) {
		t.Helper()
		if out, err := r.BindRoom(t.Context(), id, hub.BindingInput{Path: path}); err != nil || !out.Created {
			t.Fatalf("bind %s: %+v, %v", path, out, err)
		}
	}
	bind(room.RoomID, upper)
	if got := r.resolved(lower); got != "" {
		t.Errorf("the other folder is of %s", got)
	}
	_, err := r.UnbindRoom(t.Context(), room.RoomID, hub.BindingInput{Path: lower})
	wantCode(t, err, hub.CodeNotBound)
	bind(other.RoomID, lower)
	if a, b := r.resolved(upper), r.resolved(lower); a != room.RoomID || b != other.RoomID {
		t.Errorf("%s and %s", a, b)
	}
}

// A folder that a program binds by itself is told of in its room, by the hub and once; a hub whose
// operator rules that out refuses it.
func TestBoundByItself(t *testing.T) {
	dir := t.TempDir()
	r := start(t, newMemStore(), withFolders(folders.New()))
	room := r.newRoom("Front")
	in := hub.BindingInput{Path: dir, AgentID: "ann", Auto: true}
	_, err := r.BindRoom(t.Context(), room.RoomID, in)
	wantCode(t, err, hub.CodeOperatorRequired)
	if info, err := r.Info(t.Context()); err != nil || slices.Contains(info.Features, hub.FeatureAutoRooms) {
		t.Errorf("features %v, %v", info.Features, err)
	}
	store := r.crash()
	r = start(t, store, withFolders(folders.New()), func(o *Options) { o.AutoRooms = true })
	if info, err := r.Info(t.Context()); err != nil || !slices.Contains(info.Features, hub.FeatureAutoRooms) {
		t.Errorf("features %v, %v", info.Features, err)
	}
	for i := range 2 {
		if out, err := r.BindRoom(t.Context(), room.RoomID, in); err != nil || out.Created != (i == 0) {
			t.Fatalf("bound %d: %+v, %v", i, out, err)
		}
	}
	told := func(r *rig) (rows []hub.Message) {
		for _, m := range r.public() {
			if m.Channel == room.Channel && m.FromAgent == hub.AgentSystem && strings.Contains(m.Body, "ann needed a room") && !strings.Contains(m.Body, dir) {
				rows = append(rows, m)
			}
		}
		return rows
	}
	if rows := told(r); len(rows) != 1 || rows[0].Kind != hub.KindNotice {
		t.Errorf("the room is told %+v", rows)
	}
	r = start(t, r.crash(), withFolders(folders.New()))
	if rows := told(r); len(rows) != 1 || r.resolved(dir) != room.RoomID {
		t.Errorf("after a restart: %+v", rows)
	}
}
