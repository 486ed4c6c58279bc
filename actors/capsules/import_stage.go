package capsules

import (
	"context"
	"errors"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/capsule"
	"hubcli/hub"
)

// A batch is small, so that the writes of agents, which wait for the same disk, wait little.
const (
	batchRows  = 500
	batchBytes = 256 << 10
)

// A staging stages one capsule in one gap.
type staging struct {
	ctx      context.Context //nolint:containedctx // an import lives as long as its call
	stager   core.Stager
	src      *capsule.Reader
	progress Progress
	texts    importTexts
	found    *finding
	gap      core.Gap
	*ids

	done, total int64
	messages    []core.StoredMessage
	rows        []core.Row
	bytes       int
	failed      error // of a flush within a RowSink, which cannot return it
}

func newStaging(ctx context.Context, stager core.Stager, gap core.Gap, src *capsule.Reader, progress Progress, found *finding) *staging {
	m := src.Manifest()
	x := &ids{place: found.place, counts: m.Counts, project: hub.ProjectID(core.IDAt(core.PrefixProject, found.firstSeq))}
	c := &m.Counts
	return &staging{
		ctx: ctx, stager: stager, src: src, progress: progress, gap: gap, ids: x, found: found,
		texts: importTexts{capsule.Decoder{Message: x.message, Thing: x.thing, Number: found.number, ID: found.id}},
		total: c.Decisions + c.Artifacts + c.Memories + c.Runs + c.Tasks + c.Messages,
	}
}

// everything stages the whole capsule and returns the project and its rooms, which the caller
// has decided. Once a text has named a number of the place, nothing more is staged, but all
// texts are read, so that the next place is free of all that they name.
func (s *staging) everything(now hub.Time) (hub.Project, []hub.Room, error) {
	project, err := s.importedProject(now)
	if err != nil {
		return project, nil, err
	}
	rooms, err := s.rooms()
	for _, stage := range []func() error{s.agents, s.decisions, s.artifacts, s.memories, s.tasks, s.threadsAndMessages, s.flush} {
		if err == nil {
			err = stage()
		}
	}
	if err == nil && s.found.taken {
		err = errNumberTaken
	}
	if err == nil && s.progress != nil {
		s.progress(s.total, s.total)
	}
	return project, rooms, err
}

// put takes a row. It is a core.RowSink.
func (s *staging) put(r core.Row) {
	if s.failed != nil {
		return
	}
	s.rows = append(s.rows, r)
	s.bytes += len(r.Key) + len(r.Value)
	if len(s.rows) >= batchRows || s.bytes >= batchBytes {
		s.failed = s.flush()
	}
}

// step counts a staged thing, and returns the first error.
func (s *staging) step() error {
	if s.done++; s.done%1_000 == 0 && s.progress != nil {
		s.progress(s.done, s.total)
	}
	return s.failed
}

// flush stages what has gathered.
func (s *staging) flush() error {
	if s.failed != nil {
		return s.failed
	}
	if err := context.Cause(s.ctx); err != nil {
		return err
	}
	if len(s.messages)+len(s.rows) == 0 {
		return nil
	}
	var err error
	if !s.found.taken {
		err = s.stager.Stage(s.gap, s.messages, s.rows)
	}
	clear(s.messages)
	clear(s.rows)
	s.messages, s.rows, s.bytes = s.messages[:0], s.rows[:0], 0
	return stageError(err)
}

// stageError gives an error of the store the form of those that callers get.
func stageError(err error) error {
	switch {
	case errors.Is(err, core.ErrNoRoom):
		return engine.ErrStorageFull(0)
	case err != nil:
		return hub.NewError(hub.CodeStoreFailed, "the store failed while the project was imported; nothing of it is visible").
			WithFix("start the hub again when its disk works, and import again")
	}
	return nil
}
