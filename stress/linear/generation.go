package linear

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// How many objects of each kind the clients share.
const (
	channels   = 4
	keys       = 3 // of memories
	claims     = 4
	locks      = 3
	registered = 3
	trees      = 4
)

// generation is a set of objects, which are used for some starts and then checked.
type generation struct {
	n         int
	since     int64 // the last message before it
	lists     []*list
	leases    []*lease
	agents    []*sessions
	trees     []*tree
	followers []*follower
}

// newGeneration makes what the objects need in the hub.
func newGeneration(e *epoch, n int, since int64, followers int, seed uint64) (*generation, error) {
	g := &generation{n: n, since: since}
	room, err := makeRoom(e)
	if err != nil {
		return nil, err
	}
	for i := range channels {
		l := &list{history: history{name: fmt.Sprintf("channel-%d-%d", n, i)}}
		g.lists = append(g.lists, l)
		if _, err := e.ask(&call{path: "/v1/channels", body: map[string]any{"name": l.name}}); err != nil {
			return nil, err
		}
	}
	for i := range keys {
		g.lists = append(g.lists, &list{history: history{name: fmt.Sprintf("key-%d-%d", n, i)}, room: room})
	}
	for i := range claims {
		g.leases = append(g.leases, newLease(fmt.Sprintf("claim-%d-%d", n, i), false))
	}
	for i := range locks {
		g.leases = append(g.leases, newLease(fmt.Sprintf("lock-%d-%d", n, i), true))
	}
	for i := range registered {
		g.agents = append(g.agents, newSessions(fmt.Sprintf("registered-%d-%d", n, i)))
	}
	for i := range trees {
		t, err := plant(e, fmt.Sprintf("tree-%d-%d", n, i), "general")
		if err != nil {
			return nil, err
		}
		g.trees = append(g.trees, t)
	}
	for i := range followers {
		random := rand.New(rand.NewPCG(seed, uint64(n*1000+i)))
		g.followers = append(g.followers, newFollower(i, g.lists[i%channels].name, g.since, random))
	}
	return g, nil
}

func makeRoom(e *epoch) (string, error) {
	var id string
	for _, in := range []struct {
		path string
		body map[string]any
	}{
		{"/v1/projects", map[string]any{"name": "shared"}},
		{"/v1/rooms", map[string]any{"project": "shared", "name": "shared"}},
	} {
		a, err := e.ask(&call{path: in.path, body: in.body, key: "once" + in.path})
		if err != nil {
			return "", err
		}
		r, err := row[struct {
			Room string `json:"room_id"`
		}](a)
		if err != nil {
			return "", err
		}
		id = r.Room
	}
	return id, nil
}

// choose returns what the client i does in this generation: always with objects of one
// kind, a different one each time.
func (g *generation) choose(i int) func(*client) *call {
	switch i % 8 {
	case 0, 1:
		return func(c *client) *call { return g.lists[c.random.IntN(channels)].next(c) }
	case 2:
		return func(c *client) *call { return g.lists[channels+c.random.IntN(keys)].next(c) }
	case 3:
		return func(c *client) *call { return g.agents[c.random.IntN(registered)].next(c) }
	case 4, 5:
		return func(c *client) *call { return g.trees[c.random.IntN(trees)].next(c) }
	}
	return func(c *client) *call { return g.leases[c.random.IntN(len(g.leases))].next(c) }
}

// settled is what a settlement has checked.
type settled struct {
	histories, calls, messages int
	last                       int64 // message
}

// settle reads the final history and checks everything. No client calls meanwhile.
func (g *generation) settle(e *epoch, dir string) (settled, error) {
	final, err := e.readAll(g.since)
	if err != nil {
		return settled{}, err
	}
	s := settled{messages: len(final), last: g.since}
	if len(final) > 0 {
		s.last = final[len(final)-1].ID
	}
	rows, err := g.readLists(e, final)
	if err != nil {
		return s, err
	}
	if err := g.compare(e, rows); err != nil {
		return s, err
	}
	for _, h := range g.histories() {
		if err := h.check(e.time, dir); err != nil {
			return s, err
		}
		s.histories++
		s.calls += len(h.ops)
	}
	var ids, fences []stamped
	for _, l := range g.lists[:channels] {
		ids = append(ids, l.ids()...)
	}
	for _, l := range g.leases {
		fences = append(fences, l.grants()...)
	}
	if err := checkOrder("message", ids); err != nil {
		return s, err
	}
	return s, checkOrder("fence", fences)
}

// readLists reads what the lists have become, and makes their models of it. It returns
// the messages by channel; under no name it returns final.
func (g *generation) readLists(e *epoch, final []messageRow) (map[string][]messageRow, error) {
	rows := map[string][]messageRow{"": final}
	for _, l := range g.lists {
		entries, err := l.final(e)
		if err != nil {
			return nil, err
		}
		l.model = listModel(entries, l.room != "")
		l.exact = func(ops []*op) error { return checkList(entries, l.room != "", ops) }
		for _, entry := range entries {
			rows[l.name] = append(rows[l.name], messageRow{entry.ID, entry.Text})
		}
	}
	return rows, nil
}

// compare waits for the followers and compares what they got with the final history.
func (g *generation) compare(e *epoch, rows map[string][]messageRow) error {
	last := map[string]int64{}
	for name, r := range rows {
		if len(r) > 0 {
			last[name] = r[len(r)-1].ID
		}
	}
	if err := g.awaitPast(e, last); err != nil {
		return err
	}
	for _, f := range g.followers {
		if err := f.compare(rows[f.channel]); err != nil {
			return err
		}
	}
	return nil
}

func (g *generation) histories() (all []*history) {
	for _, l := range g.lists {
		all = append(all, &l.history)
	}
	for _, l := range g.leases {
		all = append(all, &l.history)
	}
	for _, s := range g.agents {
		all = append(all, &s.history)
	}
	for _, t := range g.trees {
		all = append(all, &t.history)
	}
	return all
}

// wakeTime is how long a follower may take to get what is there. It is far more than it
// takes on a busy machine, and less than a poll is parked.
const wakeTime = 12 * time.Second

// awaitPast waits until every follower is past the message of its channel.
func (g *generation) awaitPast(e *epoch, last map[string]int64) error {
	for begin := time.Now(); ; e.rest(time.Millisecond) {
		var behind *follower
		for _, f := range g.followers {
			if !f.has(last[f.channel]) {
				behind = f
				break
			}
		}
		switch {
		case behind == nil || e.over.Err() != nil:
			return nil
		case time.Since(begin) > wakeTime:
			return fmt.Errorf("%w: %s waits with %s, and message %d has not woken it for %v", errBroken, behind.name, behind.path, last[behind.channel], wakeTime)
		}
	}
}

// wake posts to each channel while all followers are parked, and expects them to get
// it. It also frees a claim for which a call waits.
func (g *generation) wake(e *epoch, n int) error {
	last := map[string]int64{}
	for _, l := range g.lists[:channels] {
		text := fmt.Sprintf("wake %d/%d", e.n, n)
		o := l.begin(e.time, -1, e.n, listOp{Do: "add", Text: text}, false)
		id, err := e.post(l.name, text)
		if err != nil {
			return err
		}
		l.answer(e.time, o, listOut{[]entry{{ID: id, Text: text}}})
		last[l.name], last[""] = id, id
	}
	if err := g.awaitPast(e, last); err != nil {
		return err
	}
	key := fmt.Sprintf("waited-for-%d-%d", e.n, n)
	claim := func(agent string, wait int) *call {
		return &call{path: "/v1/claims", wait: time.Duration(wait) * time.Second, body: map[string]any{"claim_key": key, "owner_agent_id": agent, "wait_sec": wait}}
	}
	if _, err := e.ask(claim("holder", 0)); err != nil {
		return err
	}
	granted := make(chan error, 1)
	begin := time.Now()
	go func() {
		a, err := e.ask(claim("waiter", int(pollTime.Seconds())))
		if err == nil && (!a.Acquired || time.Since(begin) > wakeTime) {
			err = fmt.Errorf("%w: a call waits for %s, and its release has not woken it for %v: %s", errBroken, key, wakeTime, a.raw)
		}
		granted <- err
	}()
	e.rest(time.Millisecond)
	_, err := e.ask(&call{path: "/v1/claims/release", body: map[string]any{"claim_key": key, "agent_id": "holder"}})
	if waited := <-granted; err == nil {
		err = waited
	}
	return err
}

// ids are the message ids that were given out, for the order among all channels.
func (l *list) ids() (numbers []stamped) {
	for _, o := range l.ops {
		if out, ok := o.out.(listOut); ok && o.known && o.in.(listOp).Do == "add" {
			numbers = append(numbers, stamped{out.Rows[0].ID, o.call, o.ret, out.Rows[0].Text})
		}
	}
	// A write that was sent again has the id of the first time.
	seen := map[int64]int{}
	kept := numbers[:0]
	for _, s := range numbers {
		if at, ok := seen[s.n]; ok && kept[at].what == s.what {
			kept[at].call, kept[at].ret = min(kept[at].call, s.call), min(kept[at].ret, s.ret)
			continue
		}
		seen[s.n] = len(kept)
		kept = append(kept, s)
	}
	return kept
}

// post says something in a channel and returns its id.
func (e *epoch) post(channel, text string) (int64, error) {
	a, err := e.ask(&call{path: "/v1/messages", body: map[string]any{"from_agent": "rig", "channel": channel, "body": text}, key: text + channel})
	if err != nil {
		return 0, err
	}
	r, err := row[messageRow](a)
	return r.ID, err
}

// readAll reads everything that was said after a message.
func (e *epoch) readAll(since int64) (all []messageRow, err error) {
	for {
		a, err := e.ask(&call{path: fmt.Sprintf("/v1/events?agent_id=auditor&timeout=0&limit=1000&since_id=%d", since)})
		if err != nil {
			return nil, err
		}
		rows, err := row[[]messageRow](a)
		if err != nil {
			return nil, err
		}
		all = append(all, rows...)
		if a.Next <= since {
			return all, nil
		}
		since = a.Next
	}
}
