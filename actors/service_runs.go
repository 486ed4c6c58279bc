package actors

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/actors/gate"
	"hubcli/actors/view"
	"hubcli/hub"
)

// maxRunTries bounds how often a command about an ended run is decided again
// because other runs ended meanwhile.
const maxRunTries = 16

// CreateRun makes a run; see hub.Runs.
func (h *Hub) CreateRun(ctx context.Context, in hub.RunInput) (hub.Outcome[hub.Run], error) {
	act := gate.Act{Op: "createRun", Agent: in.CreatedBy, Room: in.RoomID}
	out, err := h.changeRun(ctx, &act, func() (int, runDecision, error) {
		if in.RoomID != "" {
			if _, err := h.view.Room(in.RoomID); err != nil {
				return 0, nil, err
			}
		}
		if err := h.assignPlanned(&in); err != nil {
			return 0, nil, err
		}
		c, size := h.draftRun(ctx, &in)
		return size, func(t *core.Tasks, now core.Now) (core.Decision[core.StoredRun], error) {
			return t.StartRun(c, now, taskWorld{h})
		}, nil
	})
	out.Created = true
	return out, err
}

// draftRun makes the command of a run with the messages that open its tasks, and tells their size.
func (h *Hub) draftRun(ctx context.Context, in *hub.RunInput) (c core.StartRunCommand, size int) {
	channel := hub.DefaultChannel
	if in.RoomID != "" {
		channel = in.RoomID.Channel()
	}
	c = core.StartRunCommand{By: taskActor(ctx, in.CreatedBy), In: *in, Standing: h.standing(ctx, in.CreatedBy)}
	for i := range in.Tasks {
		body := in.Tasks[i].Body(in.CreatedBy)
		size += len(body)
		c.Messages = append(c.Messages, core.MessageDraft{
			From: in.CreatedBy, Channel: channel, Room: in.RoomID, Kind: hub.KindTask, Body: body,
			Authority: c.By.Authority, Assurance: c.By.Assurance,
		})
	}
	return c, size
}

// assignPlanned lets the tasks of a plan for an agent that goes on under another id be for that id.
// It returns the refusal of an assignee.
func (h *Hub) assignPlanned(in *hub.RunInput) (refused error) {
	for i := range in.Tasks {
		to := &in.Tasks[i].Assignee
		next, err := h.view.Successor(*to)
		if err == nil {
			*to = next
			err = h.unclear(next, in.UnlessNear)
		}
		refused = cmp.Or(refused, err)
	}
	return refused
}

// runAnswer is the stored answer of a command about a run.
type runAnswer struct {
	core.StoredRun
	Planned []hub.TaskID `json:"planned,omitempty"` // the tasks that the record opened
}

func answerRun(run core.StoredRun, r *core.Record) runAnswer {
	answer := runAnswer{StoredRun: run}
	if r != nil {
		for i := range r.Messages {
			answer.Planned = append(answer.Planned, r.Position().Message(i))
		}
	}
	return answer
}

// AddRunTasks adds tasks to a run; see hub.Runs.
func (h *Hub) AddRunTasks(ctx context.Context, id hub.RunID, in hub.RunTasksInput) (hub.Outcome[hub.Run], error) {
	c := core.JoinRunCommand{By: taskActor(ctx, in.AgentID), Run: id, Tasks: in.TaskIDs}
	act := gate.Act{Op: "addRunTasks", Agent: in.AgentID}
	return withEndedRun(h, func(ended *core.EndedRun) (hub.Outcome[hub.Run], error) {
		c.Ended = ended
		return h.changeRun(ctx, &act, func() (int, runDecision, error) {
			if run, err := h.view.Run(id); err == nil && run.Run.RoomID != nil { // the owner refuses an id that is none
				act.Room = *run.Run.RoomID
			}
			return 0, func(t *core.Tasks, now core.Now) (core.Decision[core.StoredRun], error) {
				return t.JoinRun(c, now, taskWorld{h})
			}, nil
		})
	})
}

type runDecision = func(*core.Tasks, core.Now) (core.Decision[core.StoredRun], error)

// changeRun has a run changed as prepare says, which also tells the size of its input. The answer
// is stored without the run's tasks; each answer reads the tasks that the caller may see.
func (h *Hub) changeRun(ctx context.Context, act *gate.Act, prepare func() (int, runDecision, error)) (hub.Outcome[hub.Run], error) {
	stored, replayed, err := gate.Do(ctx, h.gate, act, engine.JSONCodec[runAnswer](engine.EffectRun), func() (engine.Command[*core.Tasks, core.StoredRun, runAnswer], error) {
		size, decide, err := prepare()
		return engine.Command[*core.Tasks, core.StoredRun, runAnswer]{
			Owner: core.TasksOwner(), Size: size, Decide: decide, Answer: answerRun,
		}, err
	})
	if err != nil {
		return hub.Outcome[hub.Run]{}, err
	}
	row, err := h.view.RunRow(stored.StoredRun, view.ViewerOf(ctx, act.Agent))
	row.Planned = stored.Planned
	return hub.Outcome[hub.Run]{Row: row, Replayed: replayed}, err
}

// withEndedRun decides a command that names a run. If the run is not live, it
// decides again with the stored run.
func withEndedRun[T any](h *Hub, decide func(*core.EndedRun) (T, error)) (out T, err error) {
	var ended *core.EndedRun
	for range maxRunTries {
		out, err = decide(ended)
		var gone *core.RunNotLive
		if !errors.As(err, &gone) {
			return out, err
		}
		ended = &core.EndedRun{Known: gone.Known}
		switch stored, err := h.view.StoredRun(gone.Run); {
		case err == nil:
			ended.Row = &stored
		case !errors.Is(err, core.ErrNotFound):
			return out, err
		}
	}
	return out, engine.ErrOverloaded()
}

// runOf returns the run that the metadata of a post names, or "".
func runOf(metadata json.RawMessage) (hub.RunID, error) {
	var m map[string]json.RawMessage
	if len(metadata) == 0 || json.Unmarshal(metadata, &m) != nil || m["run_id"] == nil {
		return "", nil
	}
	var id *hub.RunID
	if json.Unmarshal(m["run_id"], &id) != nil {
		return "", hub.Invalid("metadata.run_id", "metadata.run_id is no string").
			WithFix("name a run in it, or leave it out")
	}
	if id == nil {
		return "", nil
	}
	return *id, nil
}
