package mcp

import (
	"context"
	"time"

	"hubcli/hub"
	"hubcli/internal/pause"
)

// query is the look by which the hub hears that all up to a place was given: that of
// a poll which goes on behind it.
func (p place) query() hub.EventsQuery {
	room, channels := p.feed.parts()
	return hub.EventsQuery{
		Agent: p.feed.agent, RoomID: room, Channels: channels, Since: p.at, ExcludeSelf: true, Limit: 1,
	}
}

// report tells the hub what the agent has been given, as soon as that is sure: so
// nobody tells the agent once more of what it has read. A hub that cannot be told
// hears it with the next answer, and until then shows some messages as unread.
func (l *link) report() {
	for {
		select {
		case <-l.life.Done():
			return
		case <-l.b.feeds.written:
		}
		for more := true; more && pause.For(l.life, max(l.b.feeds.crossing, lookAgain)); {
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
	list, more := b.feeds.untold(s.agent)
	for _, p := range list {
		if _, err := s.client.Events(ctx, p.query()); err != nil {
			b.log.Debug("the hub has not heard what was read", "error", err)
			return false
		}
		b.feeds.tell(p.feed, p.at)
	}
	return more
}

// lookAgain is how often a call looks whether what was given is sure by now.
const lookAgain = 20 * time.Millisecond

// caughtUp waits until the hub knows of all that the agent has been given, so that
// what it then says is unread is nothing that the agent has read. That takes no
// longer than an answer can cross a cancellation, and some time for writing it.
func (b *bridge) caughtUp(ctx context.Context, s *seat) {
	until := time.Now().Add(b.feeds.crossing + b.feeds.crossing/2)
	for b.say(ctx, s) && time.Now().Before(until) && pause.For(ctx, lookAgain) {
	}
}
