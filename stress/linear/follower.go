package linear

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"hubcli/stress/wire"
)

// follower long-polls from where it was, whatever happens to the hub.
type follower struct {
	name    string
	channel string // empty: everything
	path    string
	random  *rand.Rand

	mu     sync.Mutex
	cursor int64
	rows   []messageRow
}

// Ways of following. The last two follow one channel.
var followings = []string{
	"/v1/events?agent_id=%s", "/v1/events?agent_id=%s&channel=%s", "/v1/messages?agent_id=%s&channel=%s",
}

func newFollower(i int, channel string, since int64, random *rand.Rand) *follower {
	f := &follower{name: fmt.Sprintf("follower-%02d", i), cursor: since, random: random}
	way := followings[i%len(followings)]
	if f.path = fmt.Sprintf(way, f.name); i%len(followings) > 0 {
		f.channel, f.path = channel, fmt.Sprintf(way, f.name, channel)
	}
	return f
}

// pollTime is how long a poll may be parked. It is longer than wakeTime: a poll that no
// message wakes does not look again by itself before.
const pollTime = 30 * time.Second

func (f *follower) work(ctx context.Context, e *epoch) error {
	for e.over.Err() == nil {
		conn, err := wire.Dial(ctx, e.proxy.addr())
		if err != nil {
			e.rest(redial)
			continue
		}
		stop := context.AfterFunc(e.over, func() { conn.Close() })
		err = f.follow(conn, e)
		stop()
		conn.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// follow polls until the connection ends.
func (f *follower) follow(conn *wire.Conn, e *epoch) error {
	for {
		path := fmt.Sprintf("%s&timeout=%d&limit=%d&since_id=%d", f.path, int(pollTime.Seconds()), 1+f.random.IntN(200), f.cursor)
		a, err := ask(conn, e.addr, &call{path: path}, pollTime+callTime)
		if err != nil {
			return nil
		}
		if a.status == 503 || a.status == 429 {
			e.rest(redial)
			return nil
		}
		rows, err := row[[]messageRow](a)
		if err == nil {
			err = f.take(rows, a.Next)
		}
		if err != nil {
			return err
		}
	}
}

// take keeps the rows of an answer.
func (f *follower) take(rows []messageRow, next int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range rows {
		if r.ID <= f.cursor {
			return fmt.Errorf("%w: a poll of %s after %d delivered %d", errBroken, f.name, f.cursor, r.ID)
		}
		f.cursor = r.ID
	}
	f.rows = append(f.rows, rows...)
	f.cursor = max(f.cursor, next)
	return nil
}

// has reports whether the follower is past a message.
func (f *follower) has(id int64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.cursor >= id
}

// compare takes the final history and looks for what the follower has missed or got
// twice. It may have got more: a lease may expire at any time, and somebody is told.
func (f *follower) compare(final []messageRow) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	at := 0
	for at < len(f.rows) && at < len(final) && f.rows[at] == final[at] {
		at++
	}
	if at == len(final) {
		return nil
	}
	show := func(rows []messageRow) string {
		if at < len(rows) {
			return fmt.Sprintf("%d %q", rows[at].ID, rows[at].Body)
		}
		return "the end"
	}
	return fmt.Errorf("%w: row %d of %s (%s) is %s in the final history and came to %s as %s",
		errBroken, at+1, f.path, f.name, show(final), f.name, show(f.rows))
}
