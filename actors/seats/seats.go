package seats

import (
	"log/slog"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/actors/gate"
	"hubcli/actors/view"
	"hubcli/hub"
)

// Options are the parts of the hub that seats use. All are required.
type Options struct {
	View   *view.View
	Engine *engine.Engine
	Gate   *gate.Gate
	Rows   core.Rows
	Log    *slog.Logger
	// Watching returns the label and the conditions of an agent's watch, if it
	// is parked.
	Watching func(hub.AgentID) (label string, conditions []string, parked bool)
	// LastCall returns the time of the last call of an agent without a session;
	// 0: unknown.
	LastCall func(hub.AgentID) hub.Time
	// Spawns lists the spawns of a room that have not ended.
	Spawns func(hub.RoomID) ([]hub.Spawn, error)
}

// Seats gives seats to agents that act in rooms, and shows seats and rooms.
type Seats struct {
	view     *view.View
	engine   *engine.Engine
	gate     *gate.Gate
	rows     core.Rows
	log      *slog.Logger
	watching func(hub.AgentID) (string, []string, bool)
	lastCall func(hub.AgentID) hub.Time
	spawns   func(hub.RoomID) ([]hub.Spawn, error)
	started  hub.Time // by the wall clock
	requests *requests
}

// New returns the seats of a hub that starts now. The engine may start later.
func New(o Options) *Seats {
	return &Seats{
		view: o.View, engine: o.Engine, gate: o.Gate, rows: o.Rows, log: o.Log,
		watching: o.Watching, lastCall: o.LastCall, spawns: o.Spawns,
		started: o.Engine.Clock.Now().Wall, requests: newRequests(o.View),
	}
}
