package capsules_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"hubcli/actors"
	"hubcli/actors/capsules"
	"hubcli/capsule"
	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
	"hubcli/supervisor"
)

// written is a capsule as bytes.
func written(t testing.TB, h *testhub.Hub, req capsules.Request) []byte {
	t.Helper()
	view, err := h.Store.Snapshot()
	require.NoError(t, err)
	defer view.Close()
	var red capsules.Redactor
	if req.Privacy == capsule.ShareSafe {
		red = &fakeRedactor{}
	}
	var b bytes.Buffer
	id := capsules.Identity{CapsuleID: strings.Repeat("0a", 16), Version: "test", CreatedAt: 7}
	_, err = capsules.Export(t.Context(), view, &b, req, id, red, nil)
	require.NoError(t, err)
	return b.Bytes()
}

// verified reads a capsule and checks all of it.
func verified(t testing.TB, data []byte) *capsule.Reader {
	t.Helper()
	r, err := capsule.Open(bytes.NewReader(data), int64(len(data)), capsule.DefaultLimits())
	require.NoError(t, err)
	require.NoError(t, r.Verify(t.Context(), nil))
	return r
}

// startHub starts a hub without search.
func startHub(t testing.TB, options ...testhub.Option) *testhub.Hub {
	t.Helper()
	return testhub.Start(t, append(options, testhub.With(func(c *supervisor.Config) { c.WithoutSearch = true }))...)
}

func operator(t testing.TB) context.Context {
	return hub.WithCaller(t.Context(), &hub.Caller{Operator: true})
}

// imported imports a capsule and returns the project that came of it.
func imported(ctx context.Context, src *capsule.Reader, into *actors.Hub) (hub.Project, error) {
	plan, err := into.ImportCapsule(ctx, src, func(p hub.Project) hub.CapsuleImportPlan { return hub.CapsuleImportPlan{Project: &p} }, nil)
	if plan.Project == nil {
		return hub.Project{}, err
	}
	return *plan.Project, err
}

// TestImportIsTheSameProject takes a project that has everything through two hubs.
func TestImportIsTheSameProject(t *testing.T) {
	s := newShop(t)
	there := startHub(t)
	elsewhere(t, there)
	for _, scope := range []capsule.Scope{capsule.ScopeKnowledge, capsule.ScopeComplete, capsule.ScopeSelectedRooms} {
		for _, privacy := range privacies {
			t.Run(fmt.Sprint(scope, " ", privacy), func(t *testing.T) {
				req := s.request(scope, privacy)
				first := written(t, s.Hub, req)
				p, err := imported(operator(t), verified(t, first), there.Hub)
				require.NoError(t, err)
				again := capsules.Request{Project: p.ProjectID, Scope: capsule.ScopeComplete, Privacy: capsule.FullHistory, Operator: true}
				if scope == capsule.ScopeKnowledge {
					again.Scope = scope
				}
				sameContent(t, first, written(t, there, again))
			})
		}
	}
}

// elsewhere gives a hub things of its own, so that no number is the same in both hubs.
func elsewhere(t testing.TB, h *testhub.Hub) {
	t.Helper()
	p, err := h.Hub.CreateProject(operator(t), hub.ProjectInput{Name: "The canary shop", Slug: "canary-shop"})
	require.NoError(t, err)
	r, err := h.Hub.CreateRoom(operator(t), hub.RoomInput{Project: p.Row.Slug, Name: "Front canary"})
	require.NoError(t, err)
	for range 5 {
		_, err := h.Hub.Post(hub.WithCaller(t.Context(), &hub.Caller{}), hub.PostInput{FromAgent: "ann-canary", Channel: r.Row.Channel, Kind: hub.KindChat, Body: "ours", ThreadID: "thread-canary"})
		require.NoError(t, err)
	}
}

// sameContent compares what two capsules hold, line by line.
func sameContent(t testing.TB, first, second []byte) {
	t.Helper()
	if d := difference(t, first, second); d != "" {
		t.Errorf("the contents differ: %s", d)
	}
}

// difference says in which line two capsules differ first, or "" if their contents are the same.
func difference(t testing.TB, first, second []byte) string {
	t.Helper()
	if a, b := verified(t, first).Manifest(), verified(t, second).Manifest(); a.ContentDigest == b.ContentDigest {
		return ""
	}
	a, b := entriesOf(t, first), entriesOf(t, second)
	maps.DeleteFunc(a, func(path, _ string) bool { return path == "manifest.json" })
	for _, path := range slices.Sorted(maps.Keys(a)) {
		had, has := strings.Split(a[path], "\n"), strings.Split(b[path], "\n")
		for i := range max(len(had), len(has)) {
			if i >= len(had) || i >= len(has) || had[i] != has[i] {
				return fmt.Sprintf("%s, line %d of %d and %d:\n%q\n%q", path, i+1, len(had), len(has), had[min(i, len(had)-1)], has[min(i, len(has)-1)])
			}
		}
	}
	return "only the second capsule has some of its entries"
}

// An import changes nothing of what the hub had, and gives nobody anything to do.
func TestImportObligesNobody(t *testing.T) {
	s, there := newShop(t), startHub(t)
	elsewhere(t, there)
	poll := func() hub.Page {
		page, err := there.Hub.Events(operator(t), hub.EventsQuery{Agent: "bob", Limit: 100})
		require.NoError(t, err)
		return page
	}
	before := poll()
	p, err := imported(operator(t), verified(t, written(t, s.Hub, s.request(capsule.ScopeComplete, capsule.FullHistory))), there.Hub)
	require.NoError(t, err)
	if after := poll(); len(after.Rows) != len(before.Rows) {
		t.Errorf("bob is shown %d messages, and was shown %d", len(after.Rows), len(before.Rows))
	}
	tasks, _, err := there.Hub.Tasks(operator(t), hub.TasksQuery{Limit: 100})
	require.NoError(t, err)
	if len(tasks) < 4 {
		t.Errorf("%d tasks, want those of the capsule", len(tasks))
	}
	for _, task := range tasks {
		if !task.Status.Terminal() {
			t.Errorf("task %d is %s", task.TaskID, task.Status)
		}
	}
	agents, _, err := there.Hub.Agents(operator(t), hub.AgentsQuery{Limit: 100})
	require.NoError(t, err)
	if len(agents) != 0 {
		t.Errorf("agents: %v", agents)
	}
	_, err = there.Hub.Register(operator(t), hub.RegisterInput{AgentID: "bob"})
	require.NoError(t, err)
	if p.Slug != "canary-shop-2" || p.Name != "The canary shop (2)" || p.Imported.Slug != "canary-shop" {
		t.Errorf("the project is %+v", p)
	}
}

// What was imported is read as if it had been made here, also after a start.
func TestImportedProjectIsRead(t *testing.T) {
	s, there := newShop(t), startHub(t)
	elsewhere(t, there)
	p, err := imported(operator(t), verified(t, written(t, s.Hub, s.request(capsule.ScopeComplete, capsule.FullHistory))), there.Hub)
	require.NoError(t, err)
	look := func(h *testhub.Hub) string {
		ctx := operator(t)
		rooms, _, err := h.Hub.Rooms(ctx, hub.RoomsQuery{Project: p.Slug, Limit: 10})
		require.NoError(t, err)
		var front hub.Room
		for _, r := range rooms {
			if r.Slug == "front-canary" {
				front = r
			}
		}
		messages, err := h.Hub.Messages(ctx, hub.MessagesQuery{Channel: front.Channel, Limit: 100})
		require.NoError(t, err)
		decisions, _, err := h.Hub.Decisions(ctx, hub.DecisionsQuery{RoomID: front.RoomID, Limit: 10})
		require.NoError(t, err)
		artifacts, _, err := h.Hub.Artifacts(ctx, hub.ArtifactsQuery{RoomID: front.RoomID, Limit: 10})
		require.NoError(t, err)
		memories, _, err := h.Hub.Recall(ctx, hub.MemoryQuery{RoomID: front.RoomID, Limit: 10})
		require.NoError(t, err)
		runs, _, err := h.Hub.Runs(ctx, hub.RunsQuery{RoomID: front.RoomID, Limit: 10})
		require.NoError(t, err)
		threads, _, err := h.Hub.Threads(ctx, hub.ThreadsQuery{Limit: 10})
		require.NoError(t, err)
		for _, a := range artifacts {
			_, err := h.Hub.ArtifactContent(ctx, a.ArtifactID)
			require.NoError(t, err)
		}
		var first hub.Message
		for _, row := range messages.Rows {
			if m, err := row.Decode(); err == nil && strings.HasPrefix(m.Body, "Hello") {
				first = m
			}
		}
		if !strings.HasPrefix(first.Body, "Hello canary in "+string(front.Channel)) {
			t.Errorf("the message is %q, and the channel %s", first.Body, front.Channel)
		}
		if name, project, ok := first.FromAgent.Imported(); !ok || name != "ann-canary" || project != p.ProjectID || first.Imported == nil {
			t.Errorf("the message is of %s", first.FromAgent)
		}
		return fmt.Sprint(len(rooms), len(messages.Rows), len(decisions), len(artifacts), len(memories), len(runs), len(threads))
	}
	was := look(there)
	if was != "3 11 1 3 1 1 2" {
		t.Errorf("rooms, messages, decisions, artifacts, memories, runs and threads: %s", was)
	}
	require.NoError(t, there.Stop())
	if is := look(startHub(t, testhub.Dir(there.Dir))); is != was {
		t.Errorf("after a start there are %s, before it %s", is, was)
	}
}

// The authors of an imported project are nobody here.
func TestImportedAuthorsCannotAct(t *testing.T) {
	s, there := newShop(t), startHub(t)
	p, err := imported(operator(t), verified(t, written(t, s.Hub, s.request(capsule.ScopeComplete, capsule.FullHistory))), there.Hub)
	require.NoError(t, err)
	author := hub.ImportedAgent("bob", p.ProjectID)
	if err := hub.CheckSender("agent_id", author); !errors.Is(err, &hub.Error{Code: hub.CodeReservedAgent}) {
		t.Errorf("as a sender: %v", err)
	}
	if err := hub.CheckRecipient("to_agent", author); !errors.Is(err, &hub.Error{Code: hub.CodeInvalid}) {
		t.Errorf("as a recipient: %v", err)
	}
}

// An import that is cut off leaves the hub as it was.
func TestImportThatIsCutLeavesNothing(t *testing.T) {
	s, there := newShop(t), startHub(t)
	elsewhere(t, there)
	data := written(t, s.Hub, s.request(capsule.ScopeComplete, capsule.FullHistory))
	ctx, cancel := context.WithCancelCause(operator(t))
	cancel(errors.New("cut"))
	if _, err := imported(ctx, verified(t, data), there.Hub); err == nil {
		t.Fatal("the import was done")
	}
	if left := there.Store.Staged(); len(left) != 0 {
		t.Errorf("%v is left", left)
	}
	projects, _, err := there.Hub.Projects(operator(t), hub.ProjectsQuery{Limit: 10})
	require.NoError(t, err)
	if len(projects) != 1 {
		t.Errorf("projects: %v", projects)
	}
}
