package actors

import (
	"context"
	"errors"
	"testing"

	"hubcli/hub"
	"hubcli/internal/require"
)

// TestMistypedAgentsAreRefused: where the caller asks for it, an agent that never registered is
// refused while ids like it are known, in everything that somebody is named for. Nothing is
// written. An id that is like no other is taken, and so is each where the caller does not ask.
func TestMistypedAgentsAreRefused(t *testing.T) {
	r := start(t, newMemStore())
	r.register("reviewer")
	r.register("lead")
	var task hub.TaskID
	ctx, operator := t.Context(), asOperator(context.Background())
	for what, call := range map[string]func(id hub.AgentID, unlessNear bool) error{
		"post": func(id hub.AgentID, unless bool) error {
			_, err := r.Post(ctx, hub.PostInput{FromAgent: "lead", ToAgent: id, Channel: hub.DirectChannel, Kind: hub.KindChat, Body: "x", UnlessNear: unless})
			return err
		},
		"assign": func(id hub.AgentID, unless bool) error {
			_, err := r.UpdateTask(ctx, task, hub.TaskUpdateInput{AgentID: "lead", Assignee: &id, UnlessNear: unless})
			return err
		},
		"offer": func(id hub.AgentID, unless bool) error {
			_, err := r.HandoffTask(ctx, task, hub.HandoffInput{AgentID: "lead", ToAgent: id, UnlessNear: unless})
			return err
		},
		"pause": func(id hub.AgentID, unless bool) error {
			_, err := r.Pause(operator, hub.PauseInput{AgentID: id, Words: "x", UnlessNear: unless})
			return err
		},
		"mute": func(id hub.AgentID, unless bool) error {
			_, err := r.Mute(operator, hub.MuteInput{AgentID: id, UnlessNear: unless})
			return err
		},
	} {
		t.Run(what, func(t *testing.T) {
			task = r.post(hub.PostInput{FromAgent: "lead", Channel: hub.DefaultChannel, Kind: hub.KindTask, Body: "x"}).ID
			head := r.view.Ring.Visible()
			err := call("reviewr", true)
			wantCode(t, err, hub.CodeAgentUnclear)
			if e, ok := errors.AsType[*hub.Error](err); !ok || e.Detail["did_you_mean"] != hub.AgentID("reviewer") {
				t.Errorf("meant is %+v", err)
			}
			if now := r.view.Ring.Visible(); now != head {
				t.Errorf("a message was written: the head went from %d to %d", head, now)
			}
			for _, id := range []hub.AgentID{"reviewer", "somebody-else"} {
				require.NoError(t, call(id, true))
			}
			require.NoError(t, call("reviewr", false))
		})
	}
}

// TestARepeatedPostKeepsItsAnswer: a post that was accepted is answered as it was when it is sent
// again, also if an id like its recipient's has registered since.
func TestARepeatedPostKeepsItsAnswer(t *testing.T) {
	r := start(t, newMemStore())
	ctx := hub.WithCaller(t.Context(), &hub.Caller{Idempotency: &hub.IdempotencyKey{Key: "k"}})
	in := hub.PostInput{FromAgent: "lead", ToAgent: "reviewr", Channel: hub.DirectChannel, Kind: hub.KindChat, Body: "x", UnlessNear: true}
	first, err := r.Post(ctx, in)
	require.NoError(t, err)
	r.register("reviewer")
	again, err := r.Post(ctx, in)
	if err != nil || !again.Replayed || messageID(again.Row) != messageID(first.Row) {
		t.Errorf("again: %+v, %v", again, err)
	}
	if _, err := r.Post(t.Context(), in); codeOf(err) != hub.CodeAgentUnclear {
		t.Errorf("another one: %v", err)
	}
}

// TestActingIDsAreTaken: an id that never registered and acts all the same is somebody.
func TestActingIDsAreTaken(t *testing.T) {
	r := start(t, newMemStore())
	r.register("reviewer")
	id := r.say("reviewer", hub.DefaultChannel, "x").ID
	_, err := r.Events(t.Context(), hub.EventsQuery{Agent: "reviewr", Since: id, Limit: 10})
	require.NoError(t, err)
	_, err = r.Post(t.Context(), hub.PostInput{FromAgent: "reviewer", ToAgent: "reviewr", Channel: hub.DirectChannel, Kind: hub.KindChat, Body: "x", UnlessNear: true})
	require.NoError(t, err)
}
