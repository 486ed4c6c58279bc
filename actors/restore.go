package actors

import (
	"errors"
	"fmt"
	"strconv"

	"hubcli/actors/core"
	"hubcli/hub"
)

// restored is what a start has made of the checkpoint and the records behind it.
type restored struct {
	asOf     hub.Seq   // of the checkpoint
	behind   core.Head // the same, and what else the checkpoint reached
	leases   [core.LeaseShards]*core.Leases
	tasks    *core.Tasks
	projects *core.Projects
	last     map[core.Owner]hub.Seq // last record of each permanent owner
}

// permanentOwners lists the owners whose state stands in checkpoints.
func permanentOwners() []core.Owner {
	owners := make([]core.Owner, 0, core.LeaseShards+2)
	for i := range core.LeaseShards {
		owners = append(owners, core.LeaseOwner(i))
	}
	return append(owners, core.TasksOwner(), core.ProjectsOwner())
}

// restore reads the newest checkpoint and applies the records behind it. Agents
// and channels are not restored: their rows are their state, see load.
func (h *Hub) restore() (*restored, error) {
	r := &restored{tasks: core.NewTasks(), projects: core.NewProjects(), last: map[core.Owner]hub.Seq{}}
	for i := range r.leases {
		r.leases[i] = core.NewLeases()
	}
	c, err := h.journal.Checkpoint()
	switch {
	case errors.Is(err, core.ErrNotFound):
	case err != nil:
		return nil, fmt.Errorf("read checkpoint: %w", err)
	default:
		r.asOf, r.behind = c.Head.Seq, c.Head
		h.clock.resume(c.Head.HubMS)
		for _, s := range c.Sections {
			if err := h.restoreSection(r, s); err != nil {
				return nil, fmt.Errorf("restore %s from checkpoint %d: %w", s.Owner, c.Head.Seq, err)
			}
		}
	}
	if err := h.restoreQuarantine(); err != nil {
		return nil, err
	}
	if err := h.journal.Records(r.asOf, func(rec *core.Record) error { return h.replay(r, rec) }); err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	return r, nil
}

func (h *Hub) restoreSection(r *restored, s core.Section) (err error) {
	r.last[s.Owner] = s.AsOf
	switch {
	case s.Owner == core.DirectoryOwner():
		return h.view.Restore(s)
	case s.Owner.Kind == core.OwnerLeases:
		i, convErr := strconv.Atoi(s.Owner.Name)
		if convErr != nil || i < 0 || i >= len(r.leases) {
			return fmt.Errorf("no lease shard %q", s.Owner.Name)
		}
		r.leases[i], err = core.RestoreLeases(s.Version, s.Data)
	case s.Owner == core.TasksOwner():
		r.tasks, err = core.RestoreTasks(s.Version, s.Data)
	case s.Owner == core.ProjectsOwner():
		r.projects, err = core.RestoreProjects(s.Version, s.Data)
	default:
		err = errors.New("no such owner kind")
	}
	return err
}

// replay applies one record to what is kept in memory. A fact that panics puts
// its owner into quarantine and nothing else.
func (h *Hub) replay(r *restored, rec *core.Record) error {
	at := rec.Position()
	var state core.Machine
	switch rec.Owner.Kind {
	case core.OwnerLeases:
		i, err := strconv.Atoi(rec.Owner.Name)
		if err != nil || i < 0 || i >= len(r.leases) {
			return fmt.Errorf("record %d: no lease shard %q", rec.Seq, rec.Owner.Name)
		}
		state = r.leases[i]
	case core.OwnerTasks:
		state = r.tasks
	case core.OwnerProjects:
		state = r.projects
	case core.OwnerAgent, core.OwnerChannel, core.OwnerRoom, core.OwnerMemory, core.OwnerSettings, core.OwnerSpawns:
	}
	if state != nil && (rec.Seq <= r.last[rec.Owner] || h.isQuarantined(rec.Owner)) {
		return nil
	}
	directory := rec.Seq > r.last[core.DirectoryOwner()]
	for _, e := range rec.Facts {
		f, err := core.DecodeFact(e)
		if err != nil {
			return fmt.Errorf("record %d: %w", rec.Seq, err)
		}
		if state == nil {
			if directory {
				h.view.Replay(f, at)
			}
			continue
		}
		if err := h.applyGuarded(rec.Owner, state, f, at, nil); err != nil {
			h.setQuarantine(rec.Owner, rec.Seq, err)
			return nil
		}
	}
	if state != nil {
		r.last[rec.Owner] = rec.Seq
	}
	return nil
}

// applyGuarded is Apply with a panic turned into an error.
func (h *Hub) applyGuarded(o core.Owner, m core.Machine, f core.Fact, at core.Position, rows core.RowSink) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("applying %T: %v", f, r)
		}
	}()
	if hook := h.options.ApplyHook; hook != nil {
		hook(o, f)
	}
	m.Apply(f, at, rows)
	return nil
}

// begin starts the permanent owners and the views with what was restored.
func (h *Hub) begin(r *restored) {
	states := map[core.Owner]core.Machine{core.TasksOwner(): r.tasks, core.ProjectsOwner(): r.projects}
	for i, l := range r.leases {
		states[core.LeaseOwner(i)] = l
	}
	for _, s := range h.view.Started(h.seq.head, h.clock.now().Wall, states) {
		h.seq.incarnations[s.Agent] = s.Incarnation
	}
	for i, l := range r.leases {
		h.install(core.LeaseOwner(i), l, r).leases = &leaseTimer{}
	}
	h.install(core.TasksOwner(), r.tasks, r)
	h.install(core.ProjectsOwner(), r.projects, r)
	// From the first turn on the writer changes the views, so turns come last.
	if err := h.rebuildMarked(); err != nil {
		h.fail(fmt.Errorf("rebuild what was in doubt: %w", err))
	}
	for i := range r.leases {
		o, _ := h.registry.find(core.LeaseOwner(i))
		h.stage.tell(o.pid, &graceTurn{})
	}
}

func (h *Hub) install(k core.Owner, state core.Machine, r *restored) *owner {
	o := h.registry.install(k, state)
	o.lastSeq = r.last[k]
	if q, ok := h.quarantineOf(k); ok {
		o.quarantined = errQuarantined(q)
	}
	return o
}

// load makes the state of an owner whose stored row is its state.
func (h *Hub) load(k core.Owner) (core.Machine, error) {
	if q, ok := h.quarantineOf(k); ok {
		return nil, errQuarantined(q)
	}
	switch k.Kind {
	case core.OwnerAgent:
		row, err := h.view.AgentRow(hub.AgentID(k.Name))
		if err != nil {
			return nil, err
		}
		return core.NewAgent(hub.AgentID(k.Name), row), nil
	case core.OwnerChannel:
		row, err := h.view.ChannelRow(hub.ChannelName(k.Name))
		if err != nil {
			return nil, err
		}
		return core.NewChannel(row), nil
	case core.OwnerRoom:
		return h.loadRoom(hub.RoomID(k.Name))
	case core.OwnerMemory:
		return h.loadMemory(k.Name)
	case core.OwnerSettings:
		return h.loadSettings()
	case core.OwnerSpawns:
		return h.loadSpawns()
	case core.OwnerLeases, core.OwnerTasks, core.OwnerProjects:
	}
	return nil, fmt.Errorf("actors: %s is not loaded on demand", k)
}
