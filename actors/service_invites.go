package actors

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/actors/gate"
	"hubcli/actors/view"
	"hubcli/hub"
)

// CreateInvite makes an invite; see hub.Invites.
func (h *Hub) CreateInvite(ctx context.Context, in hub.InviteInput) (hub.Outcome[hub.Invite], error) {
	caller := hub.CallerOf(ctx)
	if in.By == "" && caller.Operator {
		in.By = hub.AgentOperator // so that its seats have no limit of a creator
	}
	act := gate.Act{Op: "createInvite", Agent: in.By}
	stored, replayed, err := gate.Do(ctx, h.gate, &act, engine.JSONCodec[core.StoredInvite](engine.EffectInvite), func() (c inviteCommand, err error) {
		room, err := h.view.FindRoom(hub.RoomRef{Project: in.Project, Room: in.Room})
		if err != nil {
			return c, err
		}
		act.Room = room.RoomID
		command := core.InviteCommand{
			In: in, Project: room.ProjectID, By: h.standing(ctx, in.By), Proved: caller.Operator || view.Proves(caller, in.By),
		}
		command.Nonce, command.CodeHash, err = h.drawCode(room.RoomID)
		return inviteCommand{
			Owner: core.RoomOwner(room.RoomID), Answer: asDecided[core.StoredInvite],
			Decide: func(r *core.Room, now core.Now) (core.Decision[core.StoredInvite], error) {
				return r.Invite(command, now)
			},
		}, err
	})
	row := stored.Invite
	if err == nil {
		row.Code = h.secrets().code(row.RoomID, stored.Nonce)
	}
	return hub.Outcome[hub.Invite]{Row: row, Created: true, Replayed: replayed}, err
}

type inviteCommand = engine.Command[*core.Room, core.StoredInvite, core.StoredInvite]

// drawCode draws the nonce of a code that no invite of the hub ever had. If two
// calls draw the same code at the same moment (one in 2^40), the later row
// counts.
func (h *Hub) drawCode(room hub.RoomID) (nonce string, hash []byte, err error) {
	for {
		nonce = rand.Text()
		hash = h.secrets().codeHash(h.secrets().code(room, nonce))
		_, err := h.rows.Row(core.TableInviteCode, hash)
		if errors.Is(err, core.ErrNotFound) {
			return nonce, hash, nil
		}
		if err != nil {
			return "", nil, err
		}
	}
}

// PreviewInvite shows where a code leads; see hub.Invites.
func (h *Hub) PreviewInvite(ctx context.Context, code string) (hub.InvitePreview, error) {
	stored, err := h.inviteOf(code)
	if err != nil {
		return hub.InvitePreview{}, err
	}
	p := hub.InvitePreview{Invite: stored.Shown(h.engine.Clock.Now())}
	if p.Room, p.Project, err = h.placeOf(stored.RoomID); err != nil {
		return hub.InvitePreview{}, err
	}
	if c := hub.CallerOf(ctx); c.Remote && c.Agent == "" {
		p.Room.Bindings = []string{} // a stranger must not see the folders of this machine
	}
	return p, nil
}

// placeOf returns a room and its project.
func (h *Hub) placeOf(id hub.RoomID) (room hub.Room, project hub.Project, err error) {
	if room, err = h.view.Room(id); err != nil {
		return room, project, err
	}
	project, ok := h.view.Project(room.ProjectID)
	if !ok {
		err = hub.NewError(hub.CodeCorruptRecord, "the project of the room is not stored").With("room_id", id)
	}
	return room, project, err
}

// inviteOf returns the invite of a code. Error: invite_not_found.
func (h *Hub) inviteOf(typed string) (core.StoredInvite, error) {
	code, ok := foldCode(typed)
	if !ok {
		return core.StoredInvite{}, errInviteNotFound()
	}
	key, err := h.rows.Row(core.TableInviteCode, h.secrets().codeHash(code))
	if errors.Is(err, core.ErrNotFound) {
		return core.StoredInvite{}, errInviteNotFound()
	}
	if err != nil {
		return core.StoredInvite{}, err
	}
	return view.StoredRow[core.StoredInvite](h.rows, core.TableInvite, key)
}

// inviteByID returns an invite by its id. Error: invite_not_found.
func (h *Hub) inviteByID(id hub.InviteID) (core.StoredInvite, error) {
	seq, ok := core.SeqOf(core.PrefixInvite, string(id))
	if !ok {
		return core.StoredInvite{}, errInviteNotFound()
	}
	room, err := h.rows.Row(core.TableInviteRoom, core.SeqKey(seq))
	if errors.Is(err, core.ErrNotFound) {
		return core.StoredInvite{}, errInviteNotFound()
	}
	if err != nil {
		return core.StoredInvite{}, err
	}
	return view.StoredRow[core.StoredInvite](h.rows, core.TableInvite, core.InviteKey(hub.RoomID(room), id))
}

func errInviteNotFound() error {
	return hub.NewError(hub.CodeInviteNotFound, "there is no such invite").
		WithFix("check the code letter by letter, or ask for a new invite")
}

// RevokeInvite ends an invite; see hub.Invites.
func (h *Hub) RevokeInvite(ctx context.Context, codeOrID string) (hub.Outcome[hub.Invite], error) {
	codeOrID = strings.TrimSpace(codeOrID)
	find := h.inviteOf
	if strings.Contains(codeOrID, "_") {
		find = func(id string) (core.StoredInvite, error) { return h.inviteByID(hub.InviteID(id)) }
	}
	var stored core.StoredInvite
	act := gate.Act{Op: "revokeInvite"}
	row, replayed, err := gate.Do(ctx, h.gate, &act, engine.JSONCodec[core.StoredInvite](engine.EffectInvite), func() (inviteCommand, error) {
		var err error
		stored, err = find(codeOrID)
		return inviteCommand{
			Owner: core.RoomOwner(stored.RoomID), Answer: asDecided[core.StoredInvite],
			Decide: func(r *core.Room, now core.Now) (core.Decision[core.StoredInvite], error) {
				return r.Revoke(stored.InviteID, now)
			},
		}, err
	})
	if errors.Is(err, core.ErrNotLive) { // it has ended already, and its row says how
		row, err = h.inviteByID(stored.InviteID)
	}
	if err != nil {
		return hub.Outcome[hub.Invite]{}, err
	}
	return hub.Outcome[hub.Invite]{Row: row.Shown(h.engine.Clock.Now()), Replayed: replayed}, err
}

// expireInvites asks the room's owner to end expired invites, so that an answer
// shows an end only when it is durable.
func (h *Hub) expireInvites(room hub.RoomID) error {
	_, _, err := engine.Submit(context.Background(), h.engine, engine.Command[*core.Room, struct{}, struct{}]{
		Owner: core.RoomOwner(room),
		Decide: func(r *core.Room, now core.Now) (core.Decision[struct{}], error) {
			d := nothing()
			d.Draft = r.Expire(now)
			return d, nil
		},
		Answer: func(struct{}, *core.Record) struct{} { return struct{}{} },
	})
	return err
}

// refusedInvite returns why an invite that is not active cannot be accepted, or
// the seat that the agent already has by it: accepting again is harmless.
func (h *Hub) refusedInvite(id hub.InviteID, agent hub.AgentID) (core.Accepted, error) {
	stored, err := h.inviteByID(id)
	if err != nil {
		return core.Accepted{}, err
	}
	if stored.State == hub.InviteExhausted && agent != "" {
		seat, err := h.view.SeatOf(stored.RoomID, agent)
		if err == nil && seat.InviteID == id {
			return core.Accepted{Seat: seat, Wanted: agent}, nil
		}
		if err != nil && !errors.Is(err, core.ErrNotFound) {
			return core.Accepted{}, err
		}
	}
	return core.Accepted{}, core.RefuseInvite(stored.State)
}
