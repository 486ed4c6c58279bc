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

// watchFor begins a watch of an agent, and returns once it waits or has ended.
func (r *rig) watchFor(ctx context.Context, agent hub.AgentID, room hub.Room, stream bool, until string) <-chan result[hub.Watched] {
	r.t.Helper()
	c, err := hub.ParseCondition("until", until)
	require.NoError(r.t, err)
	w := async(func() (hub.Watched, error) {
		return r.Watch(ctx, hub.WatchQuery{Agent: agent, Room: room.RoomID, Label: until, Until: []hub.Condition{c}, Wait: 10 * time.Minute, Stream: stream})
	})
	synctest.Wait()
	return w
}

// closes asks for a claim and expects at once what agents would wait for each other; none: that the call waits.
func (r *rig) closes(agent hub.AgentID, key hub.ClaimKey, want ...hub.AgentID) {
	r.t.Helper()
	ctx, stop := context.WithCancel(r.t.Context())
	c := r.waitFor(ctx, agent, key, 60)
	select {
	case got := <-c:
		if got.err != nil || got.v.Acquired || !slices.Equal(got.v.Circle, want) {
			r.t.Errorf("%s is answered %+v, %v, want the circle %v", agent, got.v, got.err, want)
		}
	default:
		if want != nil {
			r.t.Errorf("%s waits, want the circle %v", agent, want)
		}
		stop()
		<-c
	}
	stop()
	synctest.Wait()
}

// TestCircleOfWatches: an agent that sleeps in a watch waits for those that its conditions name, until it acts. The watch
// that closes a circle ends at once as stuck. A stream is no wait, and what is asked of an agent wakes one that hears it.
func TestCircleOfWatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, newMemStore())
		defer func() { r.stop() }()
		room := r.roomWithSeats("lead", "ben")
		r.register("lead")
		r.register("ben")
		r.register("zoe")
		id := r.taskIn(room, "paint")
		require.NoError(t, r.assign(id, "ben", "ben"))
		r.claim("lead", "parser", 3000)

		until := fmt.Sprint("tasks-complete:", id)
		ctx, stop := context.WithCancel(t.Context())
		lead := r.watchFor(ctx, "lead", room, false, until)
		r.closes("ben", "parser", "ben", "lead")
		time.Sleep(time.Second)
		r.Touch("lead", false)
		r.closes("ben", "parser") // lead works
		time.Sleep(hub.SeatWorkingFor + time.Second)
		r.closes("ben", "parser", "ben", "lead")

		// What ben asks of lead does not wake it either, until a stream runs beside.
		request := r.post(hub.PostInput{FromAgent: "ben", ToAgent: "lead", Kind: hub.KindTaskRequest, Body: "may I?"})
		asks := func() (hub.Page, time.Duration) {
			before := time.Now()
			page, err := r.Events(t.Context(), hub.EventsQuery{Agent: "ben", Channels: []hub.ChannelName{hub.DirectChannel}, Since: r.view.Ring.Visible(), Limit: 10, Wait: time.Second, Peek: true, Awaits: request.ID})
			require.NoError(t, err)
			return page, time.Since(before)
		}
		if page, took := asks(); !slices.Equal(page.Circle, []hub.AgentID{"ben", "lead"}) || took > 0 {
			t.Errorf("ben's call is answered with the circle %v after %v", page.Circle, took)
		}
		streams, end := context.WithCancel(t.Context())
		beside := r.watchFor(streams, "lead", room, true, "message-from:zoe")
		if page, took := asks(); page.Circle != nil || took < time.Second {
			t.Errorf("beside a stream ben's call is answered with the circle %v after %v", page.Circle, took)
		}
		r.closes("ben", "parser", "ben", "lead") // nobody tells lead that ben waits for the claim
		end()
		<-beside
		stop()
		<-lead

		// The other way round the watch comes last.
		holds, release := context.WithCancel(t.Context())
		ben := r.waitFor(holds, "ben", "parser", 600)
		before := time.Now()
		got := <-r.watchFor(t.Context(), "lead", room, false, until)
		if want := []hub.AgentID{"lead", "ben"}; got.err != nil || got.v.Met || !got.v.Stuck || !slices.Equal(got.v.Circle, want) || time.Since(before) > 0 {
			t.Errorf("the watch is answered %+v, %v after %v, want the circle %v", got.v, got.err, time.Since(before), want)
		}
		release()
		<-ben
	})
}

// TestCircleOfTasks: an agent that sleeps and whose tasks all wait for tasks of others waits for those.
func TestCircleOfTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, newMemStore())
		defer func() { r.stop() }()
		room := r.roomWithSeats("ann", "ben")
		r.register("ann")
		r.register("ben")
		first, second := r.taskIn(room, "list the tokens"), r.taskIn(room, "write the grammar")
		require.NoError(t, r.assign(first, "ben", "ben"))
		require.NoError(t, r.assign(second, "ann", "ann"))
		_, err := r.UpdateTask(t.Context(), second, hub.TaskUpdateInput{AgentID: "ann", BlockedBy: &[]hub.TaskID{first}})
		require.NoError(t, err)
		r.claim("ann", "parser", 3000)
		r.closes("ben", "parser") // ann works
		time.Sleep(hub.SeatWorkingFor + time.Second)
		r.closes("ben", "parser", "ben", "ann")
		third := r.taskIn(room, "tidy up") // ann can go on with it
		require.NoError(t, r.assign(third, "ann", "ann"))
		time.Sleep(hub.SeatWorkingFor + time.Second)
		r.closes("ben", "parser")
		_, err = r.EndSession(asOperator(t.Context()), "ann", hub.SessionEndInput{})
		require.NoError(t, err)
		r.closes("ben", "parser")
	})
}
