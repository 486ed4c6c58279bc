package actors

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/actors/gate"
	"hubcli/actors/view"
	"hubcli/hub"
)

// clearLanes is how many things are closed at a time: they share commits.
const clearLanes = 32

// clearKind is what the hub can do with one kind of places.
type clearKind struct {
	// find calls add with the things that are open, until it returns false.
	find func(h *Hub, in *hub.ClearInput, add func(hub.Clearable) bool) error
	// name returns what of a thing besides its id must not change between plan and
	// confirmation, also of one that is closed or deleted. The error is core.ErrNotFound or
	// one of the hub if there was never such a thing.
	name func(h *Hub, id string) (string, error)
	// end closes a thing. gone are the codes that say that it is closed already.
	end  func(ctx context.Context, h *clearing, id, reason string) error
	gone []hub.Code
	// holds says what a thing holds, so that it cannot be deleted; empty: nothing. nil: the
	// things are not deleted.
	holds func(h *clearing, id string) (string, error)
}

// clearing is one plan or confirmation.
type clearing struct {
	*Hub
	asked map[hub.RoomID]bool // rooms about which a question was ever asked, for deletions
}

func clearKindOf(kind hub.ClearKind, deletes bool) clearKind {
	if deletes {
		return deleteKinds()[kind]
	}
	return clearKinds()[kind]
}

var clearKinds = sync.OnceValue(func() map[hub.ClearKind]clearKind {
	return map[hub.ClearKind]clearKind{
		hub.ClearProjects: {find: findProjects, name: projectName, end: func(ctx context.Context, h *clearing, id, _ string) error {
			_, err := h.ArchiveProject(ctx, id, hub.ArchiveInput{Archived: true})
			return err
		}},
		hub.ClearRooms: {find: findRooms, name: roomName, end: func(ctx context.Context, h *clearing, id, _ string) error {
			_, err := h.ArchiveRoom(ctx, hub.RoomID(id), hub.ArchiveInput{Archived: true})
			return err
		}},
		hub.ClearChannels: {find: findChannels, name: channelMade, end: func(ctx context.Context, h *clearing, id, _ string) error {
			_, err := h.ArchiveChannel(ctx, hub.ChannelArchiveInput{Channel: hub.ChannelName(id), Archived: true})
			return err
		}},
		hub.ClearQuestions: {find: findQuestions, name: questionName, end: func(ctx context.Context, h *clearing, id, reason string) error {
			_, err := h.WithdrawAsk(ctx, hub.AskID(id), hub.AskWithdrawInput{Reason: reason})
			return err
		}, gone: []hub.Code{hub.CodeAskClosed}},
		hub.ClearInvites: {find: findInvites, name: inviteName, end: func(ctx context.Context, h *clearing, id, _ string) error {
			_, err := h.RevokeInvite(ctx, id)
			return err
		}},
		hub.ClearSeats: {find: findSeats, name: sameName, end: func(ctx context.Context, h *clearing, id, _ string) error {
			return h.freeSeat(ctx, id)
		}},
	}
})

// PlanClear lists what a selection finds; see hub.Clearing.
func (h *Hub) PlanClear(_ context.Context, in hub.ClearInput) (hub.ClearPlan, error) {
	if in.Project != "" {
		p, err := h.view.FindProject(in.Project)
		if err != nil {
			return hub.ClearPlan{}, err
		}
		in.Project = string(p.ProjectID)
	}
	if in.RoomID != "" {
		if _, err := h.view.Room(in.RoomID); err != nil {
			return hub.ClearPlan{}, err
		}
	}
	limit := h.engine.Clock.Now().Wall - hub.Time(in.OlderSec)*1000
	plan := hub.ClearPlan{Kind: in.Kind, Delete: in.Archived, Rows: []hub.Clearable{}}
	kind := clearKindOf(in.Kind, in.Archived)
	c, bad := h.clearing(in.Archived)
	if bad != nil {
		return hub.ClearPlan{}, bad
	}
	err := kind.find(h, &in, func(row hub.Clearable) bool {
		if in.OlderSec != 0 && row.CreatedAt > limit {
			return true
		}
		if kind.holds != nil {
			var holds string
			if holds, bad = kind.holds(c, row.ID); bad != nil || holds != "" {
				return bad == nil
			}
		}
		plan.Rows = append(plan.Rows, row)
		return len(plan.Rows) <= hub.MaxClear
	})
	if err = errors.Join(err, bad); err != nil {
		return hub.ClearPlan{}, err
	}
	if plan.More = len(plan.Rows) > hub.MaxClear; plan.More {
		plan.Rows = plan.Rows[:hub.MaxClear]
	}
	slices.SortStableFunc(plan.Rows, func(x, y hub.Clearable) int {
		return cmp.Or(cmp.Compare(x.CreatedAt, y.CreatedAt), strings.Compare(x.ID, y.ID))
	})
	names := make([]string, len(plan.Rows))
	for i := range plan.Rows {
		if names[i], err = kind.name(h, plan.Rows[i].ID); err != nil {
			return hub.ClearPlan{}, errClearChanged().With("id", plan.Rows[i].ID) // it went meanwhile
		}
	}
	plan.Digest = clearDigest(plan.Kind, plan.Delete, plan.Rows, names)
	return plan, nil
}

// clearing looks up what a plan or a confirmation needs to know.
func (h *Hub) clearing(deletes bool) (*clearing, error) {
	c := &clearing{Hub: h}
	if !deletes {
		return c, nil
	}
	c.asked = map[hub.RoomID]bool{}
	return c, view.ReadRows(h.rows, core.TableAsk, nil, nil, false, func(_ []byte, row core.StoredAsk) bool {
		if row.Ask.RoomID != nil {
			c.asked[*row.Ask.RoomID] = true
		}
		return true
	})
}

// clearDigest is over what a plan shows of things and what stays true of them when they are
// closed or deleted.
func clearDigest(kind hub.ClearKind, deletes bool, rows []hub.Clearable, names []string) string {
	d := sha256.New()
	d.Write([]byte(kind))
	if deletes {
		d.Write([]byte("\x00delete"))
	}
	for i := range rows {
		d.Write([]byte("\n" + rows[i].ID + "\x00" + names[i]))
	}
	return "sha256:" + hex.EncodeToString(d.Sum(nil))
}

// Clear closes the things of a plan; see hub.Clearing.
func (h *Hub) Clear(ctx context.Context, in hub.ClearConfirmInput) (hub.Cleared, error) {
	act := ruling("clear")
	out, _, err := gate.Once(ctx, h.gate, &act, func() (hub.Cleared, error) { return h.clear(ctx, &in) })
	return out, err
}

func (h *Hub) clear(ctx context.Context, in *hub.ClearConfirmInput) (hub.Cleared, error) {
	kind := clearKindOf(in.Kind, in.Delete)
	rows, names := make([]hub.Clearable, len(in.IDs)), make([]string, len(in.IDs))
	for i, id := range in.IDs {
		name, err := kind.name(h, id)
		if err != nil {
			return hub.Cleared{}, errClearChanged().With("id", id)
		}
		rows[i].ID, names[i] = id, name
	}
	if clearDigest(in.Kind, in.Delete, rows, names) != in.Digest {
		return hub.Cleared{}, errClearChanged()
	}
	c, err := h.clearing(in.Delete)
	if err != nil {
		return hub.Cleared{}, err
	}
	out := hub.Cleared{Kind: in.Kind, Failed: []hub.ClearFailed{}}
	failed := make([]error, len(rows))
	var lanes sync.WaitGroup
	for lane := range clearLanes {
		lanes.Go(func() {
			for i := lane; i < len(rows) && ctx.Err() == nil; i += clearLanes {
				failed[i] = kind.end(h.clearStep(ctx, rows[i].ID), c, rows[i].ID, in.Reason)
			}
		})
	}
	lanes.Wait()
	if ctx.Err() != nil {
		return hub.Cleared{}, engine.ErrAbandoned()
	}
	for i, err := range failed {
		var e *hub.Error
		switch {
		case err == nil, errors.As(err, &e) && slices.Contains(kind.gone, e.Code):
			out.Closed++
		case e != nil:
			out.Failed = append(out.Failed, hub.ClearFailed{ID: rows[i].ID, Code: e.Code, Error: e.Message})
		default:
			return hub.Cleared{}, err
		}
	}
	return out, nil
}

// clearStep is the context of one step. It has an idempotency key of its own, if the call has
// one.
func (h *Hub) clearStep(ctx context.Context, id string) context.Context {
	caller := *hub.CallerOf(ctx)
	caller.Idempotency = engine.StepKey(caller.Idempotency, "clear\x00"+id)
	return hub.WithCaller(ctx, &caller)
}

func errClearChanged() *hub.Error {
	return hub.NewError(hub.CodePlanChanged, "these are not the things that the plan showed").
		WithFix("plan again, look at what has changed, and confirm that")
}

// wants reports whether a thing with this creator is selected.
func wants(in *hub.ClearInput, creator hub.AgentID) bool {
	return (in.By == "" || in.By == creator) && (!in.Unnamed || creator == "")
}

func sameName(_ *Hub, id string) (string, error) { return id, nil }

// channelMade says when a channel was made, and by which agent: after a deletion another may
// have its name.
func channelMade(h *Hub, id string) (string, error) {
	row, err := h.view.ChannelRow(hub.ChannelName(id))
	switch {
	case err != nil:
		return "", err
	case row == nil:
		return "", core.ErrNotFound
	}
	return fmt.Sprintf("%d %s", row.CreatedAt, row.CreatedBy), nil
}

// everMade is the name of a project or room that is to be deleted: none. Its id is never given
// again, so one that is gone already counts as deleted.
func everMade(t core.Table) func(h *Hub, id string) (string, error) {
	return func(h *Hub, id string) (string, error) {
		_, err := h.rows.Row(t, []byte(id))
		return "", err
	}
}

// freeSeat frees a seat that an agent still has.
func (h *Hub) freeSeat(ctx context.Context, id string) error {
	room, agent, seat, err := seatOfID(id)
	if err != nil {
		return err
	}
	return h.freeOf(ctx, "clear", room, agent, seat)
}

// freeOf has a room take its seat from an agent. An empty seat is whichever it has.
func (h *Hub) freeOf(ctx context.Context, op string, room hub.RoomID, agent hub.AgentID, seat hub.SeatID) error {
	act := ruling(op)
	_, _, err := gate.Do(ctx, h.gate, &act, engine.JSONCodec[bool](engine.EffectSeatFreed), func() (engine.Command[*core.Room, bool, bool], error) {
		return engine.Command[*core.Room, bool, bool]{
			Owner: core.RoomOwner(room), Answer: asDecided[bool],
			Decide: func(r *core.Room, _ core.Now) (core.Decision[bool], error) { return r.Leave(agent, seat), nil },
		}, nil
	})
	return err
}

// seatOfID reads the id that a plan gives a seat: room, agent and seat.
func seatOfID(id string) (hub.RoomID, hub.AgentID, hub.SeatID, error) {
	parts := strings.Split(id, "/")
	if len(parts) != 3 {
		return "", "", "", errClearChanged()
	}
	return hub.RoomID(parts[0]), hub.AgentID(parts[1]), hub.SeatID(parts[2]), nil
}
