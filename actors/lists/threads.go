package lists

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"strings"

	"hubcli/actors/core"
	"hubcli/actors/view"
	"hubcli/hub"
)

// maxThreadRows is how many messages an answer about a thread carries at most:
// the latest.
const maxThreadRows = hub.MaxPageRows

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
	claims, locks, err := s.view.Leases.PerThread()
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
	rows, err := s.threadRows(ctx, id, sees, head)
	if err != nil {
		return hub.Thread{}, err
	}
	tasks, open, err := s.threadTasks(id, sees)
	if err != nil {
		return hub.Thread{}, err
	}
	claims, locks, err := s.view.Leases.InThread(id)
	if err != nil {
		return hub.Thread{}, err
	}
	t := hub.Thread{
		Thread:   summary(id, part, open, int64(len(claims)), int64(len(locks))),
		Messages: rows, Tasks: tasks, Claims: []hub.Claim{}, Locks: []hub.Lock{},
	}
	now := s.engine.Clock.Now()
	for i := range claims {
		t.Claims = append(t.Claims, claims[i].Claim(now))
	}
	for i := range locks {
		t.Locks = append(t.Locks, locks[i].Lock(now))
	}
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

// threadRows returns the latest rows of a thread that viewer may see, oldest
// first.
func (s *Lists) threadRows(ctx context.Context, id hub.ThreadID, sees view.Viewer, head hub.MessageID) (rows []hub.EncodedMessage, err error) {
	seen, bytes := 0, 0
	share := s.view.SharePage(ctx)
	defer func() { // also where a read panics
		if full := share.Used(ctx, bytes); full != nil {
			rows, err = nil, full
		}
	}()
	err = s.rows.Messages(view.ThreadScope(id), 0, head, true, func(m *core.StoredMessage) bool {
		seen++
		if sees.Message(m) {
			rows = append(rows, m.JSON)
			bytes += len(m.JSON)
		}
		return len(rows) < maxThreadRows && seen < view.MaxExamined && bytes < share.Bytes()
	})
	for i, j := 0, len(rows)-1; i < j; i, j = i+1, j-1 {
		rows[i], rows[j] = rows[j], rows[i]
	}
	return rows, err
}

// threadTasks returns the tasks of a thread that viewer may see, oldest first,
// and those of them that have not ended.
func (s *Lists) threadTasks(id hub.ThreadID, sees view.Viewer) (rows []hub.Task, open []core.StoredTask, err error) {
	rows = []hub.Task{}
	var bad error
	err = s.rows.RowsOf(core.TableTaskByThread, []byte(string(id)+"\x00"), false, func(key, _ []byte) bool {
		taskID := hub.TaskID(binary.BigEndian.Uint64(key[len(key)-8:]))
		t, live := s.view.Tasks.Get(taskID)
		if !live {
			if t, bad = s.view.StoredTask(taskID); bad != nil {
				return false
			}
		}
		if sees.Task(&t) {
			rows = append(rows, s.view.TaskRow(&t, sees))
			if !t.Task.Status.Terminal() {
				open = append(open, t)
			}
		}
		return len(rows) < maxThreadRows
	})
	return rows, open, errors.Join(err, bad)
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
