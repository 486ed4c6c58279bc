package crash

import (
	"context"
	"fmt"

	"hubcli/stress/wire"
)

// poller long-polls from where it was, small pages at a time, until the
// connection ends: it falls behind and reads old and new messages.
type poller struct {
	name   string
	cursor int64
}

func (p *poller) work(ctx context.Context, addr string, l *ledger) error {
	c, err := wire.Dial(ctx, addr)
	if err != nil {
		return nil
	}
	defer c.Close()
	for ctx.Err() == nil {
		page, err := read(c, addr, fmt.Sprintf("/v1/events?agent_id=%s&channel=general&timeout=20&limit=50&since_id=%d", p.name, p.cursor))
		if err != nil {
			return unlessGone(err)
		}
		if err := p.take(page, l); err != nil {
			return err
		}
	}
	return nil
}

// take enters a page: ids rise and keep their bodies.
func (p *poller) take(page *page, l *ledger) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range page.Result {
		if r.ID <= p.cursor {
			return fmt.Errorf("%w: a poll of %s after %d delivered %d", errBroken, p.name, p.cursor, r.ID)
		}
		if err := l.learn(r.ID, r.Body); err != nil {
			return err
		}
		p.cursor = r.ID
	}
	p.cursor = max(p.cursor, page.Next)
	return nil
}
