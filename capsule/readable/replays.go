package readable

import (
	"hubcli/capsule"
	"hubcli/capsule/replayfile"
	"hubcli/hub"
)

// roomsAtOnce is for how many rooms things are gathered at the same time: each line of the
// capsule is read once for that many rooms.
const roomsAtOnce = 8

// hasReplays tells whether each room gets a page that replays it.
func (r *renderer) hasReplays() bool {
	return r.form == Bundle && r.src.Manifest().Scope != capsule.ScopeKnowledge
}

// pasts gathers what some rooms were like beside their messages. There are none if there are
// no replays.
func (r *renderer) pasts(rooms []*room) (map[capsule.Ref]*past, error) {
	if !r.hasReplays() {
		return nil, nil
	}
	m := r.src.Manifest()
	pasts := map[capsule.Ref]*past{}
	for _, one := range rooms {
		pasts[one.ID] = &past{room: one, to: m.CreatedAt}
		for _, entry := range m.Entries {
			if entry.Path == capsule.MessagesPath(one.ID) {
				pasts[one.ID].skip = max(0, entry.Rows-pastMessages)
			}
		}
	}
	return pasts, r.gather(pasts)
}

// gather reads what there was in some rooms beside their messages.
func (r *renderer) gather(pasts map[capsule.Ref]*past) error {
	for _, read := range []func() error{
		func() error {
			return r.src.Decisions(into(r, pasts, func(d *capsule.Decision) capsule.Ref { return d.Room }, (*past).addDecision))
		},
		func() error {
			return r.src.Artifacts(into(r, pasts, func(a *capsule.Artifact) capsule.Ref { return a.Room }, (*past).addArtifact))
		},
		func() error { return r.src.Memories(r.intoMemories(pasts)) },
		func() error {
			return r.src.Tasks(into(r, pasts, func(t *capsule.Task) capsule.Ref { return t.Room }, (*past).addTask))
		},
		func() error {
			return r.src.Runs(into(r, pasts, func(u *capsule.Run) capsule.Ref { return u.Room }, (*past).addRun))
		},
	} {
		if err := read(); err != nil {
			return err
		}
	}
	return nil
}

// into returns a function that adds each line to the past of its room.
func into[T any](r *renderer, pasts map[capsule.Ref]*past, room func(*T) capsule.Ref, add func(*past, *T)) func(*T) error {
	return func(line *T) error {
		if p := pasts[room(line)]; p != nil {
			add(p, line)
		}
		return r.step()
	}
}

// intoMemories is into for memories: those of the project are in each room.
func (r *renderer) intoMemories(pasts map[capsule.Ref]*past) func(*capsule.Memory) error {
	return func(m *capsule.Memory) error {
		for ref, p := range pasts {
			if m.Room == "" || m.Room == ref {
				p.addMemory(m)
			}
		}
		return r.step()
	}
}

// replay writes the page of a room whose messages are known.
func (r *renderer) replay(p *past) error {
	p.sort()
	replay := &replayfile.Replay{
		Name: p.room.Name, Project: r.src.Manifest().Project.Name, FromCapsule: true, LeftOut: p.cut, Messages: p.messages,
	}
	if replay.Name == "" {
		replay.Name = p.room.Slug
	}
	if err := replay.Add(r.ctx, p, hub.RoomID(p.room.ID), p.times(), nil); err != nil {
		return err
	}
	if err := r.spool.flush(); err != nil {
		return err
	}
	return replay.Write(&appender{sink: r.spool.sink, name: p.room.replay})
}

// appender writes to one file of a sink.
type appender struct {
	sink Sink
	name string
}

func (a *appender) Write(data []byte) (int, error) {
	if err := a.sink.Append(a.name, data); err != nil {
		return 0, err
	}
	return len(data), nil
}
