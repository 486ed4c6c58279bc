package actors

import (
	"context"
	"errors"
	"sync"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/actors/gate"
	"hubcli/actors/view"
	"hubcli/hub"
)

// deleteKinds is clearKinds for things that are archived. Nothing that was acknowledged is
// deleted: a thing goes only if it holds nothing. A caller that looked for it before may still
// put something into it in the same moment. So each is looked at again when it is gone, and is
// brought back if it holds something.
var deleteKinds = sync.OnceValue(func() map[hub.ClearKind]clearKind {
	return map[hub.ClearKind]clearKind{
		hub.ClearProjects: {find: findProjects, name: everMade(core.TableProject), end: func(ctx context.Context, h *clearing, id, _ string) error {
			return h.deleteProject(ctx, hub.ProjectID(id))
		}, gone: []hub.Code{hub.CodeProjectNotFound}, holds: func(h *clearing, id string) (string, error) { return h.projectHolds(hub.ProjectID(id)) }},
		hub.ClearRooms: {find: findRooms, name: everMade(core.TableRoom), end: func(ctx context.Context, h *clearing, id, _ string) error {
			return h.deleteRoom(ctx, hub.RoomID(id))
		}, gone: []hub.Code{hub.CodeRoomNotFound}, holds: func(h *clearing, id string) (string, error) { return h.roomHolds(hub.RoomID(id)) }},
		hub.ClearChannels: {find: findChannels, name: channelMade, end: func(ctx context.Context, h *clearing, id, _ string) error {
			return h.deleteChannel(ctx, hub.ChannelName(id))
		}, gone: []hub.Code{hub.CodeChannelNotFound}, holds: func(h *clearing, id string) (string, error) { return h.messagesIn(hub.ChannelName(id)) }},
	}
})

// deletion is how one kind of things is deleted.
type deletion[M core.Machine, Row any] struct {
	owner  core.Owner
	codec  engine.Codec[Row]
	what   string // for people
	holds  func() (string, error)
	delete func(M) (core.Decision[Row], error)
	keep   func(M, Row) (core.Decision[Row], error)
	gone   func() // forgets what the hub remembers of it
}

func deleteOne[M core.Machine, Row any](ctx context.Context, h *Hub, d *deletion[M, Row]) error {
	submit := func(ctx context.Context, decide func(M) (core.Decision[Row], error)) (Row, error) {
		act := ruling("clear")
		row, _, err := gate.Do(ctx, h.gate, &act, d.codec, func() (engine.Command[M, Row, Row], error) {
			return engine.Command[M, Row, Row]{
				Owner: d.owner, Answer: asDecided[Row],
				Decide: func(m M, _ core.Now) (core.Decision[Row], error) { return decide(m) },
			}, nil
		})
		return row, err
	}
	if holds, err := d.holds(); err != nil || holds != "" {
		return errors.Join(err, notEmpty(d.what, holds))
	}
	row, err := submit(ctx, d.delete)
	if err != nil {
		return err
	}
	d.gone()
	holds, err := d.holds()
	if err != nil || holds == "" {
		return err
	}
	ctx = h.clearStep(ctx, "back")
	if _, err := submit(ctx, func(m M) (core.Decision[Row], error) { return d.keep(m, row) }); err != nil {
		return err
	}
	return notEmpty(d.what, holds)
}

func notEmpty(what, holds string) error {
	if holds == "" {
		return nil
	}
	return core.ErrNotEmpty(what, holds)
}

func (h *clearing) deleteRoom(ctx context.Context, id hub.RoomID) error {
	room, err := h.view.Room(id)
	if err != nil {
		return err
	}
	return deleteOne(ctx, h.Hub, h.deletionOfRoom(&room))
}

func (h *clearing) deletionOfRoom(room *hub.Room) *deletion[*core.Projects, core.StoredRoom] {
	return &deletion[*core.Projects, core.StoredRoom]{
		owner: core.ProjectsOwner(), codec: engine.JSONCodec[core.StoredRoom](engine.EffectRoom), what: "room " + room.Slug,
		holds:  func() (string, error) { return h.roomHolds(room.RoomID) },
		delete: func(p *core.Projects) (core.Decision[core.StoredRoom], error) { return p.DeleteRoom(room.RoomID) },
		keep:   (*core.Projects).KeepRoom,
		gone:   func() { h.channels.forget(room.Channel) },
	}
}

// deleteProject deletes the rooms of a project too. It ends at the first that holds something.
func (h *clearing) deleteProject(ctx context.Context, id hub.ProjectID) error {
	project, ok := h.view.Project(id)
	if !ok {
		return hub.NewError(hub.CodeProjectNotFound, "there is no such project")
	}
	if !project.Archived {
		return hub.Errorf(hub.CodePlanChanged, "project %s is not archived any more", project.Slug)
	}
	if holds, err := h.projectHolds(id); err != nil || holds != "" { // else its empty rooms would go first
		return errors.Join(err, notEmpty("project "+project.Slug, holds))
	}
	for _, room := range view.Look(h.view.Places, func(a *core.ProjectIndex) []hub.Room { return a.Rooms(id) }) {
		if err := h.deleteRoom(h.clearStep(ctx, string(room.RoomID)), room.RoomID); err != nil {
			return err
		}
	}
	return deleteOne(ctx, h.Hub, &deletion[*core.Projects, hub.Project]{
		owner: core.ProjectsOwner(), codec: engine.JSONCodec[hub.Project](engine.EffectProject), what: "project " + project.Slug,
		holds:  func() (string, error) { return h.anyOf(core.OwnedKey(id, nil), projectContents) },
		delete: func(p *core.Projects) (core.Decision[hub.Project], error) { return p.DeleteProject(id) },
		keep: func(p *core.Projects, was hub.Project) (core.Decision[hub.Project], error) {
			return p.KeepProject(was), nil
		},
		gone: func() {},
	})
}

func (h *clearing) deleteChannel(ctx context.Context, name hub.ChannelName) error {
	return deleteOne(ctx, h.Hub, &deletion[*core.Channel, hub.Channel]{
		owner: core.ChannelOwner(name), codec: engine.JSONCodec[hub.Channel](engine.EffectChannelArchived), what: "channel " + string(name),
		holds:  func() (string, error) { return h.messagesIn(name) },
		delete: func(c *core.Channel) (core.Decision[hub.Channel], error) { return c.Delete(name) },
		keep:   func(c *core.Channel, was hub.Channel) (core.Decision[hub.Channel], error) { return c.Keep(was), nil },
		gone:   func() { h.channels.forget(name) },
	})
}

// contents are tables whose keys begin with what owns a row, and what their rows are.
type contents []struct {
	table core.Table
	what  string
}

var (
	projectContents = contents{{core.TableMemoryBy, "memories"}}
	roomContents    = contents{
		{core.TableSeat, "seats"},
		{core.TableSeatEnded, "seats that have ended"},
		{core.TableDecisionByRoom, "decisions"},
		{core.TableArtifactByRoom, "artifacts"},
		{core.TableMemoryBy, "memories"},
		{core.TableRunByRoom, "runs"},
		{core.TableTaskByRoom, "tasks"},
		{core.TableSpawnByRoom, "spawns"},
		{core.TableInvite, "invites"},
	}
)

// anyOf says what of some contents there is; empty: nothing.
func (h *clearing) anyOf(prefix []byte, of contents) (holds string, err error) {
	for _, c := range of {
		found := false
		err := h.rows.RowsOf(c.table, prefix, false, func(_, _ []byte) bool {
			found = true
			return false
		})
		if err != nil || found {
			return c.what, err
		}
	}
	return "", nil
}

// messagesIn says whether anything was ever said in a channel.
func (h *clearing) messagesIn(name hub.ChannelName) (holds string, err error) {
	err = h.rows.Messages(core.Scope{Kind: core.ScopeChannel, Name: string(name)}, 0, hub.MaxMessageID, false, func(*core.StoredMessage) bool {
		holds = "messages"
		return false
	})
	return holds, err
}

// projectHolds says what there is in a project or in a room of it; empty: nothing.
func (h *clearing) projectHolds(id hub.ProjectID) (holds string, err error) {
	for _, room := range view.Look(h.view.Places, func(a *core.ProjectIndex) []hub.Room { return a.Rooms(id) }) {
		if holds, err = h.roomHolds(room.RoomID); err != nil || holds != "" {
			return holds, err
		}
	}
	return h.anyOf(core.OwnedKey(id, nil), projectContents)
}

// roomHolds says what there is in a room; empty: nothing.
func (h *clearing) roomHolds(id hub.RoomID) (holds string, err error) {
	if holds, err = h.messagesIn(id.Channel()); err != nil || holds != "" {
		return holds, err
	}
	if holds, err = h.anyOf(core.OwnedKey(id, nil), roomContents); err != nil || holds != "" {
		return holds, err
	}
	for _, of := range []struct {
		table core.Table
		key   []byte
		what  string
	}{{core.TablePause, core.PauseKey(hub.PauseTarget{RoomID: id}), "a pause"}, {core.TableBudget, core.BudgetKey(hub.BudgetTarget{RoomID: id}), "a budget"}} {
		value, err := h.rows.Row(of.table, of.key)
		switch {
		case err == nil && len(value) > 0:
			return of.what, nil
		case err != nil && !errors.Is(err, core.ErrNotFound):
			return "", err
		}
	}
	if h.asked[id] {
		return "questions", nil
	}
	room, err := h.view.Room(id)
	if err == nil && len(room.Bindings) > 0 {
		return "a bound folder", nil
	}
	return "", nil // a room that is gone has none
}
