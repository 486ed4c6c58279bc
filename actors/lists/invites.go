package lists

import (
	"context"
	"errors"
	"slices"

	"hubcli/actors/core"
	"hubcli/actors/view"
	"hubcli/hub"
)

// Invites lists invites, latest first; see hub.Invites.
func (s *Lists) Invites(_ context.Context, q hub.InvitesQuery) ([]hub.Invite, hub.Cursor, error) {
	var project hub.ProjectID
	var room hub.RoomID
	switch {
	case q.Room != "":
		row, err := s.view.FindRoom(hub.RoomRef{Project: q.Project, Room: q.Room})
		if err != nil {
			return nil, "", err
		}
		room = row.RoomID
	case q.Project != "":
		row, err := s.view.FindProject(q.Project)
		if err != nil {
			return nil, "", err
		}
		project = row.ProjectID
	}
	before, err := s.cursors.beforeSeq(listInvites, q.Cursor, core.PrefixInvite, string(q.Before))
	if err != nil {
		return nil, "", err
	}
	now, p := s.engine.Clock.Now(), newPage[hub.Invite](q.Limit)
	err = s.latestInvites(room, before, func(i core.StoredInvite) bool {
		row := i.Shown(now)
		keeps := (project == "" || row.ProjectID == project) && (q.State == "" || row.State == q.State)
		return !keeps || p.add(row, view.IDKey(core.PrefixInvite, row.InviteID))
	})
	return p.end(s.cursors, listInvites, err)
}

// latestInvites calls fn with the invites of a room that were made before a
// record, latest first, until fn returns false. If room is empty, it takes
// those of all rooms.
func (s *Lists) latestInvites(room hub.RoomID, before hub.Seq, fn func(core.StoredInvite) bool) error {
	table, prefix := core.TableInviteRoom, []byte(nil)
	if room != "" {
		table, prefix = core.TableInvite, core.OwnedKey(room, nil)
	}
	var bad error
	behind := append(slices.Clip(prefix), core.SeqKey(before)...)
	err := s.rows.RowsBehind(table, prefix, behind, true, func(key, value []byte) bool {
		var i core.StoredInvite
		if room != "" {
			i, bad = view.DecodeRow[core.StoredInvite](table, value)
		} else {
			i, bad = view.StoredRow[core.StoredInvite](s.rows, core.TableInvite, core.OwnedKey(hub.RoomID(value), key))
		}
		return bad == nil && fn(i)
	})
	return errors.Join(err, bad)
}
