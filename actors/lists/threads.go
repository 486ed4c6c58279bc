package lists

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"strings"

	"hubcli/actors/core"
	"hubcli/actors/view"
	"hubcli/hub"
	"hubcli/internal/answers"
)

// The longest lists of an answer about a thread.
const (
	maxThreadRows  = hub.MaxPageRows       // of messages, and of tasks
	maxThreadBytes = view.MaxPageBytes / 2 // of tasks, of claims, and of locks
)

// Threads lists summaries; see hub.Messages.
func (s *Lists) Threads(ctx context.Context, q hub.ThreadsQuery) ([]hub.ThreadSummary, hub.Cursor, error) {
	w, err := s.cursors.walkPlace(listThreads, q.Cursor, uint64(s.view.Ring.Visible()))
	if err != nil {
		return nil, "", err
	}
	sees, p := view.ViewerOf(ctx, q.Viewer), newPage[hub.ThreadSummary](q.Limit)
	var found []view.FoundThread
	if sees.All {
		found, err = s.allThreads(w, p.limit()+1)
	} else {
		found, err = s.view.Threads.Latest(q.Viewer, w, p.limit()+1)
	}
	if err != nil {
		return nil, "", err
	}
	claims, err := s.claimsPerThread(sees)
	if err != nil {
		return nil, "", err
	}
	locks, err := s.view.Leases.LocksPerThread()
	if err != nil {
		return nil, "", err
	}
	tasks := map[hub.ThreadID][]core.StoredTask{}
	for _, t := range s.view.Tasks.List(sees.Task) {
		if t.Task.ThreadID != nil {
			tasks[*t.Task.ThreadID] = append(tasks[*t.Task.ThreadID], t)
		}
	}
	for _, f := range found {
		if !p.add(summary(f.ID, f.Part, tasks[f.ID], claims[f.ID], locks[f.ID]), walkKey(w.AsOf, uint64(f.At))) {
			break
		}
	}
	return p.end(s.cursors, listThreads, nil)
}

// Thread returns one thread with what viewer may see of it; see hub.Messages.
func (s *Lists) Thread(ctx context.Context, id hub.ThreadID, viewer hub.AgentID) (hub.Thread, error) {
	sees, head := view.ViewerOf(ctx, viewer), s.view.Ring.Visible()
	var part view.ThreadPart
	var err error
	if sees.All {
		part, err = s.wholePart(id, head)
	} else {
		part, err = s.view.Threads.VisiblePart(id, viewer)
	}
	if err != nil {
		return hub.Thread{}, err
	}
	if part.Messages == 0 || part.First > head {
		return hub.Thread{}, hub.Errorf(hub.CodeThreadNotFound, "there is no thread %s", id).
			With("thread_id", id).WithFix("a thread begins with the first message that carries its thread_id")
	}
	t := hub.Thread{}
	if err := s.showMessages(ctx, &t, id, viewer, head); err != nil {
		return hub.Thread{}, err
	}
	open, err := s.showTasks(&t, id, sees)
	if err != nil {
		return hub.Thread{}, err
	}
	claims, locks, err := s.view.Leases.InThread(id)
	if err != nil {
		return hub.Thread{}, err
	}
	if claims, err = s.seenClaims(sees, claims); err != nil {
		return hub.Thread{}, err
	}
	if err := s.showLeases(&t, id, claims, locks); err != nil {
		return hub.Thread{}, err
	}
	t.Thread = summary(id, part, open, int64(len(claims)), int64(len(locks)))
	return t, nil
}

// wholePart sums up a thread for the operator. It reads the messages
// themselves, because no stored part counts each direct message exactly once.
func (s *Lists) wholePart(id hub.ThreadID, head hub.MessageID) (part view.ThreadPart, err error) {
	err = s.rows.Messages(view.ThreadScope(id), 0, head, false, func(m *core.StoredMessage) bool {
		part.Add(m)
		return part.Messages < view.MaxExamined
	})
	return part, err
}

// allThreads lists the first n threads of a walk for the operator, latest first.
func (s *Lists) allThreads(w view.Walk, n int) ([]view.FoundThread, error) {
	latest := map[hub.ThreadID]hub.MessageID{}
	var bad error
	add := func(id hub.ThreadID, value []byte) bool {
		var part view.ThreadPart
		part, bad = view.DecodeThreadPart(value)
		latest[id] = max(latest[id], part.Latest)
		return bad == nil
	}
	err := s.rows.RowsOf(core.TableThread, nil, false, func(key, value []byte) bool { return add(hub.ThreadID(key), value) })
	if err = cmp.Or(err, bad); err != nil {
		return nil, err
	}
	err = s.rows.RowsOf(core.TableThreadAgent, nil, false, func(key, value []byte) bool {
		_, id, _ := strings.Cut(string(key), "\x00")
		return add(hub.ThreadID(id), value)
	})
	if err = cmp.Or(err, bad); err != nil {
		return nil, err
	}
	found := view.Firsts[view.FoundThread]{N: n, Compare: view.LatestThread}
	for id, at := range latest {
		if at, err = s.view.Threads.AsOf(id, at, w, view.Viewer{All: true}); err != nil {
			return nil, err
		}
		if at != 0 {
			found.Add(view.FoundThread{ID: id, At: at})
		}
	}
	out, head := found.Sorted(), s.view.Ring.Visible()
	for i := range out {
		if out[i].Part, err = s.wholePart(out[i].ID, head); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// showMessages shows the latest rows of a thread that viewer may see, oldest first.
func (s *Lists) showMessages(ctx context.Context, t *hub.Thread, id hub.ThreadID, viewer hub.AgentID, head hub.MessageID) (err error) {
	sees, seen, bytes, more := view.ViewerOf(ctx, viewer), 0, 0, false
	share := s.view.SharePage(ctx)
	defer func() { // also where a read panics
		if full := share.Used(ctx, bytes); full != nil {
			t.Messages, err = nil, full
		}
	}()
	err = s.rows.Messages(view.ThreadScope(id), 0, head, true, func(m *core.StoredMessage) bool {
		if seen++; seen > view.MaxExamined {
			more = true // it is unknown whether the viewer may see one of the rest
		} else if sees.Message(m) {
			if more = len(t.Messages) == maxThreadRows || bytes >= share.Bytes(); !more {
				t.Messages = append(t.Messages, m.JSON)
				bytes += len(m.JSON)
			}
		}
		return !more
	})
	slices.Reverse(t.Messages)
	if more {
		t.More.Add("messages", messagesCall(id, viewer, sees))
	}
	return err
}

// messagesCall returns the call that reads all messages of a thread that a viewer may see. It
// marks no message as seen, and does not wait.
func messagesCall(id hub.ThreadID, viewer hub.AgentID, sees view.Viewer) string {
	switch {
	case sees.All:
		return hub.GetCall("/v1/log", "thread_id", string(id), "direct", "true")
	case viewer == "":
		return hub.GetCall("/v1/messages", "thread_id", string(id))
	}
	return hub.GetCall("/v1/events", "thread_id", string(id), "agent_id", string(viewer), "peek", "true", "timeout", "0")
}

// showTasks shows the tasks of a thread that viewer may see, oldest first. Where they are too
// many, the latest of those that have ended are left out first. It returns all that have not
// ended.
func (s *Lists) showTasks(t *hub.Thread, id hub.ThreadID, sees view.Viewer) (open []core.StoredTask, err error) {
	var ended []hub.Task
	var bad error
	err = s.rows.RowsOf(core.TableTaskByThread, []byte(string(id)+"\x00"), false, func(key, _ []byte) bool {
		taskID := hub.TaskID(binary.BigEndian.Uint64(key[len(key)-8:]))
		task, live := s.view.Tasks.Get(taskID)
		if !live {
			if len(ended) > maxThreadRows {
				return true // it is known that there are more, and no other is read
			}
			if task, bad = s.view.StoredTask(taskID); bad != nil {
				return false
			}
		}
		switch {
		case !sees.Task(&task):
		case !task.Task.Status.Terminal():
			open = append(open, task)
		case len(ended) <= maxThreadRows:
			ended = append(ended, s.view.TaskRow(&task, sees))
		}
		return true
	})
	if err = errors.Join(err, bad); err != nil {
		return nil, err
	}
	rows := []hub.Task{}
	for i := range open[:min(len(open), maxThreadRows)] {
		rows = append(rows, s.view.TaskRow(&open[i], sees))
	}
	rows = append(rows, ended[:min(len(ended), maxThreadRows-len(rows))]...)
	all := len(rows) == len(open)+len(ended)
	slices.SortFunc(rows, func(a, b hub.Task) int { return cmp.Compare(a.TaskID, b.TaskID) })
	fitting, allFit := answers.Fitting(rows, maxThreadBytes)
	if t.Tasks = fitting; !all || !allFit {
		t.More.Add("tasks", hub.GetCall("/v1/tasks", "thread_id", string(id), "agent_id", string(sees.Agent)))
	}
	return open, nil
}

// claimsPerThread counts the held claims of every thread that the viewer may see.
func (s *Lists) claimsPerThread(sees view.Viewer) (map[hub.ThreadID]int64, error) {
	held, err := s.view.Leases.List(core.SpaceClaim, func(l *core.Lease) bool { return l.Thread != "" })
	if err != nil {
		return nil, err
	}
	claims := map[hub.ThreadID]int64{}
	for i := range held {
		may, err := s.view.SeesLease(sees, &held[i])
		if err != nil {
			return nil, err
		}
		if may {
			claims[held[i].Thread]++
		}
	}
	return claims, nil
}

// seenClaims leaves out the rows of the claims that the viewer may not see.
func (s *Lists) seenClaims(sees view.Viewer, rows [][]byte) (seen [][]byte, err error) {
	for _, row := range rows {
		l, err := view.DecodeLease(row)
		if err != nil {
			return nil, err
		}
		may, err := s.view.SeesLease(sees, &l)
		if err != nil {
			return nil, err
		}
		if may {
			seen = append(seen, row)
		}
	}
	return seen, nil
}

// showLeases shows claims and locks from their rows.
func (s *Lists) showLeases(t *hub.Thread, id hub.ThreadID, claims, locks [][]byte) (err error) {
	now := s.engine.Clock.Now()
	var all bool
	if t.Claims, all, err = fittingLeases(claims, func(l *core.Lease) hub.Claim { return l.Claim(now) }); !all {
		t.More.Add("claims", hub.GetCall("/v1/claims", "thread_id", string(id), "active_only", "true"))
	}
	if err != nil {
		return err
	}
	if t.Locks, all, err = fittingLeases(locks, func(l *core.Lease) hub.Lock { return l.Lock(now) }); !all {
		t.More.Add("locks", hub.GetCall("/v1/locks", "active_only", "true")) // no filter has the thread
	}
	return err
}

// fittingLeases shows the leases of those rows that fit. They are chosen before they are
// decoded.
func fittingLeases[Row any](rows [][]byte, show func(*core.Lease) Row) (shown []Row, all bool, err error) {
	rows, all = answers.Fitting(rows, maxThreadBytes)
	shown = make([]Row, len(rows))
	for i, row := range rows {
		l, err := view.DecodeLease(row)
		if err != nil {
			return nil, all, err
		}
		shown[i] = show(&l)
	}
	return shown, all, nil
}

// summary sums up what a viewer may see of a thread.
func summary(id hub.ThreadID, p view.ThreadPart, open []core.StoredTask, claims, locks int64) hub.ThreadSummary {
	s := hub.ThreadSummary{
		ThreadID: id, Channel: p.Channel, RootTaskID: core.Optional(p.Root), LatestMessageID: p.Latest, LatestMessageTS: p.LatestTS,
		LatestArtifactID: core.Optional(p.Artifact), MessageCount: p.Messages, TotalTaskCount: p.Tasks,
		OpenTaskCount: int64(len(open)), ActiveClaimCount: claims, ActiveLockCount: locks, Status: hub.ThreadOpen,
	}
	if p.Tasks > 0 && len(open) == 0 {
		s.Status = hub.ThreadCompleted
	}
	for i := range open {
		if open[i].Task.Status == hub.TaskInputRequired {
			s.Status = hub.ThreadWaiting
		}
	}
	return s
}
