package transfer_test

import (
	"archive/zip"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
	"hubcli/supervisor"
)

// A rig is a hub with a small project, and its exports.
type rig struct {
	*testhub.Hub
	hub.Capsules
	ctx  context.Context // the operator's
	room hub.Room
	out  string // a folder for capsules
}

func newRig(t *testing.T) *rig {
	t.Helper()
	h := testhub.Start(t, testhub.With(func(c *supervisor.Config) { c.WithoutSearch = true }))
	r := &rig{Hub: h, Capsules: h.Capsules().Exports, ctx: hub.WithCaller(t.Context(), &hub.Caller{Operator: true}), out: t.TempDir()}
	p, err := h.Hub.CreateProject(r.ctx, hub.ProjectInput{Name: "Shop"})
	require.NoError(t, err)
	room, err := h.Hub.CreateRoom(r.ctx, hub.RoomInput{Project: p.Row.Slug, Name: "Till"})
	require.NoError(t, err)
	r.room = room.Row
	return r
}

func (r *rig) post(t *testing.T, body string) {
	t.Helper()
	_, err := r.Hub.Hub.Post(r.ctx, hub.PostInput{FromAgent: "ann", Channel: r.room.Channel, Kind: hub.KindChat, Body: body})
	require.NoError(t, err)
}

// input asks for everything.
func (r *rig) input(name string) hub.CapsuleExportInput {
	return hub.CapsuleExportInput{Project: "shop", Out: filepath.Join(r.out, name), Scope: hub.CapsuleComplete, Privacy: hub.CapsuleShareSafe}
}

func (r *rig) plan(t *testing.T, in hub.CapsuleExportInput) hub.CapsulePlan {
	t.Helper()
	p, err := r.PlanExport(r.ctx, in)
	require.NoError(t, err)
	require.Eventually(t, "the plan is ready", func() bool {
		p, err = r.ExportPlan(r.ctx, p.PlanID)
		return err != nil || p.State != hub.CapsulePlanning
	})
	require.NoError(t, err)
	if p.State != hub.CapsuleReady {
		t.Fatalf("the plan is %s: %s", p.State, p.Error)
	}
	return p
}

func (r *rig) confirm(p *hub.CapsulePlan) (hub.CapsulePlan, error) {
	return r.ConfirmExport(r.ctx, p.PlanID, hub.CapsuleConfirmInput{Confirm: p.PlanDigest})
}

func wantCode(t *testing.T, err error, code hub.Code) *hub.Error {
	t.Helper()
	var e *hub.Error
	if !errors.As(err, &e) || e.Code != code || e.Message == "" || e.FixFor(hub.ForCLI) == "" {
		t.Fatalf("error %v, want %s with a way out", err, code)
	}
	return e
}

// names lists a folder; an absent one is empty.
func names(t *testing.T, dir string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

// Nothing is at the target before the plan is confirmed, then exactly what was planned.
func TestConfirmedIsWhatWasPlanned(t *testing.T) {
	r := newRig(t)
	r.post(t, "hello")
	p := r.plan(t, r.input("a.hubpack"))
	if got := names(t, r.out); len(got) != 0 {
		t.Errorf("before the confirmation there is %v", got)
	}
	for _, want := range []string{"shop", p.Target, "1 room", "1 message", "share_safe"} {
		if !strings.Contains(p.Prompt, want) {
			t.Errorf("the prompt does not say %q:\n%s", want, p.Prompt)
		}
	}
	e := wantCode(t, func() error {
		_, err := r.ConfirmExport(r.ctx, p.PlanID, hub.CapsuleConfirmInput{Confirm: "sha256:other"})
		return err
	}(), hub.CodePlanChanged)
	if e.Detail["plan_digest"] != p.PlanDigest || e.Detail["prompt"] != p.Prompt {
		t.Errorf("the detail is %v", e.Detail)
	}
	done, err := r.confirm(&p)
	require.NoError(t, err)
	info, err := os.Stat(p.Target)
	require.NoError(t, err)
	if done.State != hub.CapsuleDone || info.Size() != p.Size || info.Mode().Perm() != 0o600 {
		t.Errorf("state %s, %d bytes of %d, mode %v", done.State, info.Size(), p.Size, info.Mode())
	}
	again, err := r.confirm(&p)
	if err != nil || again.State != hub.CapsuleDone {
		t.Errorf("confirmed again: %s, %v", again.State, err)
	}
	if got := names(t, r.out); len(got) != 1 {
		t.Errorf("beside the capsule there is %v", got)
	}
}

// A file is never replaced, whenever it appears.
func TestNeverOverAnotherFile(t *testing.T) {
	r := newRig(t)
	in := r.input("a.hubpack")
	p := r.plan(t, in)
	const other = "somebody else's"
	require.NoError(t, os.WriteFile(in.Out, []byte(other), 0o600))
	_, err := r.confirm(&p)
	wantCode(t, err, hub.CodeTargetExists)
	_, err = r.PlanExport(r.ctx, in)
	wantCode(t, err, hub.CodeTargetExists)
	if b, err := os.ReadFile(in.Out); err != nil || string(b) != other {
		t.Errorf("the file holds %q, %v", b, err)
	}
	require.NoError(t, os.Remove(in.Out))
	require.NoError(t, os.Symlink(filepath.Join(r.out, "nowhere"), in.Out))
	_, err = r.confirm(&p)
	wantCode(t, err, hub.CodeTargetExists)
	if got := names(t, r.out); len(got) != 1 {
		t.Errorf("there is %v", got)
	}
}

// TestTargetIsTheFolderThatWasShown: an export goes into no folder of the hub's store, also not
// by a link, and into no other folder than the one that had the path when it was planned.
func TestTargetIsTheFolderThatWasShown(t *testing.T) {
	r := newRig(t)
	store := r.Store.Dir()
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, errors.Join(os.Mkdir(filepath.Join(store, "mine"), 0o700), os.Symlink(store, link)))
	for _, dir := range []string{store, filepath.Join(store, "mine"), link, filepath.Join(link, "mine")} {
		in := r.input("a.hubpack")
		in.Out = filepath.Join(dir, "a.hubpack")
		_, err := r.PlanExport(r.ctx, in)
		wantCode(t, err, hub.CodeInvalid)
		in.Out = filepath.Join(dir, "a")
		_, err = r.PlanBundle(r.ctx, in)
		wantCode(t, err, hub.CodeInvalid)
	}

	elsewhere, was := t.TempDir(), r.out+".was"
	t.Cleanup(func() { _ = os.RemoveAll(was) })
	p := r.plan(t, r.input("b.hubpack"))
	inStore := r.plan(t, r.input("c.hubpack"))
	require.NoError(t, errors.Join(os.Rename(r.out, was), os.Symlink(elsewhere, r.out)))
	_, err := r.confirm(&p)
	if e := wantCode(t, err, hub.CodePlanChanged); !strings.Contains(e.Message, "another folder") {
		t.Errorf("%v", e)
	}
	require.NoError(t, errors.Join(os.Remove(r.out), os.Symlink(store, r.out)))
	_, err = r.confirm(&inStore)
	if err == nil {
		t.Error("an export was confirmed into the store")
	}
	if got := names(t, elsewhere); len(got) > 0 {
		t.Errorf("there is %v", got)
	}
	require.NoError(t, errors.Join(os.Remove(r.out), os.Rename(was, r.out)))
	p = r.plan(t, r.input("d.hubpack"))
	_, err = r.confirm(&p)
	require.NoError(t, err)
}

// A plan whose project has changed is not carried out; the refusal has the new plan.
func TestChangedProjectIsPlannedAgain(t *testing.T) {
	r := newRig(t)
	p := r.plan(t, r.input("a.hubpack"))
	r.post(t, "later")
	_, err := r.confirm(&p)
	e := wantCode(t, err, hub.CodePlanChanged)
	now, ok := e.Detail["plan"].(*hub.CapsulePlan)
	if !ok || now.PlanID == p.PlanID || now.Counts.Messages != p.Counts.Messages+1 {
		t.Fatalf("the new plan is %+v", e.Detail["plan"])
	}
	_, err = r.ExportPlan(r.ctx, p.PlanID)
	wantCode(t, err, hub.CodePlanNotFound)
	_, err = r.confirm(now)
	require.NoError(t, err)
}

// Plans are few, can be cancelled, and leave no file.
func TestPlansAreBounded(t *testing.T) {
	r := newRig(t)
	var plans []hub.CapsulePlan
	for range hub.MaxCapsulePlans {
		plans = append(plans, r.plan(t, r.input("a.hubpack")))
	}
	_, err := r.PlanExport(r.ctx, r.input("b.hubpack"))
	wantCode(t, err, hub.CodeLimitReached)
	_, err = r.CancelExport(r.ctx, plans[0].PlanID)
	require.NoError(t, err)
	_, err = r.CancelExport(r.ctx, plans[0].PlanID)
	wantCode(t, err, hub.CodePlanNotFound)
	_, err = r.confirm(&plans[0])
	wantCode(t, err, hub.CodePlanNotFound)
	if got := names(t, r.Store.PlansDir()); len(got) != hub.MaxCapsulePlans-1 {
		t.Errorf("the folder of plans has %v", got)
	}
	left := filepath.Join(r.Store.PlansDir(), strings.Repeat("0a", 16)+".plan")
	kept := filepath.Join(r.Store.PlansDir(), "note.txt")
	require.NoError(t, os.WriteFile(kept, nil, 0o600))
	require.NoError(t, r.Stop())
	if got := names(t, r.Store.PlansDir()); len(got) != 1 {
		t.Errorf("after the hub has stopped, the folder of plans has %v", got)
	}
	require.NoError(t, os.WriteFile(left, nil, 0o600)) // as a crash does
	next := testhub.Start(t, testhub.Dir(r.Dir))
	if got := names(t, next.Store.PlansDir()); len(got) != 1 || got[0] != "note.txt" {
		t.Errorf("after a start the folder of plans has %v", got)
	}
}

// Targets at which nothing can be put are refused before anything is planned.
func TestTargets(t *testing.T) {
	r := newRig(t)
	for _, out := range []string{
		"", "a.hubpack", "../a.hubpack", filepath.Join(r.out, "a.zip"), filepath.Join(r.out, ".hubpack"),
		filepath.Join(r.out, "no", "a.hubpack"), r.out + "/a\x00.hubpack", r.out + "/a\n.hubpack", "/" + strings.Repeat("a", hub.MaxPathBytes) + ".hubpack",
	} {
		in := r.input("")
		in.Out = out
		_, err := r.PlanExport(r.ctx, in)
		wantCode(t, err, hub.CodeInvalid)
	}
	if got := names(t, r.Store.PlansDir()); len(got) != 0 {
		t.Errorf("the folder of plans has %v", got)
	}
}

// What agents and the operator prove themselves by is in no share_safe capsule.
func TestSecretsOfTheHubAreRedacted(t *testing.T) {
	r := newRig(t)
	h := r.Hub.Hub
	session, err := h.Register(r.ctx, hub.RegisterInput{AgentID: "ann"})
	require.NoError(t, err)
	invite, err := h.CreateInvite(r.ctx, hub.InviteInput{Project: "shop", Room: "till", TTLSec: 60, MaxUses: 1})
	require.NoError(t, err)
	_, mac, _ := strings.Cut(string(session.Row.SessionID), ".")
	secrets := []string{mac, session.Row.ResumeKey, invite.Row.Code, strings.ToLower(invite.Row.Code), r.Store.OperatorToken()}
	for _, s := range secrets {
		r.post(t, "here is "+s+".")
		_, err := h.AddDecision(r.ctx, hub.DecisionInput{RoomID: r.room.RoomID, Title: "t", Metadata: []byte(`{"note":"` + s + `"}`)})
		require.NoError(t, err)
	}
	p := r.plan(t, r.input("a.hubpack"))
	if p.Redactions["hub-secret"] == 0 {
		t.Errorf("the plan says %v", p.Redactions)
	}
	_, err = r.confirm(&p)
	require.NoError(t, err)
	z, err := zip.OpenReader(p.Target)
	require.NoError(t, err)
	defer z.Close()
	for _, f := range z.File {
		e, err := f.Open()
		require.NoError(t, err)
		b, err := io.ReadAll(e)
		require.NoError(t, err)
		for i, s := range secrets {
			if strings.Contains(string(b), s) {
				t.Errorf("%s has secret %d", f.Name, i)
			}
		}
	}
}

// What is left out is said in words, and artifacts by their names, some of them.
func TestLeftOutArtifactsAreNamed(t *testing.T) {
	r := newRig(t)
	add := func(title, media string, content []byte) hub.ArtifactID {
		encoded := base64.StdEncoding.EncodeToString(content)
		a, err := r.Hub.Hub.AddArtifact(r.ctx, hub.ArtifactInput{
			RoomID: r.room.RoomID, Title: title, Kind: "file", By: "ann", ContentType: media,
			ContentBase64: &encoded,
		})
		require.NoError(t, err)
		return a.Row.ArtifactID
	}
	logo := add("logo.png", "image/png", []byte("\x89PNG\x00"))
	latin := add("menu.txt", "text/plain", []byte("Kn\xf6del"))
	add("plan.md", "text/markdown", []byte("Kn\u00f6del"))
	p := r.plan(t, r.input("a.hubpack"))
	if len(p.Artifacts) != 2 || p.Artifacts[0].ArtifactID != logo || p.Artifacts[0].Reason != "binary" || p.Artifacts[1].ArtifactID != latin || p.Artifacts[1].Reason != "encoding" {
		t.Errorf("the plan names %+v", p.Artifacts)
	}
	for _, want := range []string{"2 artifacts that are no texts", string(logo), "menu.txt, version 1: it is no text in UTF-8"} {
		if !strings.Contains(p.Prompt, want) {
			t.Errorf("the prompt does not say %q:\n%s", want, p.Prompt)
		}
	}
	for i := range hub.MaxLeftOutNames {
		add(fmt.Sprintf("%d.png", i), "image/png", []byte{0, byte(i)})
	}
	p = r.plan(t, r.input("b.hubpack"))
	if len(p.Artifacts) != hub.MaxLeftOutNames || !strings.Contains(p.Prompt, "and 2 artifacts more") {
		t.Errorf("the plan names %d:\n%s", len(p.Artifacts), p.Prompt)
	}
	in := r.input("c.hubpack")
	in.Artifacts = []hub.ArtifactID{logo, latin}
	if p = r.plan(t, in); p.LeftOut["binary_artifacts"] != hub.MaxLeftOutNames {
		t.Errorf("the plan leaves out %v", p.LeftOut)
	}
}
