package actors

import (
	"hubcli/actors/asks"
	"hubcli/actors/connections"
	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/actors/leases"
	"hubcli/actors/spawns"
	"hubcli/hub"
)

// kinds is the table of owner kinds: what an owner of each kind needs to run. Leases,
// tasks and projects need all live rows to decide, so they are permanent. The state of
// the others is stored rows, which load.go reads.
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
		{Kind: core.OwnerAsks, Load: stored(func(string) (*core.Asks, error) { return asks.Load(h.rows) })},
		{Kind: core.OwnerPauses, Load: stored(func(string) (*core.Pauses, error) { return h.loadPauses() })},
		{Kind: core.OwnerMutes, Load: stored(func(string) (*core.Mutes, error) { return h.loadMutes() })},
		{Kind: core.OwnerConnections, Load: stored(func(string) (*core.Connections, error) { return connections.Load(h.rows) })},
		{Kind: core.OwnerBudgets, Load: stored(func(string) (*core.Budgets, error) { return h.loadBudgets() })},
	}
}

// stored is the load function of a kind whose rows do not name the last record
// in them.
func stored[S core.Machine](load func(name string) (S, error)) func(string) (core.Machine, hub.Seq, error) {
	return func(name string) (core.Machine, hub.Seq, error) {
		state, err := load(name)
		if err != nil {
			return nil, 0, err
		}
		return state, 0, nil
	}
}
