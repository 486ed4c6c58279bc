package actors

import (
	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/actors/leases"
	"hubcli/actors/spawns"
	"hubcli/hub"
)

// kinds is the table of owner kinds: what an owner of each kind needs to run. Leases,
// tasks and projects need all of what is live to decide, so they are permanent; the
// state of the others is stored rows.
func (h *Hub) kinds() []engine.Kind {
	claims := engine.Kind{
		Kind: core.OwnerLeases, Owners: core.LeaseOwners(), Version: core.LeasesVersion,
		Fresh:   func() core.Machine { return core.NewLeases() },
		Restore: func(version uint16, data []byte) (core.Machine, error) { return core.RestoreLeases(version, data) },
		Extend:  func(o *engine.Owner) engine.Extension { return leases.NewQueue(o, h.engine, h.view) },
	}
	tasks := engine.Kind{
		Kind: core.OwnerTasks, Owners: []core.Owner{core.TasksOwner()}, Version: core.TasksVersion,
		Fresh:   func() core.Machine { return core.NewTasks() },
		Restore: func(version uint16, data []byte) (core.Machine, error) { return core.RestoreTasks(version, data) },
	}
	projects := engine.Kind{
		Kind: core.OwnerProjects, Owners: []core.Owner{core.ProjectsOwner()}, Version: core.ProjectsVersion,
		Fresh:   func() core.Machine { return core.NewProjects() },
		Restore: func(version uint16, data []byte) (core.Machine, error) { return core.RestoreProjects(version, data) },
	}
	return []engine.Kind{
		{Kind: core.OwnerAgent, Load: h.loadAgent},
		{Kind: core.OwnerChannel, Load: h.loadChannel},
		claims, tasks, projects,
		{Kind: core.OwnerRoom, Load: stored(func(id string) (*core.Room, error) { return h.loadRoom(hub.RoomID(id)) })},
		{Kind: core.OwnerMemory, Load: stored(h.loadMemory)},
		{Kind: core.OwnerSettings, Load: stored(func(string) (*core.Settings, error) { return h.loadSettings() })},
		{Kind: core.OwnerSpawns, Load: stored(func(string) (*core.Spawns, error) { return spawns.Load(h.rows) })},
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
