package engine

import (
	"context"

	"hubcli/actors/core"
	"hubcli/hub"
)

// PassOver takes a gap out of the numbers of the journal, for an import. need says how many
// numbers are to follow a head: sequence numbers, 1 or more, and message ids, 0 or more. It is
// called while nobody else gets numbers, so it is quick. The gap is durable when PassOver
// returns, and nothing else gets its numbers. stager must be the store of the journal. Errors: stopping, storage_full, store_failed, timed_out if ctx ends first; the
// gap may have been taken then.
func (e *Engine) PassOver(ctx context.Context, stager core.Stager, need func(core.Head) (seqs, messages int64)) (core.Gap, error) {
	if err := e.admissible(); err != nil {
		return core.Gap{}, err
	}
	done := make(chan error, 1)
	gap, err := e.Seq.passOver(&gapEntry{stager: stager}, need, func(err error) { done <- err })
	if err != nil {
		return core.Gap{}, err
	}
	select {
	case err := <-done:
		return gap, err
	case <-ctx.Done():
		return core.Gap{}, ErrAbandoned()
	}
}

// A gapEntry is a gap in the order of the journal.
type gapEntry struct {
	gap    core.Gap
	stager core.Stager
}

// passOver gives the numbers that follow the head to a gap, and puts it in line.
func (q *sequencer) passOver(g *gapEntry, need func(core.Head) (seqs, messages int64), deliver func(error)) (core.Gap, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.failed != nil {
		return core.Gap{}, q.failed
	}
	seqs, messages := need(q.head)
	g.gap = core.Gap{
		FromSeq: q.head.Seq + 1, UptoSeq: q.head.Seq + hub.Seq(seqs),
		FromMessage: q.head.Message + 1, UptoMessage: q.head.Message + hub.MessageID(messages),
	}
	q.head.Seq, q.head.Message = g.gap.UptoSeq, g.gap.UptoMessage
	q.pending = append(q.pending, &entry{gap: g, ready: true, deliver: deliver})
	q.wakeWriter()
	return g.gap, nil
}

// passedOver moves durable forward to the end of a gap.
func (q *sequencer) passedOver(g *core.Gap) {
	q.mu.Lock()
	q.durable.Seq, q.durable.Message = g.UptoSeq, g.UptoMessage
	q.mu.Unlock()
}

// passOver makes a gap durable and answers it. A gap stands alone in its group.
func (w *writer) passOver(s *entry) error {
	if err := s.gap.stager.PassOver(s.gap.gap); err != nil {
		return err // after ErrNoRoom the writer takes the gap back, with all that comes after
	}
	w.view.Begin()
	w.view.PassedOver(s.gap.gap)
	w.view.End()
	w.seq.passedOver(&s.gap.gap)
	s.deliver(nil)
	return nil
}
