package crash

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"hubcli/stress/wire"
)

// ledger remembers what the hub has told. Agents and the follower enter what
// they learn while the hub runs; verify compares it with the hub after a start.
type ledger struct {
	mu     sync.Mutex
	bodies map[int64]string // by id: answered, delivered or read
	ids    map[string]int64 // by body: answered
	fences map[int64]string // by fence: the write that was granted it

	cursor    int64 // of the follower
	delivered map[int64]bool

	feed []row // of the last verify, rising
}

type row struct {
	ID   int64  `json:"id"`
	From string `json:"from_agent"`
	Body string `json:"body"`
}

func newLedger() *ledger {
	return &ledger{
		bodies: map[int64]string{}, ids: map[string]int64{}, fences: map[int64]string{}, delivered: map[int64]bool{},
	}
}

// learn enters that id has this body.
func (l *ledger) learn(id int64, body string) error {
	if known, ok := l.bodies[id]; ok && known != body {
		return fmt.Errorf("%w: id %d was %q and is now %q", errBroken, id, known, body)
	}
	l.bodies[id] = body
	return nil
}

// posted enters the answer to a post.
func (l *ledger) posted(w *write, body string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if body != w.body {
		return fmt.Errorf("%w: %q was posted and %q answered", errBroken, w.body, body)
	}
	if known, ok := l.ids[w.body]; ok && known != w.id {
		return fmt.Errorf("%w: %q was answered as %d and, sent again, as %d", errBroken, w.body, known, w.id)
	}
	l.ids[w.body] = w.id
	return l.learn(w.id, body)
}

// granted enters the grant of a claim.
func (l *ledger) granted(a *agent, w *write) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	name := fmt.Sprintf("%s/%d", a.name, w.n)
	if known, ok := l.fences[a.fence]; ok && known != name {
		return fmt.Errorf("%w: fence %d was granted to %s and to %s", errBroken, a.fence, known, name)
	}
	l.fences[a.fence] = name
	return nil
}

// follow long-polls everything from where the last follower was until the
// connection ends.
func (l *ledger) follow(ctx context.Context, addr string) error {
	c, err := wire.Dial(ctx, addr)
	if err != nil {
		return nil
	}
	defer c.Close()
	for ctx.Err() == nil {
		page, err := read(c, addr, fmt.Sprintf("/v1/events?agent_id=follower&channel=general&timeout=20&limit=1000&since_id=%d", l.cursor))
		if err != nil {
			return unlessGone(err)
		}
		if err := l.deliver(page); err != nil {
			return err
		}
	}
	return nil
}

func (l *ledger) deliver(page *page) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range page.Result {
		if r.ID <= l.cursor {
			return fmt.Errorf("%w: a poll after %d delivered %d", errBroken, l.cursor, r.ID)
		}
		if err := l.learn(r.ID, r.Body); err != nil {
			return err
		}
		l.cursor = r.ID
		l.delivered[r.ID] = true
	}
	l.cursor = max(l.cursor, page.Next)
	return nil
}

type page struct {
	OK     bool  `json:"ok"`
	Result []row `json:"result"`
	Next   int64 `json:"next_since_id"`
}

func read(c *wire.Conn, addr, path string) (*page, error) {
	var p page
	return &p, get(c, addr, path, &p)
}

func get(c *wire.Conn, addr, path string, into any) error {
	status, body, err := c.Within(ioTimeout, wire.Get(addr, path).Bytes())
	if err != nil {
		return err
	}
	if status != 200 {
		return fmt.Errorf("%w: GET %s answered %d %s", errBroken, path, status, body)
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("%w: GET %s answered %q: %w", errBroken, path, body, err)
	}
	return nil
}

// verify compares the hub with all that it has told. Nobody writes meanwhile.
func (l *ledger) verify(ctx context.Context, addr string, agents []*agent) error {
	c, err := wire.Dial(ctx, addr)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := l.readFeed(c, addr); err != nil {
		return err
	}
	if err := l.compare(); err != nil {
		return err
	}
	return verifyClaims(c, addr, agents)
}

// readFeed reads the whole channel.
func (l *ledger) readFeed(c *wire.Conn, addr string) error {
	l.feed = l.feed[:0]
	for since := int64(0); ; {
		page, err := read(c, addr, fmt.Sprintf("/v1/messages?channel=general&limit=1000&since_id=%d", since))
		if err != nil {
			return err
		}
		for _, r := range page.Result {
			if r.ID <= since {
				return fmt.Errorf("%w: id %d follows %d", errBroken, r.ID, since)
			}
			since = r.ID
			l.feed = append(l.feed, r)
		}
		if len(page.Result) == 0 {
			return nil
		}
	}
}

// compare looks for messages that are lost, changed or repeated in the feed.
func (l *ledger) compare() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	there := make(map[int64]bool, len(l.feed))
	ids := make(map[string]int64, len(l.feed))
	for _, r := range l.feed {
		there[r.ID] = true
		if err := l.learn(r.ID, r.Body); err != nil {
			return err
		}
		if other, ok := ids[r.Body]; ok {
			return fmt.Errorf("%w: %q was posted once and is there as %d and %d", errBroken, r.Body, other, r.ID)
		}
		ids[r.Body] = r.ID
		if r.ID <= l.cursor && !l.delivered[r.ID] {
			return fmt.Errorf("%w: the polls went past %d without delivering it", errBroken, r.ID)
		}
	}
	for id, body := range l.bodies {
		if !there[id] {
			return fmt.Errorf("%w: message %d, %q, is lost", errBroken, id, body)
		}
	}
	return nil
}

// verifyClaims compares what the agents hold with the hub's list. An agent with
// an open claim or release may hold its key or not.
func verifyClaims(c *wire.Conn, addr string, agents []*agent) error {
	var claims struct {
		Result []struct {
			Key   string `json:"claim_key"`
			Owner string `json:"owner_agent_id"`
			Fence int64  `json:"fence"`
		} `json:"result"`
	}
	if err := get(c, addr, "/v1/claims?active_only=1&limit=1000", &claims); err != nil {
		return err
	}
	held := map[string]int64{} // by agent
	for _, row := range claims.Result {
		if row.Owner == "" {
			return fmt.Errorf("%w: claim %s has no owner", errBroken, row.Key)
		}
		held[row.Owner] = row.Fence
	}
	for _, a := range agents {
		if a.open != nil && a.open.action != post {
			continue
		}
		if held[a.name] != a.fence {
			return fmt.Errorf("%w: %s was granted %s with fence %d and the hub lists fence %d (0: none)",
				errBroken, a.name, a.key, a.fence, held[a.name])
		}
	}
	return nil
}
