package actors

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hubcli/hub"
	"hubcli/internal/require"
)

// room makes a project and a room in it.
func (r *rig) makeRoom(name string) hub.Room {
	r.t.Helper()
	p, err := r.CreateProject(context.Background(), hub.ProjectInput{Name: name})
	require.NoError(r.t, err)
	room, err := r.CreateRoom(context.Background(), hub.RoomInput{Project: string(p.Row.ProjectID), Name: name})
	require.NoError(r.t, err)
	return room.Row
}

func (r *rig) task(in hub.PostInput) hub.TaskID {
	r.t.Helper()
	in.Kind = hub.KindTask
	return r.post(in).ID
}

func (r *rig) endTask(id hub.TaskID, status hub.TaskStatus) {
	r.t.Helper()
	if _, err := r.UpdateTask(asOperator(context.Background()), id, hub.TaskUpdateInput{AgentID: "ben", Status: &status}); err != nil {
		r.t.Fatal(err)
	}
}

// watchOf is a query of ann's in room.
func watchOf(t testing.TB, room hub.RoomID, wait time.Duration, until ...string) hub.WatchQuery {
	t.Helper()
	q := hub.WatchQuery{Agent: "ann", Room: room, Wait: wait}
	for _, text := range until {
		c, err := hub.ParseCondition("until", text)
		require.NoError(t, err)
		q.Until = append(q.Until, c)
	}
	return q
}

func (r *rig) look(q hub.WatchQuery) hub.Watched {
	r.t.Helper()
	got, err := r.Watch(context.Background(), q)
	require.NoError(r.t, err)
	return got
}

// parkWatch begins a watch and returns when it waits.
func (r *rig) parked(q hub.WatchQuery) <-chan result[hub.Watched] {
	r.t.Helper()
	_, _, before := r.view.Directory.Counts()
	answer := async(func() (hub.Watched, error) { return r.Watch(context.Background(), q) })
	for range 10_000 {
		if _, _, n := r.view.Directory.Counts(); n > before {
			return answer
		}
		time.Sleep(time.Millisecond)
	}
	r.t.Fatal("the watch does not wait")
	return nil
}

// TestConditions evaluates every form once on one history.
func TestConditions(t *testing.T) {
	r := start(t, newMemStore())
	room := r.makeRoom("ops")
	for _, a := range []hub.AgentID{"ann", "ben", "cleo", "dan"} {
		r.register(a)
	}
	open := r.task(hub.PostInput{FromAgent: "ann", Body: "open"})
	done, failed := r.task(hub.PostInput{FromAgent: "ann", Body: "done"}), r.task(hub.PostInput{FromAgent: "ann", Body: "failed"})
	r.endTask(done, hub.TaskDone)
	r.endTask(failed, hub.TaskFailed)
	private := r.task(hub.PostInput{FromAgent: "ben", ToAgent: "cleo", Body: "private"})
	run := func(ids ...hub.TaskID) hub.RunID {
		row, err := r.CreateRun(context.Background(), hub.RunInput{Title: "r", TaskIDs: ids})
		require.NoError(t, err)
		return row.Row.RunID
	}
	part := r.task(hub.PostInput{FromAgent: "ann", Body: "part"})
	empty, ended := run(), run(part)
	r.endTask(part, hub.TaskCancelled)
	r.say("ben", room.Channel, "in the room")
	r.post(hub.PostInput{FromAgent: "cleo", ToAgent: "ann", Body: "direct"})
	r.say("dan", hub.DefaultChannel, "elsewhere")

	for _, c := range []struct {
		until string
		met   bool
		why   string
		code  hub.Code
	}{
		{fmt.Sprintf("tasks-complete:%d", open), false, fmt.Sprintf("task %d is open", open), ""},
		{fmt.Sprintf("tasks-complete:%d", done), true, fmt.Sprintf("task %d is done", done), ""},
		{fmt.Sprintf("tasks-complete:%d,%d", done, failed), true, fmt.Sprintf("task %d is done, task %d is failed", done, failed), ""},
		{fmt.Sprintf("tasks-complete:%d,%d", done, open), false, fmt.Sprintf("task %d is done, task %d is open", done, open), ""},
		{fmt.Sprintf("tasks-complete:%d", private), false, "", hub.CodeTaskNotFound},
		{"tasks-complete:99999", false, "", hub.CodeTaskNotFound},
		{"run-complete:" + string(empty), false, "it has no tasks", ""},
		{"run-complete:" + string(ended), true, "is cancelled", ""},
		{"run-complete:run_zzz", false, "", hub.CodeRunNotFound},
		{"run-complete:nonsense", false, "", hub.CodeRunNotFound},
		{"message-from:ben", true, "from ben is unread", ""},
		{"message-from:cleo", true, "from cleo is unread", ""},
		{"message-from:dan", false, "no unread message from dan", ""},
		{"message-from:ann", false, "no unread message from ann", ""},
		{"message-from:operator", false, "no unread message", ""},
		{"message-from:nobody", false, "", hub.CodeSessionNotFound},
		{"seat-idle:nobody", false, "", hub.CodeSessionNotFound},
		{"for-me", true, "is for you and unread", ""},
		{"task-ready", false, "no task of room", ""},
		{"task-ready:r_zzz", false, "", hub.CodeRoomNotFound},
		{fmt.Sprintf("answered:%d", open), false, fmt.Sprintf("no answer to message %d", open), ""},
		{fmt.Sprintf("answered:%d", done), true, fmt.Sprintf("task %d is done", done), ""},
		{fmt.Sprintf("answered:%d", private), false, "", hub.CodeMessageNotFound},
		{"answered:99999", false, "", hub.CodeMessageNotFound},
	} {
		t.Run(c.until, func(t *testing.T) {
			got, err := r.Watch(context.Background(), watchOf(t, room.RoomID, 0, c.until))
			if wantCode(t, err, c.code); err != nil {
				return
			}
			if state := got.Conditions[0]; got.Met != c.met || state.Met != c.met || !strings.Contains(state.Why, c.why) {
				t.Errorf("met %v, %+v, want %v because %q", got.Met, state, c.met, c.why)
			}
		})
	}
	_, err := r.Watch(context.Background(), watchOf(t, "r_zzz", 0, "message-from:ben"))
	wantCode(t, err, hub.CodeRoomNotFound)
	if got := r.look(watchOf(t, room.RoomID, 0, "message-from:ben", "message-from:dan", "message-from:cleo")); got.Met {
		t.Error("one of three does not hold, and the watch is met")
	} else if len(got.Messages) != 2 || got.Unread != 2 {
		t.Errorf("it shows %+v of %d unread", got.Messages, got.Unread)
	}
}

// TestWatchWakes: each kind of change wakes the watch that waits for it, and only
// with all conditions at once; a wake notice is in the inbox before the answer.
func TestWatchWakes(t *testing.T) {
	r := start(t, newMemStore())
	room := r.makeRoom("ops")
	r.register("ann")
	r.register("ben")
	one, two := r.task(hub.PostInput{FromAgent: "ann", Body: "1"}), r.task(hub.PostInput{FromAgent: "ann", Body: "2"})
	run, err := r.CreateRun(context.Background(), hub.RunInput{Title: "r", TaskIDs: []hub.TaskID{two}})
	require.NoError(t, err)
	answer := r.parked(watchOf(t, room.RoomID, time.Minute,
		fmt.Sprintf("tasks-complete:%d", one), "run-complete:"+string(run.Row.RunID), "message-from:ben"))
	r.endTask(one, hub.TaskDone)
	r.say("ben", room.Channel, "ready")
	if _, err := r.Events(context.Background(), hub.EventsQuery{Agent: "ann", Since: hub.MaxMessageID, Limit: 1}); err != nil {
		t.Fatal(err) // now it has seen it
	}
	r.endTask(two, hub.TaskDone)
	select {
	case got := <-answer:
		t.Fatalf("answered %+v, %v before all conditions held at once", got.v, got.err)
	case <-time.After(20 * time.Millisecond):
	}
	r.post(hub.PostInput{FromAgent: "ben", ToAgent: "ann", Body: "again"})
	got := within(t, answer)
	if got.err != nil || !got.v.Met || len(got.v.Conditions) != 3 || len(got.v.Messages) != 1 {
		t.Fatalf("%+v, %v", got.v, got.err)
	}
	inbox, err := r.Inbox(context.Background(), hub.InboxQuery{Agent: "ann", Limit: 10})
	require.NoError(t, err)
	rows := decodeAll(t, inbox.Rows)
	notice := rows[len(rows)-1]
	if notice.FromAgent != hub.AgentSystem || !strings.Contains(string(notice.Metadata), `"reason":"watch"`) ||
		!strings.Contains(string(notice.Metadata), "message-from:ben") || len(notice.Body)+len(notice.Metadata) > 512 {
		t.Errorf("the last message in the inbox is %+v", notice)
	}
	if got := r.look(watchOf(t, room.RoomID, time.Minute, "message-from:ben")); !got.Met {
		t.Error("a wake notice has hidden the message")
	}
	if again, _ := r.Inbox(context.Background(), hub.InboxQuery{Agent: "ann", Limit: 10}); len(again.Rows) != len(rows) {
		t.Error("a watch that held at once has posted a notice")
	}
}

// TestMessageBetweenPollAndWatch: what came after the last poll is not lost.
func TestMessageBetweenPollAndWatch(t *testing.T) {
	r := start(t, newMemStore())
	room := r.makeRoom("ops")
	r.register("ben")
	first := r.say("ben", room.Channel, "old")
	poll := func(since hub.MessageID) {
		if _, err := r.Events(context.Background(), hub.EventsQuery{Agent: "ann", RoomID: room.RoomID, Since: since, Limit: 1}); err != nil {
			t.Fatal(err)
		}
	}
	poll(first.ID)
	if got := r.look(watchOf(t, room.RoomID, 0, "message-from:ben")); got.Met {
		t.Errorf("what was polled past counts: %+v", got)
	}
	between := r.say("ben", room.Channel, "between")
	if got := r.look(watchOf(t, room.RoomID, time.Minute, "message-from:ben")); !got.Met || got.Messages[0].ID != between.ID || got.NextSinceID != first.ID {
		t.Errorf("the message between poll and watch: %+v", got)
	}
}

// TestRingsCostTheSame: what a watch that waits takes, in time and memory, does not
// grow with what is unread nor with how often it was rung.
func TestRingsCostTheSame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, newMemStore())
		room := r.makeRoom("ops")
		r.register("ann")
		r.register("ben")
		for range 3_000 {
			r.say("cleo", room.Channel, "@ann look")
		}
		answer := async(func() (hub.Watched, error) {
			return r.Watch(context.Background(), watchOf(t, room.RoomID, time.Hour, "message-from:ben", "for-me", "task-ready", "seat-idle:ben"))
		})
		synctest.Wait()
		objects := func() (all, live uint64) {
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			return m.Mallocs, m.HeapObjects
		}
		const rings = 2_000
		all, live := objects()
		for range rings {
			r.Touch("ben", false)
			synctest.Wait()
		}
		allThen, liveThen := objects()
		if perRing := (allThen - all) / rings; perRing > 20 {
			t.Errorf("a ring takes %d objects", perRing)
		}
		if liveThen > live+rings/2 {
			t.Errorf("%d rings have left %d objects", rings, liveThen-live)
		}
		r.say("ben", room.Channel, "x")
		r.task(hub.PostInput{FromAgent: "ben", Channel: room.Channel, Body: "t"})
		time.Sleep(2 * time.Minute)
		if got := <-answer; got.err != nil || !got.v.Met || got.v.Unread != hub.MaxUnread || len(got.v.Messages) == 0 {
			t.Errorf("%+v, %v", got.v, got.err)
		}
		r.stop()
	})
}

// TestOneWatchPerLabel: a later watch of the label ends the one before.
func TestOneWatchPerLabel(t *testing.T) {
	r := start(t, newMemStore())
	room := r.makeRoom("ops")
	r.register("ben")
	q := watchOf(t, room.RoomID, time.Minute, "message-from:ben")
	q.Label = "a"
	first := r.parked(q)
	other := q
	other.Label = "b"
	second := r.parked(other)
	third := async(func() (hub.Watched, error) { return r.Watch(context.Background(), q) })
	wantCode(t, within(t, first).err, hub.CodeWatchReplaced) // the third waits now
	if label, conditions, parked := r.watches.Of("ann"); label != "a" || !parked || len(conditions) != 1 {
		t.Errorf("ann waits for %v as %q: %v", conditions, label, parked)
	}
	r.say("ben", room.Channel, "x")
	for _, c := range []<-chan result[hub.Watched]{second, third} {
		if got := within(t, c); got.err != nil || !got.v.Met {
			t.Errorf("%+v, %v", got.v, got.err)
		}
	}
	if _, conditions, parked := r.watches.Of("ann"); parked || len(conditions) != 0 {
		t.Errorf("ann still waits for %v", conditions)
	}
}

// TestWatcherSession: while a watch waits its agent has a sibling session, which
// leaves the agent's own alone and is not listed.
func TestWatcherSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, newMemStore())
		room := r.makeRoom("ops")
		own := r.register("ann")
		r.register("ben")
		answer := async(func() (hub.Watched, error) {
			return r.Watch(context.Background(), watchOf(t, room.RoomID, time.Hour, "message-from:ben"))
		})
		time.Sleep(time.Second)
		synctest.Wait()
		if s, _, live := r.view.Directory.Session("ann.watch"); !live || !s.Active {
			t.Error("there is no session ann.watch")
		}
		if s, _, live := r.view.Directory.Session("ann"); !live || s.SessionID != own.SessionID.Public() {
			t.Error("the agent's own session has changed")
		}
		for _, s := range r.view.Directory.Agents("") {
			if s.AgentID.Watcher() {
				t.Errorf("%s is listed", s.AgentID)
			}
		}
		r.say("ben", room.Channel, "x")
		if got := <-answer; got.err != nil || !got.v.Met {
			t.Errorf("%+v, %v", got.v, got.err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if _, _, live := r.view.Directory.Session("ann.watch"); live {
			t.Error("the session ann.watch has not ended")
		}
		r.stop()
	})
}

// TestWatchEnds: at the end of a wait, or of the hub, the answer says which
// conditions hold.
func TestWatchEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, newMemStore())
		room := r.makeRoom("ops")
		r.register("ben")
		q := watchOf(t, room.RoomID, 7*time.Second, "message-from:ben")
		began := time.Now()
		if got := r.look(q); got.Met || time.Since(began) != q.Wait || got.Conditions[0].Why == "" {
			t.Errorf("after %s: %+v", time.Since(began), got)
		}
		q.Wait = time.Hour
		answer := async(func() (hub.Watched, error) { return r.Watch(context.Background(), q) })
		synctest.Wait()
		r.stop()
		if got := <-answer; got.err != nil || got.v.Met || time.Since(began) > time.Minute {
			t.Errorf("of a hub that stops: %+v, %v", got.v, got.err)
		}
	})
}

// TestWatchEqualsEvaluation: over random histories, a watch that waits is answered
// when, and only when, looking once says that its conditions hold.
func TestWatchEqualsEvaluation(t *testing.T) {
	for seed := range uint64(60) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		synctest.Test(t, func(t *testing.T) {
			r := start(t, newMemStore(), ringOf([]int{1, 1 << 20}[seed%2]))
			room := r.makeRoom("ops")
			r.register("ben")
			r.register("cleo")
			var tasks []hub.TaskID
			for range 3 {
				tasks = append(tasks, r.task(hub.PostInput{FromAgent: "ann", Channel: room.Channel, Body: "t"}))
			}
			ben := hub.AgentID("ben")
			for _, id := range tasks { // so that none is ready for ann
				_, err := r.UpdateTask(context.Background(), id, hub.TaskUpdateInput{AgentID: "ann", Assignee: &ben})
				require.NoError(t, err)
			}
			run, err := r.CreateRun(context.Background(), hub.RunInput{Title: "r", TaskIDs: tasks[:2]})
			require.NoError(t, err)
			all := []string{
				fmt.Sprintf("tasks-complete:%d,%d", tasks[0], tasks[2]), fmt.Sprintf("tasks-complete:%d", tasks[1]),
				"run-complete:" + string(run.Row.RunID), "message-from:ben", "message-from:cleo",
				"for-me", "task-ready", fmt.Sprintf("answered:%d", tasks[1]),
			}
			rnd.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
			q := watchOf(t, room.RoomID, 0, all[:1+rnd.IntN(3)]...)
			waiting := q
			waiting.Wait = time.Hour
			ctx, leave := context.WithCancel(context.Background())
			answer := async(func() (hub.Watched, error) { return r.Watch(ctx, waiting) })
			for step := 0; ; step++ {
				synctest.Wait()
				now := r.look(q)
				select {
				case got := <-answer:
					if !now.Met || !got.v.Met || got.err != nil {
						t.Fatalf("seed %d, step %d: answered %+v, %v, and it is %+v", seed, step, got.v, got.err, now)
					}
					leave()
					r.stop()
					return
				default:
				}
				if now.Met {
					t.Fatalf("seed %d, step %d: not answered, and it is %+v", seed, step, now)
				}
				if step == 40 {
					leave()
					<-answer
					r.stop()
					return
				}
				r.randomStep(rnd, room, tasks)
			}
		})
	}
}

func (r *rig) randomStep(rnd *rand.Rand, room hub.Room, tasks []hub.TaskID) {
	from := []hub.AgentID{"ben", "cleo", "dan"}[rnd.IntN(3)]
	switch rnd.IntN(8) {
	case 0:
		id := tasks[rnd.IntN(len(tasks))]
		if t, err := r.Hub.Task(asOperator(context.Background()), id, ""); err == nil && !t.Status.Terminal() {
			r.endTask(id, []hub.TaskStatus{hub.TaskDone, hub.TaskCancelled}[rnd.IntN(2)])
		}
	case 1:
		r.say(from, room.Channel, "x")
	case 2:
		r.post(hub.PostInput{FromAgent: from, ToAgent: "ann", Body: "x"})
	case 3:
		r.say(from, hub.DefaultChannel, "x")
	case 4:
		q := hub.EventsQuery{Agent: "ann", Since: hub.MessageID(rnd.IntN(20)), Limit: 1}
		if rnd.IntN(2) == 0 {
			q.RoomID = room.RoomID
		}
		_, _ = r.Events(context.Background(), q)
	case 5:
		r.post(hub.PostInput{FromAgent: from, Channel: room.Channel, ReplyTo: tasks[rnd.IntN(len(tasks))], Body: "x"})
	case 6:
		r.task(hub.PostInput{FromAgent: from, Channel: room.Channel, Body: "t"})
	default:
		r.post(hub.PostInput{FromAgent: from, ToAgent: "eve", Body: "x"})
	}
}
