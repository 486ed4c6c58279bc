package actors

import (
	"math/rand/v2"
	"testing"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/roomday"
	"hubcli/internal/testrace"
)

func (r *rig) day() roomday.Hub {
	return roomday.Hub{Agents: r.Hub, Operator: r.Hub, AsOperator: asOperator}
}

// TestMomentsAreTheLog: twenty agents work, and what the room was like at five hundred
// moments is what the ordinary reads said then. It stays so after an ordered stop, and
// after a loss of power while the agents work.
func TestMomentsAreTheLog(t *testing.T) {
	testrace.Avoid(t, "one goroutine compares a long day with itself")
	often := func(o *Options) { o.CheckpointEvery = 300 }
	r := start(t, newMemStore(), often)
	day := roomday.New(t, r.day(), "day")
	day.Play(1, 200)
	r.stop()
	r = start(t, r.store.restarted(), often)
	day.At(t, r.day())
	day.Play(2, 350)
	r = start(t, r.crash(), often)
	day.At(t, r.day())
	day.Play(3, 500)
	rand.Shuffle(len(day.Log), func(i, j int) { day.Log[i], day.Log[j] = day.Log[j], day.Log[i] })
	day.Compare(t, day.Log, false)
	day.Compare(t, day.Log, true)
	r = start(t, r.crash(), often)
	day.At(t, r.day())
	day.Compare(t, day.Log[:100], false)
	last, kept := day.Log[0].Seq, 0
	for _, at := range day.Log {
		last = max(last, at.Seq)
	}
	if err := r.store.RowsOf(core.TableMoment, nil, false, func(_, _ []byte) bool { kept++; return true }); err != nil || kept < 3 {
		t.Errorf("%d kept states of %d records, %v", kept, last, err)
	}
	t.Logf("%d instants, %d records, %d kept states", len(day.Log), last, kept)
}

// TestMomentsBeforeTheHistory: a store of an earlier version has lost its first records. What
// it has kept is shown by its times, and the answer says so.
func TestMomentsBeforeTheHistory(t *testing.T) {
	r := start(t, newMemStore())
	day := roomday.New(t, r.day(), "day")
	day.Play(1, 20)
	r.stop()
	old := r.store.restarted()
	old.forgetRecords()
	r = start(t, old)
	day.At(t, r.day())
	early := day.Log[10]
	m, err := r.Moment(asOperator(t.Context()), hub.MomentQuery{RoomID: day.Room.RoomID, At: early.TS})
	if err != nil || m.Kept || m.Seq != 0 || len(m.Tasks)+len(m.Seats)+len(m.Claims)+len(m.Runs)+len(m.EndedTasks) != 0 || m.HistoryFromTS <= early.TS {
		t.Fatalf("%+v, %v", m, err)
	}
	for name, rows := range map[string]any{"messages": m.Messages, "decisions": m.Decisions, "artifacts": m.Artifacts, "memories": m.Memories} {
		if got := roomday.Rows(rows); got != early.Lists[name] {
			t.Errorf("%s were\n%s\nand are\n%s", name, early.Lists[name], got)
		}
	}
	_, err = r.Moment(asOperator(t.Context()), hub.MomentQuery{RoomID: day.Room.RoomID, Seq: early.Seq})
	wantCode(t, err, hub.CodeInvalid)
	_, err = r.Moment(asOperator(t.Context()), hub.MomentQuery{RoomID: day.Room.RoomID, Seq: m.LastSeq + 1_000})
	wantCode(t, err, hub.CodeInvalid)
	before := len(day.Log)
	day.Play(2, 60)
	day.Compare(t, day.Log[before:], false)
	day.Compare(t, day.Log[before:], true)
}

// TestMomentsHideDirectTasks: a replay shows no more than the page of the room did.
func TestMomentsHideDirectTasks(t *testing.T) {
	r := start(t, newMemStore())
	day := roomday.New(t, r.day(), "day")
	m := r.post(hub.PostInput{FromAgent: "ann", ToAgent: "bob", Channel: day.Room.Channel, Kind: hub.KindTask, Body: "secret"})
	if _, err := r.CompleteTask(t.Context(), m.ID, hub.CompleteInput{AgentID: "bob"}); err != nil {
		t.Fatal(err)
	}
	for _, seq := range []hub.Seq{0, r.JournalStatus().Head - 1} {
		for viewer, sees := range map[hub.AgentID]int{"ann": 1, "bob": 1, "carl": 0, "": 0} {
			got, err := r.Moment(t.Context(), hub.MomentQuery{RoomID: day.Room.RoomID, Seq: seq, Viewer: viewer})
			if n := len(got.Tasks) + len(got.EndedTasks); err != nil || n != sees || len(got.Messages) != 0 {
				t.Errorf("%q sees %d tasks and %d messages, %v", viewer, n, len(got.Messages), err)
			}
		}
	}
}

// TestMomentsOfWhatIsReplaced: a seat that has ended and a pause that is over are shown at the
// moments at which they were there, and a run that got tasks again as it was before.
func TestMomentsOfWhatIsReplaced(t *testing.T) {
	r := start(t, newMemStore())
	ctx := asOperator(t.Context())
	day := roomday.New(t, r.day(), "day")
	room := day.Room.RoomID
	var said []string
	var seqs []hub.Seq
	look := func(seq hub.Seq) string {
		m, err := r.Moment(ctx, hub.MomentQuery{RoomID: room, Seq: seq})
		if err != nil {
			t.Fatal(err)
		}
		return roomday.Rows(m.Seats) + roomday.Rows(m.Pauses) + roomday.Rows(m.Runs)
	}
	var run hub.RunID
	for _, step := range []func() error{
		func() error { _, err := r.Sit(ctx, room, hub.SitInput{AgentID: "ann"}); return err },
		func() error { _, err := r.Pause(ctx, hub.PauseInput{RoomID: room, Words: "wait"}); return err },
		func() error { _, err := r.Pause(ctx, hub.PauseInput{RoomID: room, Words: "still"}); return err },
		func() error { _, err := r.Retire(ctx, "ann", hub.RetireInput{}); return err },
		func() error { _, err := r.EndPause(ctx, hub.PauseEndInput{RoomID: room}); return err },
		func() error { _, err := r.Sit(ctx, room, hub.SitInput{AgentID: "ann"}); return err },
		func() error {
			out, err := r.CreateRun(ctx, hub.RunInput{Title: "run", RoomID: room, CreatedBy: "ann", Tasks: []hub.PlannedTask{{Title: "one"}}})
			if run = out.Row.RunID; err == nil {
				_, err = r.CompleteTask(ctx, out.Row.Planned[0], hub.CompleteInput{AgentID: "ann"})
			}
			return err
		},
		func() error {
			m := r.post(hub.PostInput{FromAgent: "ann", Channel: day.Room.Channel, Kind: hub.KindTask, Body: "two"})
			_, err := r.AddRunTasks(ctx, run, hub.RunTasksInput{TaskIDs: []hub.TaskID{m.ID}, AgentID: "ann"})
			return err
		},
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
		said, seqs = append(said, look(0)), append(seqs, r.JournalStatus().Head)
	}
	for i := range said {
		if got := look(seqs[i]); got != said[i] {
			t.Errorf("after step %d the room was\n%s\nand is said to have been\n%s", i, said[i], got)
		}
		if i > 0 && said[i] == said[i-1] {
			t.Errorf("step %d changed nothing", i)
		}
	}
}
