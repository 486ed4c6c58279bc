package smoke

import (
	"context"
	"fmt"
	"slices"

	"hubcli/hub"
)

// presence: all three are listed as live, without their secrets.
func (p *player) presence(ctx context.Context) (string, error) {
	agents, err := p.agents(ctx)
	if err != nil {
		return "", err
	}
	for _, role := range Roles() {
		if !slices.ContainsFunc(agents, func(s hub.LiveAgent) bool { return s.AgentID == role && s.Active }) {
			return "", wrong("the list of live agents lacks %s, which has registered and is talking", role)
		}
	}
	for _, s := range agents {
		if s.SessionID == p.session {
			return "", wrong("the list of live agents shows the whole session id of %s, which is a secret", s.AgentID)
		}
	}
	return "all three are listed", nil
}

func (p *player) agents(ctx context.Context) ([]hub.LiveAgent, error) {
	return ask(ctx, p, "listing agents", func(ctx context.Context) ([]hub.LiveAgent, error) {
		return hub.All(ctx, p.hub.Agents, hub.AgentsQuery{Capability: "smoke"})
	})
}

// linesEach is how many public messages each role posts in the step channel.
const linesEach = 3

// channel: what all post at once everybody sees once, in one order.
func (p *player) channel(ctx context.Context) (string, error) {
	for n := 1; n <= linesEach; n++ {
		if err := p.postTwice(ctx, n); err != nil {
			return "", err
		}
	}
	const want = 3 * linesEach
	err := p.until(ctx, fmt.Sprintf("%d messages of all three", want), func() bool { return len(p.lines("line")) >= want })
	if err != nil {
		return "", fmt.Errorf("%w (of the %d messages %d have come)", err, want, len(p.lines("line")))
	}
	// Once more past a marker of each: nothing may come a second time.
	if err := p.together(ctx, "read"); err != nil {
		return "", err
	}
	ids, err := p.inOrder(p.lines("line"))
	if err != nil {
		return "", err
	}
	if _, err := p.say(ctx, note{Word: "order", IDs: ids}); err != nil {
		return "", err
	}
	if err := p.all(ctx, "order"); err != nil {
		return "", err
	}
	for _, l := range p.lines("order") {
		if !slices.Equal(l.note.IDs, ids) {
			return "", wrong("%s saw the messages %v, %s saw %v", p.me(), ids, l.FromAgent, l.note.IDs)
		}
	}
	return fmt.Sprintf("%d messages, each once, in one order", want), p.listed(ctx, ids)
}

// postTwice posts the role's nth line, and sends the same post with the same key
// again where the hub knows keys.
func (p *player) postTwice(ctx context.Context, n int) error {
	keyed := hub.WithCaller(ctx, &hub.Caller{Idempotency: &hub.IdempotencyKey{Key: fmt.Sprintf("smoke-%s-line-%d", p.nonce, n)}})
	in := hub.PostInput{
		FromAgent: p.me(), Channel: p.cfg.Channel, Body: fmt.Sprintf("line %d of %s", n, p.me()),
		Metadata: note{Run: p.run, Step: p.step, Word: "line", N: n}.encode(),
	}
	post := func(context.Context) (hub.Posted, error) { return p.hub.Post(keyed, in) }
	first, err := ask(ctx, p, "posting a line", post)
	if err != nil || !slices.Contains(p.features, hub.FeatureIdempotency) {
		return err
	}
	again, err := ask(ctx, p, "posting a line again", post)
	if err != nil {
		return err
	}
	one, _ := first.Row.Decode() // a row that is none has another id than the next
	two, _ := again.Row.Decode()
	if one.ID == 0 || one.ID != two.ID {
		return wrong("the same post with the same idempotency key made message %d, then message %d", one.ID, two.ID)
	}
	return nil
}

// inOrder checks that every role's lines came once and in the role's order, and
// returns their ids.
func (p *player) inOrder(lines []line) ([]hub.MessageID, error) {
	var ids []hub.MessageID
	next := map[hub.AgentID]int{}
	for _, l := range lines {
		next[l.FromAgent]++
		if l.note.N != next[l.FromAgent] {
			return nil, wrong("line %d of %s came where its line %d was due", l.note.N, l.FromAgent, next[l.FromAgent])
		}
		if l.ToAgent != nil || l.Channel != p.cfg.Channel {
			return nil, wrong("message %d was posted to all in %s and came from %s", l.ID, p.cfg.Channel, l.Channel)
		}
		ids = append(ids, l.ID)
	}
	if len(ids) != 3*linesEach {
		return nil, wrong("%d messages came of the %d that were posted", len(ids), 3*linesEach)
	}
	return ids, nil
}

// listed: the listing of the channel shows the same messages.
func (p *player) listed(ctx context.Context, ids []hub.MessageID) error {
	page, err := ask(ctx, p, "listing the channel", func(ctx context.Context) (hub.Page, error) {
		return p.hub.Messages(ctx, hub.MessagesQuery{Channel: p.cfg.Channel, Since: ids[0] - 1, Limit: 1000})
	})
	if err != nil {
		return err
	}
	var shown []hub.MessageID
	for _, encoded := range page.Rows {
		if row, err := encoded.Decode(); err == nil && slices.Contains(ids, row.ID) {
			shown = append(shown, row.ID)
		}
	}
	if !slices.Equal(shown, ids) {
		return wrong("the listing of %s shows %v of the messages %v", p.cfg.Channel, shown, ids)
	}
	return nil
}

// thread: a message, two replies, and the same thread for all.
func (p *player) thread(ctx context.Context) (string, error) {
	before, _, err := p.readThread(ctx)
	if err != nil {
		return "", err
	}
	if err := p.together(ctx, "counted"); err != nil {
		return "", err
	}
	in := hub.PostInput{ThreadID: p.cfg.Thread, Body: "who has read this?"}
	if p.me() == RoleA {
		if _, err := p.post(ctx, in, note{Word: "root"}); err != nil {
			return "", err
		}
	}
	root, err := p.await(ctx, RoleA, "root")
	if err != nil {
		return "", err
	}
	if p.me() != RoleA {
		in.ReplyTo, in.Body = root.ID, "I have"
		if _, err := p.post(ctx, in, note{Word: "reply"}); err != nil {
			return "", err
		}
	}
	for _, role := range []hub.AgentID{RoleB, RoleC} {
		reply, err := p.await(ctx, role, "reply")
		if err != nil {
			return "", err
		}
		if reply.ReplyTo == nil || *reply.ReplyTo != root.ID || reply.ThreadID == nil || *reply.ThreadID != p.cfg.Thread {
			return "", wrong("the reply %d of %s has reply_to %v and thread %v", reply.ID, role, shown(reply.ReplyTo), shown(reply.ThreadID))
		}
	}
	after, rows, err := p.readThread(ctx)
	if err != nil {
		return "", err
	}
	if after-before != 3 || rows != 3 {
		return "", wrong("the thread %s had %d messages before and has %d now, %d of this run: want 3 more", p.cfg.Thread, before, after, rows)
	}
	return fmt.Sprintf("message %d and two replies in %s", root.ID, p.cfg.Thread), nil
}

// readThread returns how many messages the thread has, and how many of these are
// public ones of this run.
func (p *player) readThread(ctx context.Context) (count int64, ours int, err error) {
	row, err := ask(ctx, p, "reading the thread", func(ctx context.Context) (hub.Thread, error) {
		return p.hub.Thread(ctx, p.cfg.Thread, p.me())
	})
	if refusedAs(err, hub.CodeThreadNotFound, "") == nil {
		return 0, 0, nil
	}
	if err != nil {
		return 0, 0, err
	}
	for _, encoded := range row.Messages {
		m, err := encoded.Decode()
		if err != nil {
			return 0, 0, wrong("a row of the thread is none: %v", err)
		}
		if m.ToAgent != nil && *m.ToAgent != p.me() && m.FromAgent != p.me() {
			return 0, 0, wrong("the thread shows message %d, which %s sent to %s alone", m.ID, m.FromAgent, *m.ToAgent)
		}
		if m.ToAgent == nil && slices.ContainsFunc(p.heard, func(l line) bool { return l.ID == m.ID && l.note.Run == p.run }) {
			ours++
		}
	}
	return row.Thread.MessageCount, ours, nil
}

// shown renders what a row may leave out.
func shown[T any](v *T) string {
	if v == nil {
		return "null"
	}
	return fmt.Sprint(*v)
}
