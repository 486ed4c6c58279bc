package actors

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"hubcli/hub"
	"hubcli/internal/require"
)

// followed reads the next news that are some.
func followed(t *testing.T, f hub.Follow) hub.News {
	t.Helper()
	for range 100 {
		news, err := f.Next(t.Context(), time.Hour)
		require.NoError(t, err)
		if len(news.Rows) > 0 || news.Changed != nil {
			return news
		}
	}
	t.Fatal("nothing happens")
	return hub.News{}
}

// toldOf returns what is told until nothing happens for two seconds.
func toldOf(t *testing.T, f hub.Follow) (rows []hub.MessageID, all hub.Changed) {
	t.Helper()
	for {
		news, err := f.Next(t.Context(), 2*time.Second)
		require.NoError(t, err)
		if len(news.Rows) == 0 && news.Changed == nil {
			return rows, all
		}
		for _, row := range news.Rows {
			rows = append(rows, messageID(row))
		}
		if c := news.Changed; c != nil {
			all.Kinds, all.Rooms = append(all.Kinds, c.Kinds...), append(all.Rooms, c.Rooms...)
			all.Tasks, all.Agents = append(all.Tasks, c.Tasks...), append(all.Agents, c.Agents...)
			all.Cut = all.Cut || c.Cut
		}
	}
}

func (r *rig) follow(at *hub.FollowPlace) hub.Follow {
	r.t.Helper()
	f, err := r.Follow(context.Background(), at)
	require.NoError(r.t, err)
	return f
}

// TestFollowerIsToldOfEverything: whatever happens is told once, by its kind, with its room,
// task or agent, and nothing else is.
func TestFollowerIsToldOfEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, newMemStore())
		defer r.stop()
		room := r.makeRoom("ops")
		r.register("ann")
		r.register("ben")
		task := r.post(hub.PostInput{FromAgent: "ann", Channel: room.Channel, Kind: hub.KindTask, Body: "do it"})
		time.Sleep(2 * hub.SeatWorkingFor) // everybody is idle
		f := r.follow(nil)
		defer f.Close()
		if first := followed(t, f); first.Changed == nil || len(first.Changed.Kinds) != len(hub.ChangedKinds())-1 || !first.Changed.Cut || len(first.Rows) > 0 {
			t.Fatalf("the first news are %+v", first)
		}
		if rows, all := toldOf(t, f); len(rows)+len(all.Kinds) > 0 {
			t.Fatalf("told of %v and %+v though nothing happens", rows, all)
		}
		op := asOperator(t.Context())
		for _, c := range []struct {
			kind  hub.ChangedKind
			does  func() error
			agent hub.AgentID
			room  hub.RoomID
			task  hub.TaskID
		}{
			{kind: hub.ChangedTasks, room: room.RoomID, task: task.ID, does: func() error { return r.assign(task.ID, "ann", "ben") }},
			{kind: hub.ChangedLeases, does: func() error { r.claim("ann", "k", 300); return nil }},
			{kind: hub.ChangedLeases, does: func() error {
				got := r.waitFor(t.Context(), "ben", "k", 30)
				synctest.Wait()
				_ = got
				return nil
			}},
			{kind: hub.ChangedAgents, agent: "cid", does: func() error { r.register("cid"); return nil }},
			{kind: hub.ChangedRooms, does: func() error { r.newRoom("second"); return nil }},
			{kind: hub.ChangedPauses, does: func() error { r.pause(hub.PauseTarget{AgentID: "ann"}, "wait"); return nil }},
			{kind: hub.ChangedMutes, does: func() error { r.mute(hub.MuteInput{AgentID: "ben"}); return nil }},
			{kind: hub.ChangedBudgets, does: func() error { r.budget(hub.BudgetInput{AgentID: "ben", Chars: 5000}); return nil }},
			{kind: hub.ChangedAsks, does: func() error { r.ask(hub.AskInput{AgentID: "cid", Question: "really?"}); return nil }},
			{kind: hub.ChangedDecisions, room: room.RoomID, does: func() error {
				_, err := r.AddDecision(op, hub.DecisionInput{RoomID: room.RoomID, Title: "t", By: "cid"})
				return err
			}},
			{kind: hub.ChangedMemory, room: room.RoomID, does: func() error {
				_, err := r.Remember(op, hub.MemoryInput{RoomID: room.RoomID, Text: "t", By: "cid"})
				return err
			}},
			{kind: hub.ChangedSettings, does: func() error {
				_, err := r.SetToolSurface(op, hub.ToolSurfaceInput{Harness: hub.HarnessCodex, Surface: hub.SurfaceFull})
				return err
			}},
			{kind: hub.ChangedAgents, agent: "cid", does: func() error { time.Sleep(2 * hub.SeatWorkingFor); return nil }},
		} {
			require.NoError(t, c.does())
			_, all := toldOf(t, f)
			if !slices.Contains(all.Kinds, c.kind) || c.agent != "" && !slices.Contains(all.Agents, c.agent) ||
				c.room != "" && !slices.Contains(all.Rooms, c.room) || c.task != 0 && !slices.Contains(all.Tasks, c.task) {
				t.Errorf("a change of %s (%s%s%d) is told as %+v", c.kind, c.agent, c.room, c.task, all)
			}
		}
		r.release("ann", "k")
		public, direct := r.say("cid", hub.DefaultChannel, "to all"), r.direct("ben", room)
		rows, _ := toldOf(t, f)
		if !slices.Equal(rows, []hub.MessageID{public.ID, direct}) {
			t.Errorf("told of the messages %v, want %d and %d", rows, public.ID, direct)
		}
	})
}

// TestFollowerComesBack: a reader that was away gets the messages that it missed, each
// once, and is told what may have changed.
func TestFollowerComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, newMemStore())
		defer r.stop()
		f := r.follow(nil)
		at := followed(t, f).At
		f.Close()
		same := r.follow(&at)
		if kinds := followed(t, same).Changed.Kinds; !slices.Equal(kinds, []hub.ChangedKind{hub.ChangedAgents, hub.ChangedLeases}) {
			t.Errorf("a reader that missed no record is told of %v", kinds)
		}
		same.Close()
		var want []hub.MessageID
		for i := range 250 {
			want = append(want, r.say("ann", hub.DefaultChannel, fmt.Sprint(i)).ID)
		}
		back := r.follow(&at)
		rows, all := toldOf(t, back)
		back.Close()
		if !slices.Equal(rows, want) || !slices.Contains(all.Kinds, hub.ChangedTasks) || slices.Contains(all.Kinds, hub.ChangedMessages) {
			t.Errorf("a reader that comes back gets %d of %d messages and %v", len(rows), len(want), all.Kinds)
		}
		for range hub.MaxFollowBack {
			r.say("ann", hub.DefaultChannel, "more")
		}
		late := r.follow(&at)
		rows, all = toldOf(t, late)
		late.Close()
		if len(rows) > 0 || !slices.Contains(all.Kinds, hub.ChangedMessages) {
			t.Errorf("a reader that comes back late gets %d messages and %v", len(rows), all.Kinds)
		}
	})
}

// TestSlowFollowerIsBounded: what a reader has not taken is one notice of bounded size, and
// the number of readers is bounded.
func TestSlowFollowerIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, newMemStore())
		defer r.stop()
		room := r.makeRoom("ops")
		f := r.follow(nil)
		followed(t, f)
		for range 3 * hub.MaxChangedIDs {
			r.post(hub.PostInput{FromAgent: "ann", Channel: room.Channel, Kind: hub.KindTask, Body: "do it"})
		}
		synctest.Wait()
		news := followed(t, f)
		if c := news.Changed; c == nil || len(c.Tasks) != hub.MaxChangedIDs || !c.Cut || len(news.Rows) > hub.DefaultPageRows {
			t.Errorf("a slow reader gets %d rows and %+v", len(news.Rows), c)
		}
		all := []hub.Follow{f}
		for range hub.MaxFollows - 1 {
			all = append(all, r.follow(nil))
		}
		_, err := r.Follow(t.Context(), nil)
		wantCode(t, err, hub.CodeTooManyPolls)
		for _, one := range all {
			one.Close()
		}
		r.follow(nil).Close()
	})
}
