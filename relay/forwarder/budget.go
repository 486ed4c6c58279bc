package forwarder

import (
	"context"
	"sync"
)

// budget is a number of bytes that calls share, in the order of arrival.
type budget struct {
	turn  chan struct{} // held by the call that waits for bytes now
	freed chan struct{}

	mu   sync.Mutex
	left int64
}

func newBudget(n int64) *budget {
	return &budget{turn: make(chan struct{}, 1), freed: make(chan struct{}, 1), left: n}
}

// take waits for n bytes, at most the whole budget, and reports whether they came
// before ctx ended.
func (b *budget) take(ctx context.Context, n int64) bool {
	select {
	case b.turn <- struct{}{}:
		defer func() { <-b.turn }()
	case <-ctx.Done():
		return false
	}
	for {
		b.mu.Lock()
		enough := b.left >= n
		if enough {
			b.left -= n
		}
		b.mu.Unlock()
		if enough {
			return true
		}
		select {
		case <-b.freed:
		case <-ctx.Done():
			return false
		}
	}
}

func (b *budget) give(n int64) {
	b.mu.Lock()
	b.left += n
	b.mu.Unlock()
	select {
	case b.freed <- struct{}{}:
	default:
	}
}
