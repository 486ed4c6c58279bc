package capsules_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"hubcli/actors"
	"hubcli/actors/core"
	"hubcli/capsule"
	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
	"hubcli/supervisor"
)

// killsVariable says how many imports TestKilledImports kills; childVariable is the store of
// the process that it kills.
const (
	killsVariable = "HUBCLI_TEST_KILLS"
	childVariable = "HUBCLI_TEST_IMPORT_STORE"
)

// smallCapsule writes a capsule with messages in two rooms, and decisions.
func smallCapsule(t testing.TB, messages int, body func(i int) string) []byte {
	t.Helper()
	return smallCapsuleOf(t, messages, func(i int, m *capsule.Message) { m.Body = body(i) })
}

// smallCapsuleOf does so with messages that fill completes.
func smallCapsuleOf(t testing.TB, messages int, fill func(i int, m *capsule.Message)) []byte {
	t.Helper()
	var b bytes.Buffer
	w := capsule.NewWriter(&b, capsule.Manifest{ProductVersion: "test", CreatedAt: 1, CapsuleID: strings.Repeat("0c", 16), Scope: capsule.ScopeComplete, Privacy: capsule.FullHistory})
	require.NoError(t, w.Project(capsule.Project{Slug: "small", Name: "Small", CreatedAt: 1}))
	require.NoError(t, w.Section("rooms.ndjson"))
	for r := 1; r <= 2; r++ {
		require.NoError(t, w.Line(&capsule.Room{ID: capsule.Ref(fmt.Sprintf("r%d", r)), Slug: fmt.Sprintf("room-%d", r), Name: fmt.Sprintf("Room %d", r), CreatedAt: 1, Locks: hub.LocksWarn}))
	}
	require.NoError(t, w.Section("agents.ndjson"))
	require.NoError(t, w.Line(&capsule.Agent{ID: "ann"}))
	require.NoError(t, w.Section("decisions.ndjson"))
	for d := 1; d <= 50; d++ {
		require.NoError(t, w.Line(&capsule.Decision{ID: capsule.Ref(fmt.Sprintf("d%d", d)), Room: "r1", Title: "Decided", By: "ann", Metadata: []byte(`{}`), CreatedAt: 1}))
	}
	for r := 1; r <= 2; r++ {
		require.NoError(t, w.Section(capsule.MessagesPath(capsule.Ref(fmt.Sprintf("r%d", r)))))
		for i := r; i <= messages; i += 2 {
			m := &capsule.Message{
				ID: capsule.Number(i), TS: 1, From: "ann", Kind: hub.KindChat, Body: "text", Thread: "work",
				Authority: hub.AuthorityAgent, Assurance: hub.AssuranceSession,
			}
			fill(i, m)
			require.NoError(t, w.Line(m))
		}
	}
	_, err := w.Close()
	require.NoError(t, err)
	return b.Bytes()
}

// A hub that cannot apply the record of an import deletes nothing of it. A start that can has the
// whole project.
func TestImportThatCannotBeAppliedIsKept(t *testing.T) {
	broken := testhub.With(func(c *supervisor.Config) {
		c.Actors = func(o *actors.Options) {
			o.ApplyHook = func(_ core.Owner, f core.Fact) {
				if _, ok := f.(*core.ProjectImported); ok {
					panic("a fault of this version")
				}
			}
		}
	})
	const n = 10
	h := startHub(t, broken)
	_, err := imported(operator(t), verified(t, smallCapsule(t, n, strconv.Itoa)), h.Hub)
	require.NoError(t, err) // the record is durable, and the answer waited for no more
	require.NoError(t, h.Stop())
	h = startHub(t, broken, testhub.Dir(h.Dir))
	_, _ = imported(operator(t), verified(t, smallCapsule(t, n, strconv.Itoa)), h.Hub) // waits for the sweep
	require.NoError(t, h.Stop())
	h = startHub(t, testhub.Dir(h.Dir))
	projects, _, err := h.Hub.Projects(operator(t), hub.ProjectsQuery{Limit: 10})
	require.NoError(t, err)
	if len(projects) == 0 {
		t.Fatal("there is no project")
	}
	rooms, _, err := h.Hub.Rooms(operator(t), hub.RoomsQuery{Project: projects[0].Slug, Limit: 2})
	require.NoError(t, err)
	page, err := h.Hub.Messages(operator(t), hub.MessagesQuery{Channel: rooms[0].Channel, Limit: n})
	require.NoError(t, err)
	if len(page.Rows) != n/2 {
		t.Errorf("the first room has %d messages, want %d", len(page.Rows), n/2)
	}
}

// TestImportChild is the process that TestKilledImports kills: a hub that imports again and
// again, and says what is done.
func TestImportChild(t *testing.T) {
	dir := os.Getenv(childVariable)
	if dir == "" {
		t.Skip("needs TestKilledImports, which runs it")
	}
	data, err := os.ReadFile(filepath.Join(filepath.Dir(dir), "small.hubpack"))
	require.NoError(t, err)
	h := startHub(t, testhub.Dir(dir))
	fmt.Println("started")
	for {
		p, err := imported(hub.WithCaller(context.Background(), &hub.Caller{Operator: true}), verified(t, data), h.Hub)
		require.NoError(t, err)
		fmt.Println("done", p.ProjectID)
	}
}

// TestKilledImports kills a hub while it imports, at any moment, again and again. Afterwards
// each project is whole, those that were acknowledged are there, and nothing else is.
func TestKilledImports(t *testing.T) {
	kills := 6
	if n, err := strconv.Atoi(os.Getenv(killsVariable)); err == nil {
		kills = n
	}
	const messages = 6_000
	base := t.TempDir()
	dir := filepath.Join(base, "store")
	require.NoError(t, os.WriteFile(filepath.Join(base, "small.hubpack"), smallCapsule(t, messages, func(i int) string { return "word " + strconv.Itoa(i) }), 0o600))
	acknowledged := map[hub.ProjectID]bool{}
	for range kills {
		for _, id := range killedImport(t, dir) {
			acknowledged[id] = true
		}
	}
	h := startHub(t, testhub.Dir(dir))
	require.Eventually(t, "nothing is staged", func() bool { return len(h.Store.Staged()) == 0 })
	projects, _, err := h.Hub.Projects(operator(t), hub.ProjectsQuery{Limit: 1000})
	require.NoError(t, err)
	for _, p := range projects {
		delete(acknowledged, p.ProjectID)
		rooms, _, err := h.Hub.Rooms(operator(t), hub.RoomsQuery{Project: p.Slug, Limit: 10})
		require.NoError(t, err)
		n := 0
		for _, r := range rooms {
			require.NoError(t, h.Store.Messages(core.Scope{Kind: core.ScopeChannel, Name: string(r.Channel)}, 0, hub.MaxMessageID, false, func(*core.StoredMessage) bool { n++; return true }))
		}
		if n != messages || len(rooms) != 2 {
			t.Errorf("project %s has %d rooms and %d messages", p.ProjectID, len(rooms), n)
		}
	}
	if len(acknowledged) > 0 {
		t.Errorf("%d imports were acknowledged and are not there", len(acknowledged))
	}
	all, decisions := 0, 0
	require.NoError(t, h.Store.Messages(core.Scope{Kind: core.ScopeAll}, 0, hub.MaxMessageID, false, func(*core.StoredMessage) bool { all++; return true }))
	require.NoError(t, h.Store.RowsOf(core.TableDecision, nil, false, func(_, _ []byte) bool { decisions++; return true }))
	if all != messages*len(projects) || decisions != 50*len(projects) {
		t.Errorf("%d messages and %d decisions are in the store of %d projects", all, decisions, len(projects))
	}
	t.Logf("%d kills, %d projects", kills, len(projects))
}

// killedImport runs a hub that imports, kills it after a while, and returns the projects that
// it has acknowledged.
func killedImport(t *testing.T, dir string) (done []hub.ProjectID) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestImportChild$")
	cmd.Env = append(os.Environ(), childVariable+"="+dir, "GOTMPDIR="+t.TempDir()) // a killed process deletes nothing
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	first := make([]byte, len("started\n"))
	if _, err := out.Read(first); err != nil {
		t.Errorf("the hub did not start: %v", err)
	}
	timer := time.AfterFunc(time.Duration(rand.IntN(250))*time.Millisecond, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	var said bytes.Buffer
	_, _ = said.ReadFrom(out)
	_ = cmd.Wait()
	for line := range strings.Lines(said.String()) {
		if id, ok := strings.CutPrefix(strings.TrimSpace(line), "done "); ok && strings.HasSuffix(line, "\n") {
			done = append(done, hub.ProjectID(id))
		}
	}
	return done
}
