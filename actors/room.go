package actors

import (
	"errors"

	"hubcli/actors/core"
	"hubcli/actors/view"
	"hubcli/hub"
)

// loadRoom makes the state of a room's owner from its stored rows.
func (h *Hub) loadRoom(id hub.RoomID) (*core.Room, error) {
	r := core.NewRoom(id)
	all := core.OwnedKey(id, nil)
	seats, err := h.view.SeatsOf(id)
	if err != nil {
		return nil, err
	}
	for _, s := range seats {
		r.RestoreSeat(s)
	}
	active, err := view.StoredRow[[]hub.InviteID](h.rows, core.TableInvitesActive, []byte(id))
	if err != nil && !errors.Is(err, core.ErrNotFound) {
		return nil, err
	}
	for _, invite := range active {
		i, err := view.StoredRow[core.StoredInvite](h.rows, core.TableInvite, core.InviteKey(id, invite))
		if err != nil {
			return nil, err
		}
		r.RestoreInvite(i)
	}
	err = view.ReadRows(h.rows, core.TableArtifactTitle, all, nil, false, func(key []byte, latest core.LatestArtifact) bool {
		r.RestoreTitle(string(key[len(all):]), latest.Version)
		return true
	})
	return r, err
}
