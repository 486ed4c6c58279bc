package session

import (
	"context"
	"time"

	"hubcli/internal/pause"
)

// report tells the hub what the agent has been given, as soon as that is sure: so
// nobody tells the agent once more of what it has read. A hub that cannot be told
// hears it with the next answer, and until then shows some messages as unread.
func (l *Link) report() {
	for {
		select {
		case <-l.life.Done():
			return
		case <-l.Feeds.Written:
		}
		for more := true; more && pause.For(l.life, max(l.Feeds.AckDelay, lookAgain)); {
			s := l.Current()
			if s == nil {
				break // a call brings about a session; its answer is reported
			}
			more = l.say(l.life, s)
		}
	}
}

// say tells the hub what is sure to have been given; more says that there is what is
// not sure yet.
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

// lookAgain is how often a call looks whether what was given is sure by now.
const lookAgain = 20 * time.Millisecond

// CatchUp waits until the hub knows of all that the agent has been given, so that
// what it then says is unread is nothing that the agent has read. That takes no
// longer than an answer can cross a cancellation, and some time for writing it.
func (l *Link) CatchUp(ctx context.Context, s *Session) {
	until := time.Now().Add(l.Feeds.AckDelay + l.Feeds.AckDelay/2)
	for l.say(ctx, s) && time.Now().Before(until) && pause.For(ctx, lookAgain) {
	}
}
