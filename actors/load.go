package actors

import (
	"errors"

	"hubcli/actors/asks"
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

func (h *Hub) loadAgent(name string) (core.Machine, hub.Seq, error) {
	row, err := h.view.AgentState(hub.AgentID(name))
	switch {
	case err != nil:
		return nil, 0, err
	case row == nil:
		return core.NewAgent(hub.AgentID(name), nil), 0, nil
	}
	return core.NewAgent(hub.AgentID(name), row), row.AsOf, nil
}

func (h *Hub) loadChannel(name string) (core.Machine, hub.Seq, error) {
	row, err := h.view.ChannelRow(hub.ChannelName(name))
	if err != nil {
		return nil, 0, err
	}
	return core.NewChannel(row), 0, nil
}

// loadMemory makes the state of an owner of memories from its rows.
func (h *Hub) loadMemory(of string) (*core.Memory, error) {
	m := core.NewMemory(of)
	var bad error
	err := h.rows.RowsOf(core.TableMemoryKey, core.MemoryKey(of, ""), false, func(key, value []byte) bool {
		bad = m.Restore(key, value)
		return bad == nil
	})
	return m, errors.Join(err, bad)
}

// loadSettings makes the state of the owner of the settings from its stored rows.
func (h *Hub) loadSettings() (*core.Settings, error) {
	s := core.NewSettings()
	err := h.rows.RowsOf(core.TableToolSurface, nil, false, func(key, value []byte) bool {
		s.RestoreSurface(hub.Harness(key), hub.Surface(value))
		return true
	})
	if err != nil {
		return nil, err
	}
	var bad error
	err = h.rows.RowsOf(core.TablePass, nil, false, func(_, value []byte) bool {
		bad = s.RestorePass(value)
		return bad == nil
	})
	if err = errors.Join(err, bad); err != nil {
		return nil, err
	}
	err = h.rows.RowsOf(core.TableUser, nil, false, func(_, value []byte) bool {
		bad = s.RestoreUser(value)
		return bad == nil
	})
	if err = errors.Join(err, bad); err != nil {
		return nil, err
	}
	to, err := asks.Setting(h.rows)
	s.RestoreNotify(to)
	return s, err
}

// loadPauses makes the state of the owner of the pauses from its stored rows.
func (h *Hub) loadPauses() (*core.Pauses, error) {
	p := core.NewPauses()
	var bad error
	err := h.rows.RowsOf(core.TablePause, nil, false, func(_, value []byte) bool {
		bad = p.Restore(value)
		return bad == nil
	})
	return p, errors.Join(err, bad)
}

// loadMutes makes the state of the owner of the mutes from its stored rows.
func (h *Hub) loadMutes() (*core.Mutes, error) {
	m := core.NewMutes()
	var bad error
	err := h.rows.RowsOf(core.TableMute, nil, false, func(_, value []byte) bool {
		bad = m.Restore(value)
		return bad == nil
	})
	return m, errors.Join(err, bad)
}

// loadBudgets makes the state of the owner of the budgets from its stored rows.
func (h *Hub) loadBudgets() (*core.Budgets, error) {
	b := core.NewBudgets()
	var bad error
	err := h.rows.RowsOf(core.TableBudget, nil, false, func(_, value []byte) bool {
		bad = b.Restore(value)
		return bad == nil
	})
	return b, errors.Join(err, bad)
}
