package session

import (
	"context"
	"time"

	"hubcli/internal/pause"
)

// report tells the hub which messages the agent has received, as soon as that
// is certain, so that hooks do not announce them again. If the hub cannot be
// reached, the next report tells it; until then some messages count as unread.
func (l *Link) report() {
	for {
		select {
		case <-l.life.Done():
			return
		case <-l.Feeds.Written:
		}
		wait := max(l.Feeds.AckDelay, lookAgain)
		for more := true; more && pause.For(l.life, wait); {
			wait = lookEvery // the next answer may be certain in a moment
			s := l.Current()
			if s == nil {
				break // a call brings about a session; its answer is reported
			}
			more = l.say(l.life, s)
			for _, sub := range l.SubAgents() {
				more = l.say(l.life, sub) || more
			}
		}
	}
}

// say tells the hub which messages were certainly received. more reports
// whether others are not certain yet.
func (l *Link) say(ctx context.Context, s *Session) (more bool) {
	list, more := l.Feeds.Untold(s.Agent)
	for _, p := range list {
		if _, err := s.Client.Events(ctx, p.Query()); err != nil {
			l.log.Debug("the hub has not heard what was read", "error", err)
			return false
		}
		l.Feeds.Tell(p.Feed, p.At)
	}
	return more
}

// lookAgain is the interval at which a call checks whether a delivery is
// certain.
const lookAgain = 20 * time.Millisecond

// CatchUp waits until the hub knows every message that the agent has received,
// so that the hub counts none of them as unread. The wait is bounded by the
// time in which a cancellation can cross an answer, and the time to write it.
func (l *Link) CatchUp(ctx context.Context, s *Session) {
	until := time.Now().Add(l.Feeds.AckDelay + l.Feeds.AckDelay/2)
	for l.say(ctx, s) && time.Now().Before(until) && pause.For(ctx, lookAgain) {
	}
}
