package smoke

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"hubcli/hub"
)

// silence is how long a hub, or the way to it, may be slow beyond what a poll
// asks it to wait.
const silence = 3 * time.Second

// wordFailed tells the others that a role has failed.
const wordFailed = "failed"

// note is what a role says to the others. It is the member "smoke" of a message's
// metadata; the body is for people.
type note struct {
	Run      string                 `json:"run,omitempty"`
	Step     string                 `json:"step"`
	Word     string                 `json:"word"`
	N        int                    `json:"n,omitempty"`
	IDs      []hub.MessageID        `json:"ids,omitempty"`
	Acquired bool                   `json:"acquired,omitempty"`
	Owner    hub.AgentID            `json:"owner,omitempty"`
	Fence    hub.Fence              `json:"fence,omitempty"`
	Text     string                 `json:"text,omitempty"`
	Heard    map[hub.AgentID]string `json:"heard,omitempty"` // of "here": the nonces of the roles
}

func (n note) encode() json.RawMessage {
	b, err := json.Marshal(map[string]note{"smoke": n})
	if err != nil { // it has nothing that does not encode
		panic("smoke: a note does not encode: " + err.Error())
	}
	return b
}

// line is a message that was heard.
type line struct {
	hub.Message
	note note // zero if the message has none
}

// hear polls once and keeps what comes. Every row must come once, in rising order
// of the ids, and be this agent's to see.
func (p *player) hear(ctx context.Context) error {
	page, err := ask(ctx, p, "polling", func(ctx context.Context) (hub.Page, error) {
		return p.hub.Events(ctx, hub.EventsQuery{
			Agent: p.me(), Channels: []hub.ChannelName{p.cfg.Channel}, Since: p.since, Limit: pageLimit, Wait: p.wait(ctx),
		})
	})
	if err != nil {
		return err
	}
	for _, encoded := range page.Rows {
		row, err := encoded.Decode()
		if err != nil {
			return wrong("a row of a poll is none: %v", err)
		}
		if row.ID <= p.last {
			return wrong("the poll from %d showed message %d after message %d: each must come once, in rising order", p.since, row.ID, p.last)
		}
		p.last = row.ID
		if row.ToAgent != nil && *row.ToAgent != p.me() {
			return wrong("the poll showed message %d, which %s sent to %s alone", row.ID, row.FromAgent, *row.ToAgent)
		}
		p.keep(row)
	}
	if page.NextSinceID < p.last {
		return wrong("next_since_id is %d after a poll that showed message %d", page.NextSinceID, p.last)
	}
	p.since = page.NextSinceID
	return nil
}

// wait is how long one poll is parked: no more than half of the time that is left,
// so that the last ones are answered within it.
func (p *player) wait(ctx context.Context) time.Duration {
	const least = 10 * time.Millisecond
	end, ok := ctx.Deadline()
	if !ok {
		return p.cfg.PollInterval
	}
	return min(p.cfg.PollInterval, max(time.Until(end)/2, least))
}

// keep remembers what the roles of this run, or the hub, have said.
func (p *player) keep(row hub.Message) {
	var metadata struct {
		Smoke note `json:"smoke"`
	}
	_ = json.Unmarshal(row.Metadata, &metadata) // somebody else's message has what it has
	n := metadata.Smoke
	role := slices.Contains(Roles(), row.FromAgent)
	if row.FromAgent == hub.AgentSystem || role && (n.Run == p.run || p.run == "") {
		p.heard = append(p.heard, line{row, n})
	}
}

// said finds what a role has said in this step of this run.
func (p *player) said(from hub.AgentID, word string) (line, bool) {
	for _, l := range p.heard {
		if l.FromAgent == from && l.note.Run == p.run && l.note.Step == p.step && l.note.Word == word {
			return l, true
		}
	}
	return line{}, false
}

// lines are all that was said with a word in this step, in the order of the feed.
func (p *player) lines(word string) []line {
	var found []line
	for _, l := range p.heard {
		if l.note.Run == p.run && l.note.Step == p.step && l.note.Word == word {
			found = append(found, l)
		}
	}
	return found
}

// until polls until holds, or another role fails, or the time is over.
func (p *player) until(ctx context.Context, what string, holds func() bool) error {
	began := time.Now()
	for !holds() {
		if err := p.othersFailed(); err != nil {
			return err
		}
		err := p.hear(ctx)
		if ctx.Err() != nil && !holds() {
			// That the last poll was not answered within the time says nothing of the
			// hub, if it has answered just before.
			var refused *hub.Error
			if !errors.As(err, &refused) || late(refused) && time.Since(p.answered) < p.cfg.PollInterval+silence {
				err = context.Cause(ctx)
			}
			return fmt.Errorf("waited %.1f s for %s; %s; %w", time.Since(began).Seconds(), what, p.lastWords(), err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// othersFailed is the failure that another role has told of.
func (p *player) othersFailed() error {
	for _, l := range p.heard {
		if p.run != "" && l.note.Run == p.run && l.note.Word == wordFailed && l.FromAgent != p.me() {
			return wrong("another role has failed: %s", l.note.Text)
		}
	}
	return nil
}

// lastWords says what was heard last of each other role.
func (p *player) lastWords() string {
	var words []string
	for _, role := range Roles() {
		if role == p.me() {
			continue
		}
		text := "nothing was heard of " + string(role)
		for _, l := range p.heard {
			if l.FromAgent == role {
				text = fmt.Sprintf("%s last said %q in step %s", role, l.note.Word, l.note.Step)
			}
		}
		words = append(words, text)
	}
	return strings.Join(words, "; ")
}
