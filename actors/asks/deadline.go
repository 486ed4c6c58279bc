package asks

import (
	"context"
	"log/slog"
	"maps"
	"time"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/hub"
)

// tryAgain is how long the package waits before it repeats a step that a full disk or a
// full queue has refused.
const tryAgain = time.Second

// Shown learns from a committed record which questions are open and which are closed.
func (s *Asks) Shown(r *core.Record, facts []core.Fact) {
	if r.Owner.Kind != core.OwnerAsks {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range facts {
		switch f := f.(type) {
		case *core.Asked:
			s.untell(f.ID(r.Position()))
			if f.DeadlineMS != 0 {
				s.note(f.ID(r.Position()), f.DeadlineMS)
			}
		case *core.AskAnswered:
			s.ended(f.Ask)
		case *core.AnswerTakenBack:
			if f.Question.DeadlineMS != 0 {
				s.note(f.Question.Ask.AskID, f.Question.DeadlineMS)
			}
		case *core.AskWithdrawn:
			s.ended(f.Ask)
		case *core.AskExpired:
			s.ended(f.Ask)
		}
	}
}

// note keeps a deadline. The caller holds the mutex.
func (s *Asks) note(id hub.AskID, deadline int64) {
	s.due[id] = deadline
	select {
	case s.news <- struct{}{}:
	default:
	}
}

// Serve closes questions when their deadlines are over, until quit is closed. left are
// those that an earlier process has left.
func (s *Asks) Serve(left []core.StoredAsk, quit <-chan struct{}) {
	s.derive(left)
	s.withdrawLeft(left)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		timer.Stop()
		if next := s.next(); next != 0 {
			timer.Reset(s.engine.Clock.Until(next))
		}
		select {
		case <-s.news:
			continue
		case <-timer.C:
		case <-quit:
			return
		}
		if err := s.expire(); err != nil && !s.engine.Stopping.Load() {
			s.log.LogAttrs(context.Background(), slog.LevelWarn, "questions to the operator cannot expire yet", slog.Any("error", err))
			select {
			case <-time.After(tryAgain):
			case <-quit:
				return
			}
		}
	}
}

// Left returns the open questions that an earlier process has left. It is called before the
// hub takes calls, so that no question of this process is among them. If they cannot be
// read, they do not expire, and the hub starts all the same.
func (s *Asks) Left() []core.StoredAsk {
	s.started = s.engine.Clock.Now().HubMS
	left, err := liveRows(s.rows)
	if err != nil {
		s.log.LogAttrs(context.Background(), slog.LevelError, "open questions to the operator cannot be read, and do not expire", slog.Any("error", err))
		return nil
	}
	return left
}

// derive notes the deadlines that an earlier process has left.
func (s *Asks) derive(left []core.StoredAsk) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range left {
		if row := &left[i]; row.DeadlineMS != 0 && row.Ask.State == hub.AskOpen {
			s.note(row.Ask.AskID, row.DeadlineMS)
		}
	}
}

// next returns the earliest deadline; 0: there is none.
func (s *Asks) next() (next int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, at := range s.due {
		if next == 0 || at < next {
			next = at
		}
	}
	return next
}

// expire closes the questions that are due. If there are too many for one record, the
// others are due at once.
func (s *Asks) expire() error {
	now := s.engine.Clock.Now().HubMS
	more, _, err := engine.Submit(context.Background(), s.engine, engine.Command[*core.Asks, bool, bool]{
		Owner:  core.AsksOwner(),
		Decide: func(a *core.Asks, now core.Now) (core.Decision[bool], error) { return a.Expire(now), nil },
		Answer: func(more bool, _ *core.Record) bool { return more },
	})
	if err == nil && !more {
		s.settle(now)
	}
	return err
}

// settle drops the deadlines up to a moment at which no open question was due. It drops
// what derive has noted of a question that was closed meanwhile.
func (s *Asks) settle(upto int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.due, func(_ hub.AskID, at int64) bool { return at <= upto })
}
