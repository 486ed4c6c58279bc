package actors

import (
	"hubcli/actors/core"
	"hubcli/hub"
)

// kinds is the table of owner kinds: what an owner of each kind needs to run. Leases,
// tasks and projects need all of what is live to decide, so they are permanent; the
// state of the others is stored rows.
func (h *Hub) kinds() []kind {
	leases := kind{
		kind: core.OwnerLeases, owners: core.LeaseOwners(), version: core.LeasesVersion,
		fresh:   func() core.Machine { return core.NewLeases() },
		restore: func(version uint16, data []byte) (core.Machine, error) { return core.RestoreLeases(version, data) },
		extend:  func(o *owner) extension { return &leaseQueue{owner: o, engine: h.engine, view: h.view} },
	}
	tasks := kind{
		kind: core.OwnerTasks, owners: []core.Owner{core.TasksOwner()}, version: core.TasksVersion,
		fresh:   func() core.Machine { return core.NewTasks() },
		restore: func(version uint16, data []byte) (core.Machine, error) { return core.RestoreTasks(version, data) },
	}
	projects := kind{
		kind: core.OwnerProjects, owners: []core.Owner{core.ProjectsOwner()}, version: core.ProjectsVersion,
		fresh:   func() core.Machine { return core.NewProjects() },
		restore: func(version uint16, data []byte) (core.Machine, error) { return core.RestoreProjects(version, data) },
	}
	return []kind{
		{kind: core.OwnerAgent, load: h.loadAgent},
		{kind: core.OwnerChannel, load: h.loadChannel},
		leases, tasks, projects,
		{kind: core.OwnerRoom, load: stored(func(id string) (*core.Room, error) { return h.loadRoom(hub.RoomID(id)) })},
		{kind: core.OwnerMemory, load: stored(h.loadMemory)},
		{kind: core.OwnerSettings, load: stored(func(string) (*core.Settings, error) { return h.loadSettings() })},
		{kind: core.OwnerSpawns, load: stored(func(string) (*core.Spawns, error) { return h.loadSpawns() })},
	}
}

// stored is the load of a kind whose rows do not say which records are in them.
func stored[S core.Machine](load func(name string) (S, error)) func(string) (core.Machine, hub.Seq, error) {
	return func(name string) (core.Machine, hub.Seq, error) {
		state, err := load(name)
		if err != nil {
			return nil, 0, err
		}
		return state, 0, nil
	}
}

func (h *Hub) loadAgent(name string) (core.Machine, hub.Seq, error) {
	row, err := h.view.AgentRow(hub.AgentID(name))
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
