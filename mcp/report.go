package mcp

import (
	"context"
	"time"

	"hubcli/internal/pause"
)

// report tells the hub what the agent has been given, as soon as that is sure: so
// nobody tells the agent once more of what it has read. A hub that cannot be told
// hears it with the next answer, and until then shows some messages as unread.
func (l *link) report() {
	for {
		select {
		case <-l.life.Done():
			return
		case <-l.b.feeds.Written:
		}
		for more := true; more && pause.For(l.life, max(l.b.feeds.AckDelay, lookAgain)); {
			s := l.current()
			if s == nil {
				break // a call brings about a session; its answer is reported
			}
			more = l.b.say(l.life, s)
		}
	}
}

// say tells the hub what is sure to have been given; more says that there is what is
// not sure yet.
func (b *bridge) say(ctx context.Context, s *seat) (more bool) {
	list, more := b.feeds.Untold(s.agent)
	for _, p := range list {
		if _, err := s.client.Events(ctx, p.Query()); err != nil {
			b.log.Debug("the hub has not heard what was read", "error", err)
			return false
		}
		b.feeds.Tell(p.Feed, p.At)
	}
	return more
}

// lookAgain is how often a call looks whether what was given is sure by now.
const lookAgain = 20 * time.Millisecond

// caughtUp waits until the hub knows of all that the agent has been given, so that
// what it then says is unread is nothing that the agent has read. That takes no
// longer than an answer can cross a cancellation, and some time for writing it.
func (b *bridge) caughtUp(ctx context.Context, s *seat) {
	until := time.Now().Add(b.feeds.AckDelay + b.feeds.AckDelay/2)
	for b.say(ctx, s) && time.Now().Before(until) && pause.For(ctx, lookAgain) {
	}
}
