package readable

import (
	"context"

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

// replays writes replays/, with a page for each room that a browser replays.
func (r *renderer) replays() error {
	if !r.hasReplays() {
		return nil
	}
	for first := 0; first < len(r.all); first += roomsAtOnce {
		rooms := r.all[first:min(first+roomsAtOnce, len(r.all))]
		pasts := map[capsule.Ref]*past{}
		for _, one := range rooms {
			pasts[one.ID] = &past{room: one, to: r.src.Manifest().CreatedAt}
		}
		if err := r.gather(pasts); err != nil {
			return err
		}
		for _, one := range rooms {
			if err := r.replay(pasts[one.ID]); err != nil {
				return err
			}
			delete(pasts, one.ID)
		}
	}
	return nil
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

// replay reads the messages of a room and writes its page.
func (r *renderer) replay(p *past) error {
	if err := r.src.Messages(p.room.ID, func(m *capsule.Message) error {
		if err := p.addMessage(m); err != nil {
			return err
		}
		return r.step()
	}); err != nil {
		return err
	}
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
	if err := replay.Write(&appender{sink: r.spool.sink, name: p.room.replay}); err != nil {
		return err
	}
	return context.Cause(r.ctx)
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
