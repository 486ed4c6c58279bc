package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"hubcli/hub"
)

// workTools take a task with all that it needs, and finish it.
func workTools() []tool {
	return []tool{
		define(tool{
			name: "hub_take", title: "Take a task",
			description: "Before you start a task: become its assignee, claim it and lock files, all or nothing. Without task_id: your next task, else a ready one of your room.",
		}, takeTool),
		define(tool{
			name: "hub_done", title: "Finish a task", idempotent: true,
			description: "Finish a task: tells the agent that asked for it, and releases your claims on it and what hub_take locked for it. A sub-agent ends its own tasks only.",
		}, done),
	}
}

// defaultTake is how long the leases of a task hold, unless the call says: as
// long as a task may take. hub_done ends them earlier.
const defaultTake = 30 * time.Minute

type takeIn struct {
	TaskID         hub.TaskID `json:"task_id,omitempty" jsonschema:"id"`
	Files          []string   `json:"files,omitempty" jsonschema:"paths to lock"`
	TTLSec         int        `json:"ttl_sec,omitempty" jsonschema:"default 1800" range:"ClaimInput.ttl_sec"`
	IdempotencyKey string     `json:"idempotency_key,omitempty" jsonschema:"same key: runs once"`
}

// taken is the answer to hub_take. If Taken is false, nothing was taken, and
// Missing says why.
type taken struct {
	Taken   bool         `json:"taken"`
	Task    *shownTask   `json:"task,omitempty" lean:"-"`
	Files   []string     `json:"files,omitempty" lean:"-"` // locked, by the names that the locks have
	Seconds int          `json:"expires_in_sec,omitempty" lean:"-"`
	Missing []shownLease `json:"missing,omitempty"` // what other agents hold
}

const mostTakeFiles = 50

func takeTool(ctx context.Context, c *call, in takeIn) (*answer, error) {
	if len(in.Files) > mostTakeFiles {
		return nil, hub.Invalid("files", "there are too many files").With("limit", mostTakeFiles).WithFix("lock their folder, or a pattern: it covers all of them")
	}
	paths := make([]string, 0, len(in.Files))
	for _, file := range in.Files {
		path, err := c.bridge.lockPath(file)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	if in.TTLSec == 0 {
		in.TTLSec = int(defaultTake / time.Second)
	}
	if in.TaskID == 0 {
		var err error
		if in.TaskID, err = c.tookBefore(ctx, in); err != nil {
			return nil, err
		}
	}
	if in.TaskID != 0 {
		task, err := c.hub().Task(ctx, in.TaskID, c.agent())
		if err != nil {
			return nil, err
		}
		return c.takeTask(ctx, in, paths, &task)
	}
	return c.takeNext(ctx, in, paths)
}

// takeNext takes the oldest ready task that was given to the agent, else the oldest of its room that
// is ready and that no agent has.
func (c *call) takeNext(ctx context.Context, in takeIn, paths []string) (*answer, error) {
	room, err := c.room(ctx, "")
	if err != nil {
		return nil, err
	}
	ready, err := c.tasksToTake(ctx, room)
	if err != nil {
		return nil, err
	}
	for i := range ready {
		a, err := c.takeTask(ctx, in, paths, &ready[i])
		if err != nil {
			if code := asError(err).Code; code == hub.CodeTaskTaken || code == hub.CodeBlocked || code == hub.CodeUndecided {
				continue // it has changed meanwhile
			}
			return nil, err
		}
		if a.data.(taken).claimed(&ready[i]) {
			continue // another agent was faster
		}
		return a, nil
	}
	return &answer{data: taken{}, line: inRoom("no task is ready that no agent has. hub_list_tasks shows what the others wait for.", room)}, nil
}

// tasksToTake returns the tasks that the agent can begin: those that were given to it, then those of
// its room that no agent has, each kind by age.
func (c *call) tasksToTake(ctx context.Context, room hub.RoomID) ([]hub.Task, error) {
	given, err := hub.All(ctx, c.hub().Tasks, hub.TasksQuery{
		Viewer: c.agent(), Assignee: c.agent(), Status: hub.TaskOpen, Ready: new(true), Limit: hub.MaxPageRows,
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(given, func(a, b hub.Task) int { return cmp.Compare(a.TaskID, b.TaskID) })
	free, err := c.readyTasks(ctx, room)
	return append(given, free...), err
}

// claimed reports whether another agent holds the claim of the task.
func (t taken) claimed(task *hub.Task) bool {
	for _, l := range t.Missing {
		if l.TaskID == task.TaskID {
			return true
		}
	}
	return false
}

// takeTask takes the leases first, then the task. What it has got it gives back
// where something is missing.
func (c *call) takeTask(ctx context.Context, in takeIn, paths []string, task *hub.Task) (*answer, error) {
	left := task.AssigneeGoneSince != nil && hub.Value(task.Assignee) != c.agent()
	g := gathering{c: c, in: in, task: task, had: map[string]bool{}}
	err := g.look(ctx)
	if err == nil {
		err = g.leases(ctx, paths)
	}
	var comes bool
	if err == nil {
		comes, err = g.comesWithTask(ctx, paths)
	}
	if comes {
		if err = g.accept(ctx); err == nil {
			g.missing = nil
			err = g.leases(ctx, paths)
		}
	}
	var row hub.Task
	if err == nil && len(g.missing) == 0 {
		row, err = g.assign(ctx)
	}
	if err != nil || len(g.missing) > 0 {
		g.back(ctx)
		if err != nil {
			return nil, err
		}
		return g.refused(), nil
	}
	t := showTask(&row)
	line := fmt.Sprintf("You have task #%d (%s)", t.TaskID, quoted(t.Title, 100))
	if left {
		line += ", which " + word(string(hub.Value(task.Assignee))) + " had, with what it had claimed and locked for it,"
	}
	if len(paths) > 0 {
		line += " and the locks on " + counted(len(paths), "file")
	}
	line += fmt.Sprintf(" for %d s. When done: hub_done.", in.TTLSec)
	return &answer{
		data: taken{Taken: true, Task: &t, Files: paths, Seconds: in.TTLSec}, line: line,
		untrusted: []string{"task.title", "task.thread_id", "files"},
	}, nil
}

// gathering is a task that is being taken, with what has been got so far.
type gathering struct {
	c       *call
	in      takeIn
	task    *hub.Task
	had     map[string]bool      // keys and paths that the agent held before
	claims  []hub.ClaimHoldInput // got by this call
	locks   []hub.LockHoldInput
	missing []shownLease
}

// key returns ctx with the idempotency key of one write of the call.
func (g *gathering) key(ctx context.Context, write string) context.Context {
	return g.c.keyFor(ctx, g.in.IdempotencyKey, fmt.Sprintf("%s for %d", write, g.task.TaskID))
}

// madeBy is the metadata of a claim that a call without task_id has made. It
// tells a repetition of the call which task it took.
type madeBy struct {
	Call string `json:"call"`
}

func (c *call) takeMark(in takeIn) madeBy {
	return madeBy{keyOf(cmp.Or(in.IdempotencyKey, c.nonce), "take")}
}

// tookBefore returns the task that this call took when it was made before, or 0.
func (c *call) tookBefore(ctx context.Context, in takeIn) (hub.TaskID, error) {
	if in.IdempotencyKey == "" && !c.again {
		return 0, nil
	}
	mark := c.takeMark(in)
	for row, err := range hub.Walk(ctx, c.hub().Claims, hub.LeasesQuery{Owner: c.agent(), Viewer: c.agent(), Limit: hub.MaxPageRows}) {
		if err != nil {
			return 0, err
		}
		var made madeBy
		if json.Unmarshal(row.Metadata, &made) == nil && made == mark {
			return hub.Value(row.TaskMessageID), nil
		}
	}
	return 0, nil
}

// forTask is the metadata of a lock that belongs to a task.
func forTask(id hub.TaskID) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"task_id":%d}`, id))
}

// look notes what the agent holds already: that is not given back.
func (g *gathering) look(ctx context.Context) error {
	for row, err := range hub.Walk(ctx, g.c.hub().Claims, g.c.mine()) {
		if err != nil {
			return err
		}
		g.had[string(row.ClaimKey)] = true
	}
	for row, err := range hub.Walk(ctx, g.c.hub().Locks, g.c.mine()) {
		if err != nil {
			return err
		}
		g.had[row.FilePath] = true
	}
	return nil
}

// mine selects the leases that the agent holds.
func (c *call) mine() hub.LeasesQuery {
	return hub.LeasesQuery{Owner: c.agent(), ActiveOnly: true, Viewer: c.agent(), Limit: hub.MaxPageRows}
}

func (g *gathering) leases(ctx context.Context, paths []string) error {
	me := g.c.agent()
	mark, err := compact(g.c.takeMark(g.in))
	if err != nil {
		return err
	}
	claim, err := g.c.hub().Claim(g.key(ctx, "claim"), hub.ClaimInput{
		OwnerAgentID: me, TaskMessageID: g.task.TaskID, TTLSec: g.in.TTLSec, Metadata: mark,
	})
	if err != nil {
		return err
	}
	if !claim.Acquired {
		l := showClaim(&claim.Row)
		l.TaskID = g.task.TaskID
		g.missing = append(g.missing, l)
	} else if !g.had[string(claim.Row.ClaimKey)] {
		g.claims = append(g.claims, hub.ClaimHoldInput{ClaimKey: claim.Row.ClaimKey, AgentID: me, Fence: claim.Row.Fence})
	}
	for _, path := range paths {
		lock, err := g.c.hub().Lock(g.key(ctx, "lock "+path), hub.LockInput{
			FilePath: path, AgentID: me, TTLSec: g.in.TTLSec, Metadata: forTask(g.task.TaskID),
		})
		if err != nil {
			return err
		}
		if !lock.Acquired {
			l := showLock(&lock.Row)
			if ofTask(lock.Row.Metadata, g.task.TaskID) {
				l.TaskID = g.task.TaskID
			}
			g.missing = append(g.missing, l)
		} else if !g.had[path] {
			g.locks = append(g.locks, hub.LockHoldInput{FilePath: path, AgentID: me, Fence: lock.Row.Fence})
		}
	}
	return nil
}

// comesWithTask reports whether the agent gets all that is missing with the task, when it accepts
// it or takes it over: its assignee holds it for the task.
func (g *gathering) comesWithTask(ctx context.Context, paths []string) (bool, error) {
	if len(g.missing) == 0 || hub.Value(g.task.OfferedTo) != g.c.agent() && g.task.AssigneeGoneSince == nil {
		return false, nil
	}
	if slices.ContainsFunc(g.missing, func(l shownLease) bool { return l.Holder != hub.Value(g.task.Assignee) || l.TaskID != g.task.TaskID }) {
		return false, nil
	}
	for _, path := range paths { // a folder or a pattern may overlap more locks than the one that is missing
		for l, err := range hub.Walk(ctx, g.c.hub().Locks, hub.LeasesQuery{Covering: path, ActiveOnly: true, Limit: hub.MaxPageRows}) {
			if err != nil {
				return false, err
			}
			if l.AgentID != g.c.agent() && (l.AgentID != hub.Value(g.task.Assignee) || !ofTask(l.Metadata, g.task.TaskID)) {
				g.missing = append(g.missing, showLock(&l))
				return false, nil
			}
		}
	}
	return true, nil
}

// accept takes the task over if it is offered to the agent, or if its assignee has gone.
func (g *gathering) accept(ctx context.Context) error {
	var err error
	switch {
	case hub.Value(g.task.OfferedTo) == g.c.agent():
		_, err = g.c.hub().AcceptTask(g.key(ctx, "accept"), g.task.TaskID, hub.OfferInput{AgentID: g.c.agent()})
		g.task.OfferedTo = nil
	case g.task.AssigneeGoneSince != nil:
		_, err = g.begin(ctx)
		g.task.AssigneeGoneSince = nil
	}
	return err
}

// assign makes the agent the assignee and the task one that is worked on.
func (g *gathering) assign(ctx context.Context) (hub.Task, error) {
	if err := g.accept(ctx); err != nil {
		return hub.Task{}, err
	}
	return g.begin(ctx)
}

func (g *gathering) begin(ctx context.Context) (hub.Task, error) {
	me, working := g.c.agent(), hub.TaskWorking
	out, err := g.c.hub().UpdateTask(g.key(ctx, "assign"), g.task.TaskID, hub.TaskUpdateInput{AgentID: me, Assignee: &me, Status: &working})
	return out.Row, err
}

// back gives back what this call has got. What cannot be given back now ends by
// itself.
func (g *gathering) back(ctx context.Context) {
	for _, hold := range g.locks {
		_, _ = g.c.hub().ReleaseLock(g.key(ctx, "back "+hold.FilePath), hold)
	}
	for _, hold := range g.claims {
		_, _ = g.c.hub().ReleaseClaim(g.key(ctx, "back"), hold)
	}
}

func (g *gathering) refused() *answer {
	var parts []string
	for i := range g.missing {
		l := &g.missing[i]
		l.ExpiresInSec = g.c.left(l.ExpiresAt)
		if l.Holder == g.c.agent() {
			parts = append(parts, fmt.Sprintf("an earlier call with this idempotency_key took %s, and it has ended since", quoted(l.Key, 120)))
		} else if len(parts) < 3 {
			parts = append(parts, fmt.Sprintf("%s has %s for %d s more", word(string(l.Holder)), quoted(l.Key, 120), l.ExpiresInSec))
		}
	}
	return &answer{
		data: taken{Missing: g.missing}, untrusted: []string{"missing[].key", "missing[].thread_id"},
		line: "Nothing was taken: " + strings.Join(parts, "; ") + ". Do other work, or ask the holder with hub_dm.",
	}
}
