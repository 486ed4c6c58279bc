package actors

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hubcli/hub"
	"hubcli/internal/require"
)

// suggestedTo returns the notices about free tasks that agents were sent.
func (r *rig) suggestedTo(agents ...hub.AgentID) (got []string) {
	r.t.Helper()
	for _, agent := range agents {
		for _, m := range r.inbox(agent) {
			if m.FromAgent == hub.AgentSystem && strings.Contains(string(m.Metadata), `"suggested"`) {
				got = append(got, fmt.Sprintf("%s: %s", agent, m.Body))
			}
		}
	}
	return got
}

// sleeps lets an agent wait for messages to it, until the test ends.
func (r *rig) sleeps(ctx context.Context, room hub.Room, agent hub.AgentID) {
	q := watchOf(r.t, room.RoomID, 24*time.Hour, "for-me")
	q.Agent = agent
	go func() { _, _ = r.Watch(ctx, q) }()
	synctest.Wait()
}

// TestFreeTaskIsSuggestedOnce: a task that can begin and that nobody has is told to one idle agent of
// its room that something wakes, after some seconds and once, whatever the restarts. It is told neither
// to its creator, nor to an agent with a task, nor to one that is in another room or that nothing wakes.
func TestFreeTaskIsSuggestedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, newMemStore())
		defer func() { r.stop() }()
		room, other := r.roomWithSeats("lead", "dev", "ops", "awake"), r.makeRoom("elsewhere")
		r.seat(other.RoomID, "far")
		ctx, end := context.WithCancel(t.Context())
		defer end()
		all := []hub.AgentID{"lead", "dev", "ops", "awake", "far"}
		for _, agent := range all {
			r.register(agent)
		}
		r.sleeps(ctx, room, "lead")
		r.sleeps(ctx, other, "far")
		first := r.post(hub.PostInput{FromAgent: "lead", Channel: room.Channel, Kind: hub.KindTask, Body: "paint"}).ID
		told := func(when string, want ...string) {
			t.Helper()
			time.Sleep(3 * presenceTick)
			synctest.Wait()
			if got := r.suggestedTo(all...); !slices.Equal(got, want) {
				t.Errorf("%s told is %q, want %q", when, got, want)
			}
		}
		told("while nobody sleeps")
		time.Sleep(hub.SeatWorkingFor)
		r.sleeps(ctx, room, "ops")
		notice := fmt.Sprintf(`ops: Task %d "paint" can begin and nobody has it, and you have no task. Take it with hub_take {"task_id":%d}, or leave it for others.`, first, first)
		told("once an agent sleeps", notice)
		second := r.post(hub.PostInput{FromAgent: "lead", Channel: room.Channel, Kind: hub.KindTask, Body: "sweep"}).ID
		told("while the agent thinks of the first", notice)

		end()
		r = start(t, r.crash())
		ctx, end = context.WithCancel(t.Context())
		defer end()
		time.Sleep(hub.SeatWorkingFor)
		r.sleeps(ctx, room, "ops")
		told("after a restart", notice)
		r.sleeps(ctx, room, "dev")
		sweep := fmt.Sprintf(`dev: Task %d "sweep" can begin and nobody has it, and you have no task. Take it with hub_take {"task_id":%d}, or leave it for others.`, second, second)
		told("once another agent sleeps", sweep, notice)
		require.NoError(t, r.assign(second, "dev", "dev"))
		third := r.post(hub.PostInput{FromAgent: "lead", Channel: room.Channel, Kind: hub.KindTask, Body: "wash", BlockedBy: []hub.TaskID{second}}).ID
		require.NoError(t, r.assign(first, "ops", "ops"))
		told("while it waits for another", sweep, notice)
		_, err := r.CompleteTask(t.Context(), second, hub.CompleteInput{AgentID: "dev"})
		require.NoError(t, err)
		time.Sleep(hub.SeatWorkingFor)
		wash := fmt.Sprintf(`dev: Task %d "wash" can begin and nobody has it, and you have no task. Take it with hub_take {"task_id":%d}, or leave it for others.`, third, third)
		told("when it can begin", sweep, wash, notice)

		// An agent that leaves a task for others is told of the next one later.
		fourth := r.post(hub.PostInput{FromAgent: "lead", Channel: room.Channel, Kind: hub.KindTask, Body: "iron"}).ID
		told("while dev was just told of another", sweep, wash, notice)
		time.Sleep(suggestAgain)
		iron := fmt.Sprintf(`dev: Task %d "iron" can begin and nobody has it, and you have no task. Take it with hub_take {"task_id":%d}, or leave it for others.`, fourth, fourth)
		told("some minutes later", sweep, wash, iron, notice)
	})
}

// TestFreeTasksOfSilencedOnes: a free task in an archived room is suggested to nobody, nor is that of a
// muted agent: its posts wake nobody.
func TestFreeTasksOfSilencedOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, newMemStore())
		defer func() { r.stop() }()
		room := r.roomWithSeats("lead", "dev")
		ctx, end := context.WithCancel(t.Context())
		defer end()
		r.register("dev")
		_, err := r.Mute(asOperator(t.Context()), hub.MuteInput{AgentID: "lead"})
		require.NoError(t, err)
		r.task(hub.PostInput{FromAgent: "lead", Channel: room.Channel, Body: "paint"})
		time.Sleep(hub.SeatWorkingFor)
		r.sleeps(ctx, room, "dev")
		time.Sleep(3 * presenceTick)
		synctest.Wait()
		if got := r.suggestedTo("dev"); len(got) != 0 {
			t.Errorf("of a muted agent's task dev is told %q", got)
		}
		_, err = r.ArchiveRoom(asOperator(t.Context()), room.RoomID, hub.ArchiveInput{Archived: true})
		require.NoError(t, err)
		_, err = r.EndMute(asOperator(t.Context()), hub.MuteEndInput{AgentID: "lead"})
		require.NoError(t, err)
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if got := r.suggestedTo("dev"); len(got) != 0 {
			t.Errorf("in an archived room dev is told %q", got)
		}
	})
}
