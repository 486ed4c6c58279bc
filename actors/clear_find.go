package actors

import (
	"encoding/json"
	"errors"

	"hubcli/actors/core"
	"hubcli/actors/view"
	"hubcli/hub"
)

func findProjects(h *Hub, in *hub.ClearInput, add func(hub.Clearable) bool) error {
	for _, p := range view.Look(h.view.Places, (*core.ProjectIndex).Projects) {
		if p.Archived == in.Archived && wants(in, p.MadeBy) && !add(hub.Clearable{ID: string(p.ProjectID), Name: p.Name, CreatedBy: p.MadeBy, CreatedAt: p.CreatedAt}) {
			break
		}
	}
	return nil
}

func projectName(h *Hub, id string) (string, error) {
	p, ok := h.view.Project(hub.ProjectID(id))
	if !ok {
		return "", core.ErrNotFound
	}
	return p.Name, nil
}

func findRooms(h *Hub, in *hub.ClearInput, add func(hub.Clearable) bool) error {
	rooms := view.Look(h.view.Places, func(a *core.ProjectIndex) []hub.Room { return a.Rooms(hub.ProjectID(in.Project)) })
	for i := range rooms {
		r := &rooms[i]
		if r.Archived == in.Archived && wants(in, r.CreatedBy) && !add(hub.Clearable{ID: string(r.RoomID), Name: r.Name, CreatedBy: r.CreatedBy, CreatedAt: r.CreatedAt}) {
			break
		}
	}
	return nil
}

func roomName(h *Hub, id string) (string, error) {
	r, err := h.view.Room(hub.RoomID(id))
	return r.Name, err
}

func findChannels(h *Hub, in *hub.ClearInput, add func(hub.Clearable) bool) error {
	var bad error
	err := h.rows.RowsOf(core.TableChannel, nil, false, func(_, value []byte) bool {
		var row hub.Channel
		if len(value) == 0 { // it was deleted
			return true
		}
		if bad = json.Unmarshal(value, &row); bad != nil {
			bad = hub.NewError(hub.CodeCorruptRecord, "the row of a channel cannot be read")
			return false
		}
		if row.Archived != in.Archived || !row.Name.Archives() || !wants(in, row.CreatedBy) {
			return true
		}
		return add(hub.Clearable{ID: string(row.Name), Name: string(row.Name), CreatedBy: row.CreatedBy, CreatedAt: row.CreatedAt})
	})
	return errors.Join(err, bad)
}

func findQuestions(h *Hub, in *hub.ClearInput, add func(hub.Clearable) bool) error {
	open, err := h.asks.Open()
	for i := range open {
		a := &open[i].Ask
		if !wants(in, a.AgentID) || in.RoomID != "" && (a.RoomID == nil || *a.RoomID != in.RoomID) {
			continue
		}
		if !add(hub.Clearable{ID: string(a.AskID), Name: a.Question, CreatedBy: a.AgentID, CreatedAt: a.CreatedAt}) {
			break
		}
	}
	return err
}

func questionName(h *Hub, id string) (string, error) {
	a, err := h.asks.Stored(hub.AskID(id))
	return a.Ask.Question, err
}

// roomsOf returns the rooms in which a selection looks.
func (h *Hub) roomsOf(in *hub.ClearInput) []hub.RoomID {
	if in.RoomID != "" {
		return []hub.RoomID{in.RoomID}
	}
	var ids []hub.RoomID
	for _, r := range view.Look(h.view.Places, func(a *core.ProjectIndex) []hub.Room { return a.Rooms(hub.ProjectID(in.Project)) }) {
		ids = append(ids, r.RoomID)
	}
	return ids
}

func findInvites(h *Hub, in *hub.ClearInput, add func(hub.Clearable) bool) error {
	now := h.engine.Clock.Now()
	for _, room := range h.roomsOf(in) {
		active, err := view.StoredRow[[]hub.InviteID](h.rows, core.TableInvitesActive, []byte(room))
		if err != nil && !errors.Is(err, core.ErrNotFound) {
			return err
		}
		for _, id := range active {
			i, err := view.StoredRow[core.StoredInvite](h.rows, core.TableInvite, core.InviteKey(room, id))
			if err != nil {
				return err
			}
			if i.Shown(now).State != hub.InviteActive || !wants(in, i.By) {
				continue
			}
			if !add(hub.Clearable{ID: string(id), Name: i.Role, CreatedBy: i.By, CreatedAt: i.CreatedAt}) {
				return nil
			}
		}
	}
	return nil
}

func inviteName(h *Hub, id string) (string, error) {
	i, err := h.inviteByID(hub.InviteID(id))
	return i.Role, err
}

// findSeats finds seats by their agent or by the maker of their invite.
func findSeats(h *Hub, in *hub.ClearInput, add func(hub.Clearable) bool) error {
	for _, room := range h.roomsOf(in) {
		seats, err := h.view.SeatsOf(room)
		if err != nil {
			return err
		}
		for i := range seats {
			s := &seats[i]
			maker := s.By
			if s.Acting() || s.SpawnID != "" {
				maker = s.AgentID
			}
			if !wants(in, maker) && (in.Unnamed || in.By != s.AgentID) {
				continue
			}
			id := string(s.RoomID) + "/" + string(s.AgentID) + "/" + string(s.SeatID)
			if !add(hub.Clearable{ID: id, Name: id, CreatedBy: maker, CreatedAt: s.JoinedAt}) {
				return nil
			}
		}
	}
	return nil
}
