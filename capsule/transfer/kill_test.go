package transfer_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"hubcli/capsule"
	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
	"hubcli/supervisor"
)

// killsVariable says how many exports TestKilledExports kills; childVariable is the folder of
// the process that it kills.
const (
	killsVariable = "HUBCLI_TEST_KILLS"
	childVariable = "HUBCLI_TEST_EXPORT_FOLDER"
)

// announced is what the child says of a plan before it confirms it, and when it is done.
type announced struct {
	Target string
	Bundle bool
	Files  int64
	Size   int64
	Done   bool
}

// killRig is a rig on a store of its own.
func killRig(t *testing.T, base string) *rig {
	t.Helper()
	h := testhub.Start(t, testhub.Dir(filepath.Join(base, "store")), testhub.With(func(c *supervisor.Config) { c.WithoutSearch = true }))
	return &rig{Hub: h, Capsules: h.Capsules().Exports, ctx: hub.WithCaller(context.Background(), &hub.Caller{Operator: true}), out: filepath.Join(base, "out")}
}

// fillForKills makes a project that takes some steps to write, and binds a work tree to it.
func fillForKills(t *testing.T, base string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Join(base, "out"), 0o700))
	r := killRig(t, base)
	p, err := r.Hub.Hub.CreateProject(r.ctx, hub.ProjectInput{Name: "Shop"})
	require.NoError(t, err)
	for _, name := range []string{"Till", "Desk"} {
		room, err := r.Hub.Hub.CreateRoom(r.ctx, hub.RoomInput{Project: p.Row.Slug, Name: name})
		require.NoError(t, err)
		r.room = room.Row
		for i := range 150 {
			r.post(t, fmt.Sprintf("%d: %s", i, strings.Repeat(strconv.FormatUint(rand.Uint64(), 36), 20)))
		}
		for i := range 4 {
			body := fmt.Sprintf("artifact %d", i)
			_, err := r.Hub.Hub.AddArtifact(r.ctx, hub.ArtifactInput{RoomID: r.room.RoomID, Title: fmt.Sprintf("plan %d", i), Kind: "doc", By: "ann", Body: &body, ContentType: "text/plain"})
			require.NoError(t, err)
			_, err = r.Hub.Hub.AddDecision(r.ctx, hub.DecisionInput{RoomID: r.room.RoomID, Title: fmt.Sprintf("Decided %d", i), Note: body, By: "ann", Metadata: []byte(`{}`)})
			require.NoError(t, err)
		}
	}
	r.bindRepo(t, filepath.Join(base, "repo"))
	require.NoError(t, r.Stop())
}

// TestExportChild is the process that TestKilledExports kills: a hub that exports again and
// again, each time to another name.
func TestExportChild(t *testing.T) {
	base := os.Getenv(childVariable)
	if base == "" {
		t.Skip("needs TestKilledExports, which runs it")
	}
	r := killRig(t, base)
	p, err := r.Hub.Hub.Room(r.ctx, hub.RoomRef{Project: "shop", Room: "till"})
	require.NoError(t, err)
	r.room = p
	out := json.NewEncoder(os.Stdout)
	fmt.Println("started")
	for {
		r.post(t, "so that the mirror changes") // the bundle that follows has other bytes, too
		name := strconv.FormatUint(rand.Uint64(), 36)
		in := r.input(name + ".hubpack")
		in.GitMirror = true
		file := r.plan(t, in)
		in = r.input(name)
		in.Out = filepath.Join(r.out, name)
		tree := r.planBundle(t, in)
		for _, p := range []*hub.CapsulePlan{&file, &tree} {
			a := announced{Target: p.Target, Bundle: p == &tree, Files: p.Files, Size: p.Size}
			require.NoError(t, out.Encode(&a))
			_, err := r.confirm(p)
			require.NoError(t, err)
			a.Done = true
			require.NoError(t, out.Encode(&a))
		}
	}
}

// TestKilledExports kills a hub while it exports capsules, mirrors and bundles, at any moment,
// again and again. What has its name is whole, what was acknowledged is there, and the next
// start removes the rest.
func TestKilledExports(t *testing.T) {
	kills := 6
	if n, err := strconv.Atoi(os.Getenv(killsVariable)); err == nil {
		kills = n
	}
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	fillForKills(t, base)
	targets, left, torn := map[string]bool{}, 0, 0
	for range kills {
		for _, a := range killedExport(t, base) {
			there := a.whole(t)
			if a.Done && !there {
				t.Errorf("%s was acknowledged, and is not there", a.Target)
			}
			if !there {
				torn++
			} else {
				targets[filepath.Base(a.Target)] = true
			}
		}
		for _, name := range names(t, filepath.Join(base, "out")) {
			if strings.HasPrefix(name, ".") {
				left++
			}
		}
	}
	r := killRig(t, base)
	for _, name := range names(t, r.out) {
		if !targets[name] {
			t.Errorf("after a start %s is left", name)
		}
	}
	if rest := names(t, filepath.Join(base, "store", "plans")); len(rest) > 0 {
		t.Errorf("after a start the folder of the plans has %v", rest)
	}
	in := r.input("last.hubpack")
	in.GitMirror = true
	p := r.plan(t, in)
	done, err := r.confirm(&p)
	require.NoError(t, err)
	if done.Mirror.State != hub.MirrorDone || done.Mirror.Kept > 0 {
		t.Errorf("the next export does not know the mirror as its own: %+v", done.Mirror)
	}
	require.NoError(t, filepath.WalkDir(filepath.Join(base, "repo", ".hub"), func(path string, _ fs.DirEntry, err error) error {
		if strings.Contains(filepath.Base(path), "part") || strings.HasSuffix(path, ".new") {
			t.Errorf("after the next export %s is left", path)
		}
		return err
	}))
	t.Logf("%d kills: %d whole files and folders, %d exports without a trace at their target, %d parts that the next start removes", kills, len(targets), torn, left)
}

// killedExport runs a hub that exports, kills it some moments after something that it says, and
// returns all that it has said.
func killedExport(t *testing.T, base string) []*announced {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestExportChild$")
	cmd.Env = append(os.Environ(), childVariable+"="+base, "GOTMPDIR="+t.TempDir()) // a killed process deletes nothing
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(out)
	if !lines.Scan() || lines.Text() != "started" {
		t.Errorf("the hub did not start: %s", lines.Text())
	}
	kill := func() { _ = cmd.Process.Kill() }
	var all []*announced
	of := map[string]*announced{}
	for after := rand.IntN(6); ; after-- { // lines, of which each exported thing has two
		if after == 0 {
			defer time.AfterFunc(time.Duration(rand.IntN(60))*time.Millisecond, kill).Stop()
		}
		if !lines.Scan() {
			break
		}
		var a announced
		if json.Unmarshal(lines.Bytes(), &a) != nil {
			continue // cut by the kill
		}
		if of[a.Target] == nil {
			all = append(all, &a)
			of[a.Target] = &a
		}
		of[a.Target].Done = a.Done
	}
	_ = cmd.Wait()
	return all
}

// whole reports whether the target is there, and complains if it is, but not as it was planned.
func (a *announced) whole(t *testing.T) bool {
	t.Helper()
	info, err := os.Lstat(a.Target)
	if err != nil {
		return false
	}
	if !a.Bundle {
		f, err := os.Open(a.Target)
		require.NoError(t, err)
		defer f.Close()
		c, err := capsule.Open(f, info.Size(), capsule.DefaultLimits())
		if err == nil {
			err = c.Verify(t.Context(), nil)
		}
		if err != nil || info.Size() != a.Size || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has %d bytes of %d and the mode %v: %v", a.Target, info.Size(), a.Size, info.Mode(), err)
		}
		return true
	}
	var files, size int64
	require.NoError(t, filepath.WalkDir(a.Target, func(_ string, e fs.DirEntry, err error) error {
		require.NoError(t, err)
		if !e.IsDir() {
			info, err := e.Info()
			require.NoError(t, err)
			files, size = files+1, size+info.Size()
		}
		return nil
	}))
	if files != a.Files || size != a.Size {
		t.Errorf("%s has %d files of %d, and %d bytes of %d", a.Target, files, a.Files, size, a.Size)
	}
	return true
}
