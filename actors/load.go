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
	if err = errors.Join(err, loadRulings(h.rows, &s.Passes), loadRulings(h.rows, &s.Users)); err != nil {
		return nil, err
	}
	to, err := asks.Setting(h.rows)
	s.RestoreNotify(to)
	return s, err
}

// loadRulings reads what is in force of one kind.
func loadRulings[Target, Row any](rows core.Rows, r *core.Rulings[Target, Row]) error {
	var bad error
	err := rows.RowsOf(r.Table(), nil, false, func(_, value []byte) bool {
		bad = r.Restore(value)
		return bad == nil
	})
	return errors.Join(err, bad)
}

func (h *Hub) loadPauses() (*core.Pauses, error) {
	p := core.NewPauses()
	return p, loadRulings(h.rows, &p.Rulings)
}

func (h *Hub) loadMutes() (*core.Mutes, error) {
	m := core.NewMutes()
	return m, loadRulings(h.rows, &m.Rulings)
}

func (h *Hub) loadBudgets() (*core.Budgets, error) {
	b := core.NewBudgets()
	return b, loadRulings(h.rows, &b.Rulings)
}
