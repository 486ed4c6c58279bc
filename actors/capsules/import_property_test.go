package capsules_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hubcli/actors/capsules"
	"hubcli/capsule"
	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
)

// A randomProject is one that is made step by step.
type randomProject struct {
	*rapid.T
	h     *testhub.Hub
	tb    testing.TB
	row   hub.Project
	rooms []hub.Room
	ids   []string // of things so far
	at    []hub.MessageID
	tasks []hub.TaskID
}

var someAgents = []hub.AgentID{"ann", "bob", "cy", "d@p_1x", hub.AgentID(strings.Repeat("long-name-", 6) + "1234")}

func (p *randomProject) agent() hub.AgentID { return rapid.SampledFrom(someAgents).Draw(p.T, "agent") }

func (p *randomProject) room() hub.Room { return rapid.SampledFrom(p.rooms).Draw(p.T, "room") }

// words is a text that names things in every way there is, and what looks like that.
func (p *randomProject) words() string {
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{"#m1", "#mm12", "#r1", "r_1", "#0", "##3", "x#4", "#4x", "_", "#", "room-", "@ann", "ünï", "\n", "#99999999999999", "m_1.", "p_zz"}),
		rapid.Custom(func(t *rapid.T) string { return fmt.Sprintf("#%d", rapid.IntRange(1, 60).Draw(t, "n")) }),
		rapid.Custom(func(t *rapid.T) string { return rapid.SampledFrom(append(p.ids, "text")).Draw(t, "id") }),
		rapid.StringN(0, 6, 20),
	)
	text := strings.Join(rapid.SliceOfN(piece, 1, 6).Draw(p.T, "words"), rapid.SampledFrom([]string{" ", "", ", "}).Draw(p.T, "between"))
	text = strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' || r == 0x7f || r == 0xfffd {
			return '.'
		}
		return r
	}, text)
	return "w" + text
}

// line is words without line ends, as titles want.
func (p *randomProject) line() string { return strings.ReplaceAll(p.words(), "\n", " ") }

func (p *randomProject) post(in hub.PostInput) {
	in.FromAgent, in.Body = p.agent(), p.words()
	if strings.Contains(string(in.FromAgent), "@p_") {
		in.FromAgent = "ann"
	}
	if in.Kind == "" {
		in.Kind = hub.KindChat
	}
	if rapid.Bool().Draw(p.T, "thread") && in.ThreadID == "" {
		in.ThreadID = hub.ThreadID(rapid.SampledFrom([]string{"one", "two", strings.Repeat("t", hub.MaxNameChars)}).Draw(p.T, "name of thread"))
	}
	if rapid.Bool().Draw(p.T, "metadata") {
		n := rapid.IntRange(1, 60).Draw(p.T, "number")
		see, err := json.Marshal(p.words())
		require.NoError(p.tb, err)
		in.Metadata = []byte(fmt.Sprintf(`{"task_completed":%d,"handoff":{"task_id":%d},"see":%s,"n":1.50}`, n, n+1, see))
	}
	posted, err := p.h.Hub.Post(hub.WithCaller(p.tb.Context(), &hub.Caller{}), in)
	if err != nil {
		return // the state does not allow it, such as a result of a task that has ended
	}
	row, err := posted.Row.Decode()
	require.NoError(p.tb, err)
	p.at = append(p.at, row.ID)
	if in.Kind.OpensTask() {
		p.tasks = append(p.tasks, row.ID)
	}
}

// step does one thing in the project.
func (p *randomProject) step() {
	ctx, room := operator(p.tb), p.room()
	switch rapid.IntRange(0, 12).Draw(p.T, "step") {
	case 0, 1:
		p.post(hub.PostInput{Channel: room.Channel})
	case 2:
		p.post(hub.PostInput{Channel: room.Channel, ToAgent: "bob"})
	case 3:
		if len(p.at) > 0 {
			p.post(hub.PostInput{Channel: room.Channel, ReplyTo: rapid.SampledFrom(p.at).Draw(p.T, "reply")})
		}
	case 4:
		in := hub.PostInput{Channel: room.Channel, Kind: hub.KindTask}
		if len(p.tasks) > 0 && rapid.Bool().Draw(p.T, "child") {
			in.ParentTaskID = rapid.SampledFrom(p.tasks).Draw(p.T, "parent")
		} else if len(p.tasks) > 0 {
			in.BlockedBy = []hub.TaskID{rapid.SampledFrom(p.tasks).Draw(p.T, "blocker")}
		}
		p.post(in)
	case 5:
		if len(p.tasks) > 0 {
			p.post(hub.PostInput{Channel: room.Channel, Kind: hub.KindTaskResult, ReplyTo: rapid.SampledFrom(p.tasks).Draw(p.T, "result")})
		}
	case 6:
		if d, err := p.h.Hub.AddDecision(ctx, hub.DecisionInput{RoomID: room.RoomID, Title: p.line(), Note: p.words(), By: "ann", Metadata: []byte(`{}`)}); err == nil {
			p.ids = append(p.ids, string(d.Row.DecisionID))
		}
	case 7:
		body := p.words()
		if a, err := p.h.Hub.AddArtifact(ctx, hub.ArtifactInput{RoomID: room.RoomID, Title: rapid.SampledFrom([]string{"plan", "r_1"}).Draw(p.T, "title"), Kind: "doc", By: "bob", Body: &body, ContentType: "text/plain"}); err == nil {
			p.ids = append(p.ids, string(a.Row.ArtifactID))
		}
	case 8:
		in := hub.MemoryInput{RoomID: room.RoomID, Text: p.words(), Key: rapid.SampledFrom([]string{"", "key", "k2"}).Draw(p.T, "key"), Tags: []string{}, Scope: rapid.SampledFrom([]hub.MemoryScope{hub.ScopeRoom, hub.ScopeProject}).Draw(p.T, "scope"), By: "cy"}
		if in.Key != "" && rapid.Bool().Draw(p.T, "forget") {
			in.Text = ""
		}
		if m, err := p.h.Hub.Remember(ctx, in); err == nil {
			p.ids = append(p.ids, string(m.Row.MemoryID))
		}
	case 9:
		in := hub.RunInput{Title: p.line(), RoomID: room.RoomID, CreatedBy: "ann"}
		if r, err := p.h.Hub.CreateRun(ctx, in); err == nil {
			p.ids = append(p.ids, string(r.Row.RunID))
			if len(p.tasks) > 0 {
				_, _ = p.h.Hub.AddRunTasks(ctx, r.Row.RunID, hub.RunTasksInput{TaskIDs: p.tasks[len(p.tasks)-1:]})
			}
		}
	case 10, 11:
		p.set(ctx, room)
	case 12:
		if len(p.tasks) > 0 {
			status := rapid.SampledFrom([]hub.TaskStatus{hub.TaskWorking, hub.TaskInputRequired, hub.TaskDone, hub.TaskFailed, hub.TaskCancelled}).Draw(p.T, "status")
			in := hub.TaskUpdateInput{AgentID: hub.AgentOperator, Status: &status}
			if rapid.Bool().Draw(p.T, "assign") {
				in.Assignee = new(p.agent())
			}
			_, _ = p.h.Hub.UpdateTask(ctx, rapid.SampledFrom(p.tasks).Draw(p.T, "task"), in) // the state may not allow it
		}
	}
}

// set changes one setting of a room, to every value that it can have; also one whose value
// reads as if it were absent.
func (p *randomProject) set(ctx context.Context, room hub.Room) {
	var err error
	switch rapid.IntRange(0, 4).Draw(p.T, "setting") {
	case 0:
		hops := rapid.SampledFrom([]*int{nil, new(0), new(hub.MinGuardHops), new(hub.MaxGuardHops)}).Draw(p.T, "hops")
		_, err = p.h.Hub.SetGuard(ctx, room.RoomID, hub.GuardInput{Hops: hops})
	case 1:
		_, err = p.h.Hub.SetLocks(ctx, room.RoomID, hub.LockPolicyInput{Locks: rapid.SampledFrom(hub.LockPolicies()).Draw(p.T, "locks")})
	case 2:
		_, err = p.h.Hub.RenameRoom(ctx, room.RoomID, hub.RenamedInput{Name: fmt.Sprintf("Renamed %d", rapid.IntRange(0, 1000).Draw(p.T, "name"))})
	case 3:
		_, err = p.h.Hub.ArchiveRoom(ctx, room.RoomID, hub.ArchiveInput{Archived: rapid.Bool().Draw(p.T, "archived")})
	case 4:
		_, err = p.h.Hub.ArchiveProject(ctx, string(p.row.ProjectID), hub.ArchiveInput{Archived: rapid.Bool().Draw(p.T, "archived project")})
	}
	var refused *hub.Error
	if errors.As(err, &refused) && refused.Status == http.StatusConflict {
		return // the state does not allow it, such as a room of an archived project
	}
	require.NoError(p.tb, err)
}

// A check is one run of a property: what it makes with it ends with it, not with the test.
type check struct {
	testing.TB
	ends []func()
}

func (c *check) Cleanup(end func()) { c.ends = append(c.ends, end) }

func (c *check) TempDir() string {
	dir, err := os.MkdirTemp(c.TB.TempDir(), "check")
	require.NoError(c.TB, err)
	c.Cleanup(func() { require.NoError(c.TB, os.RemoveAll(dir)) })
	return dir
}

func (c *check) end() {
	for _, end := range slices.Backward(c.ends) {
		end()
	}
}

// TestImportOfRandomProjects takes random projects through two hubs. The second capsule holds
// the same, whatever the texts are and whatever the second hub held before. Each check has hubs
// of its own, so that a failure can be repeated with the seed that it prints.
func TestImportOfRandomProjects(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		c := &check{TB: t}
		defer c.end()
		here, there := startHub(c), startHub(c)
		for range rapid.IntRange(0, 20).Draw(r, "messages before") {
			_, err := there.Hub.Post(hub.WithCaller(t.Context(), &hub.Caller{}), hub.PostInput{FromAgent: "eve", Channel: hub.DefaultChannel, Kind: hub.KindChat, Body: "before"})
			require.NoError(t, err)
		}
		made, err := here.Hub.CreateProject(operator(t), hub.ProjectInput{Name: "Project"})
		require.NoError(t, err)
		p := &randomProject{T: r, h: here, tb: t, row: made.Row, ids: []string{string(made.Row.ProjectID)}}
		for i := range rapid.IntRange(1, 3).Draw(r, "rooms") {
			room, err := here.Hub.CreateRoom(operator(t), hub.RoomInput{Project: made.Row.Slug, Name: fmt.Sprintf("Room %c", 'A'+i), CreatedBy: "ann", Force: true, ForceReason: "random"})
			require.NoError(t, err)
			p.rooms = append(p.rooms, room.Row)
			p.ids = append(p.ids, string(room.Row.RoomID), string(room.Row.Channel))
		}
		for range rapid.IntRange(0, 40).Draw(r, "steps") {
			p.step()
		}
		scope := rapid.SampledFrom(scopes).Draw(r, "scope of the capsule")
		privacy := rapid.SampledFrom(privacies).Draw(r, "privacy")
		first := written(t, here, capsules.Request{Project: made.Row.ProjectID, Scope: scope, Privacy: privacy, Operator: true})
		back, err := imported(operator(t), verified(t, first), there.Hub)
		require.NoError(t, err)
		second := written(t, there, capsules.Request{Project: back.ProjectID, Scope: scope, Privacy: capsule.FullHistory, Operator: true})
		if d := difference(t, first, second); d != "" {
			r.Fatalf("the project has another content after its import as %s: %s", back.ProjectID, d)
		}
	})
}
