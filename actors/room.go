package actors

import (
	"errors"

	"hubcli/actors/core"
	"hubcli/hub"
)

// loadRoom makes the state of a room's owner from its stored rows.
func (h *Hub) loadRoom(id hub.RoomID) (*core.Room, error) {
	r := core.NewRoom(id)
	all := core.OwnedKey(id, nil)
	seats, err := h.views.seatsOf(id)
	if err != nil {
		return nil, err
	}
	for _, s := range seats {
		r.RestoreSeat(s)
	}
	active, err := storedRow[[]hub.InviteID](h.rows, core.TableInvitesActive, []byte(id))
	if err != nil && !errors.Is(err, core.ErrNotFound) {
		return nil, err
	}
	for _, invite := range active {
		i, err := storedRow[core.StoredInvite](h.rows, core.TableInvite, core.InviteKey(id, invite))
		if err != nil {
			return nil, err
		}
		r.RestoreInvite(i)
	}
	err = readRows(h.rows, core.TableArtifactTitle, all, nil, false, func(key []byte, latest core.LatestArtifact) bool {
		r.RestoreTitle(string(key[len(all):]), latest.Version)
		return true
	})
	return r, err
}
