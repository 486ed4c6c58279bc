package transfer_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hubcli/hub"
	"hubcli/internal/require"
)

func (r *rig) planBundle(t *testing.T, in hub.CapsuleExportInput) hub.CapsulePlan {
	t.Helper()
	p, err := r.PlanBundle(r.ctx, in)
	require.NoError(t, err)
	require.Eventually(t, "the plan is ready", func() bool {
		p, err = r.ExportPlan(r.ctx, p.PlanID)
		return err != nil || p.State != hub.CapsulePlanning
	})
	require.NoError(t, err)
	if p.State != hub.CapsuleReady || p.Form != hub.CapsuleBundle {
		t.Fatalf("the plan is %s of form %s: %s", p.State, p.Form, p.Error)
	}
	return p
}

func TestBundleIsWhatWasPlanned(t *testing.T) {
	r := newRig(t)
	r.post(t, "hello")
	in := r.input("shop")
	p := r.planBundle(t, in)
	if got := names(t, r.out); len(got) != 0 {
		t.Errorf("before the confirmation there is %v", got)
	}
	done, err := r.confirm(&p)
	require.NoError(t, err)
	size, files := int64(0), int64(0)
	require.NoError(t, filepath.WalkDir(in.Out, func(path string, e os.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := e.Info()
		require.NoError(t, err)
		want := os.FileMode(0o600)
		if e.IsDir() {
			want = 0o700
		} else {
			size, files = size+info.Size(), files+1
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s has the mode %v", path, info.Mode())
		}
		return nil
	}))
	if done.State != hub.CapsuleDone || size != p.Size || files != p.Files {
		t.Errorf("%s: %d files of %d, %d bytes of %d", done.State, files, p.Files, size, p.Size)
	}
	if got := names(t, r.out); !slices.Equal(got, []string{"shop"}) {
		t.Errorf("beside the bundle there is %v", got)
	}
	if got := names(t, r.Store.PlansDir()); len(got) != 0 {
		t.Errorf("of the plan there is left %v", got)
	}
}

func TestBundleIsNeverWrittenOverAnything(t *testing.T) {
	r := newRig(t)
	in := r.input("shop")
	p := r.planBundle(t, in)
	require.NoError(t, os.Mkdir(in.Out, 0o700))
	mine := filepath.Join(in.Out, "mine")
	require.NoError(t, os.WriteFile(mine, []byte("mine"), 0o600))
	_, err := r.confirm(&p)
	wantCode(t, err, hub.CodeTargetExists)
	_, err = r.PlanBundle(r.ctx, in)
	wantCode(t, err, hub.CodeTargetExists)
	for out, code := range map[string]hub.Code{
		"": hub.CodeInvalid, "shop": hub.CodeInvalid, "/": hub.CodeInvalid, filepath.Join(r.out, "no", "shop"): hub.CodeInvalid,
		filepath.Join(r.out, "a\nb"): hub.CodeInvalid, "/" + strings.Repeat("a", hub.MaxPathBytes): hub.CodeInvalid, mine: hub.CodeTargetExists,
	} {
		in.Out = out
		_, err := r.PlanBundle(r.ctx, in)
		wantCode(t, err, code)
	}
	link := filepath.Join(r.out, "link")
	require.NoError(t, os.Symlink(t.TempDir(), link))
	in.Out = link
	_, err = r.PlanBundle(r.ctx, in)
	wantCode(t, err, hub.CodeTargetExists)
	if got := names(t, r.out); !slices.Equal(got, []string{"link", "shop"}) || !slices.Equal(names(t, in.Out), nil) {
		t.Errorf("there is %v", got)
	}
}

// Plans that are done hold no file, so they keep nobody from exporting.
func TestPlansThatAreDoneDoNotCount(t *testing.T) {
	r := newRig(t)
	for n := range 3 * hub.MaxCapsulePlans {
		p := r.plan(t, r.input(string(rune('a'+n))+".hubpack"))
		_, err := r.confirm(&p)
		require.NoError(t, err)
		_, err = r.confirm(&p)
		require.NoError(t, err)
	}
}

// bindRepo binds the rig's room to a new Git work tree.
func (r *rig) bindRepo(t *testing.T, repo string) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(repo, 0o700))
	repo, err := filepath.EvalSymlinks(repo)
	require.NoError(t, err)
	if out, err := exec.Command("git", "init", "-q", repo).CombinedOutput(); err != nil {
		t.Fatalf("git: %v %s", err, out)
	}
	_, err = r.Hub.Hub.BindRoom(r.ctx, r.room.RoomID, hub.BindingInput{Path: repo})
	require.NoError(t, err)
	return repo
}

// A mirror is what was confirmed: if its folder has changed since, the export is planned again.
func TestChangedMirrorIsPlannedAgain(t *testing.T) {
	r := newRig(t)
	repo := r.bindRepo(t, t.TempDir())
	in := r.input("a.hubpack")
	in.GitMirror = true
	p := r.plan(t, in)
	if p.Mirror == nil || p.Mirror.State != hub.MirrorPlanned || p.Mirror.Write == 0 || !strings.Contains(p.Prompt, p.Mirror.Folder) {
		t.Fatalf("the plan has the mirror %+v", p.Mirror)
	}
	file := filepath.Join(repo, ".hub", "mirror", "README.md")
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
	require.NoError(t, os.WriteFile(file, []byte("mine"), 0o600))
	_, err := r.confirm(&p)
	e := wantCode(t, err, hub.CodePlanChanged)
	again := e.Detail["plan"].(*hub.CapsulePlan)
	if names(t, r.out) != nil || again.Mirror.Kept != 1 || again.PlanDigest == p.PlanDigest {
		t.Errorf("beside the new plan %+v there is %v", again.Mirror, names(t, r.out))
	}
	done, err := r.confirm(again)
	require.NoError(t, err)
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	if done.Mirror.State != hub.MirrorDone || string(data) != "mine" {
		t.Errorf("the mirror is %+v, its file %q", done.Mirror, data)
	}
}

// The capsule is there although the mirror cannot be written, and the answer says so.
func TestMirrorThatFailsIsTold(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("needs another user than root, who may write everywhere")
	}
	r := newRig(t)
	repo := r.bindRepo(t, t.TempDir())
	in := r.input("a.hubpack")
	in.GitMirror = true
	p := r.plan(t, in)
	require.NoError(t, os.Chmod(repo, 0o500))
	t.Cleanup(func() { _ = os.Chmod(repo, 0o700) })
	done, err := r.confirm(&p)
	require.NoError(t, err)
	if done.State != hub.CapsuleDone || done.Mirror.State != hub.MirrorFailed || done.Mirror.Reason == "" {
		t.Errorf("%s, the mirror is %+v", done.State, done.Mirror)
	}
}
