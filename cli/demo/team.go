package demo

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"hubcli/api/client"
	"hubcli/hub"
)

// Team is the team in its hub.
type Team struct {
	hub     *client.Client
	members map[hub.AgentID]*client.Client
	room    hub.Room // where it builds
	desk    hub.Room // where it reviews
	plans   int      // begun so far
	open    []assigned
	asides  int
	asks    int
	asked   hub.AskID
	drafts  int // versions of the artifact
	// busy has the members that work on a task; the others wait for messages.
	busy map[hub.AgentID]*atomic.Bool
	// going counts the goroutines of Work.
	going sync.WaitGroup
}

// assigned is a task of the current run that has not ended.
type assigned struct {
	job
	id    hub.TaskID
	begun bool
}

// Open registers the team, makes its project and gives it some past. Errors: those of
// the hub.
func Open(ctx context.Context, c *client.Client) (*Team, error) {
	t := &Team{hub: c, members: map[hub.AgentID]*client.Client{}, busy: map[hub.AgentID]*atomic.Bool{}}
	steps := []func(context.Context) error{t.arrive, t.makeRooms, t.know, t.beginPlan, t.past}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return t, nil
}

func (t *Team) arrive(ctx context.Context) error {
	for _, m := range cast() {
		got, err := t.hub.As(m.id, "").Register(ctx, hub.RegisterInput{AgentID: m.id, DisplayName: m.name, Capabilities: m.skills})
		if err != nil {
			return fmt.Errorf("registering %s: %w", m.id, err)
		}
		t.members[m.id], t.busy[m.id] = t.hub.As(m.id, got.Row.SessionID), new(atomic.Bool)
	}
	return nil
}

func (t *Team) makeRooms(ctx context.Context) error {
	c := t.members[lead]
	project, err := c.CreateProject(ctx, hub.ProjectInput{Name: "Shop", CreatedBy: lead})
	if err != nil {
		return err
	}
	for _, made := range []struct {
		room        *hub.Room
		name, topic string
	}{
		{&t.room, "Checkout", "From the cart to the receipt"},
		{&t.desk, "Review desk", "Findings, and what became of them"},
	} {
		out, err := c.CreateRoom(ctx, hub.RoomInput{Project: project.Row.Slug, Name: made.name, Topic: made.topic, CreatedBy: lead})
		if err != nil {
			return err
		}
		*made.room = out.Row
	}
	for _, m := range cast() {
		if _, err := t.members[m.id].Sit(ctx, t.room.RoomID, hub.SitInput{AgentID: m.id}); err != nil {
			return err
		}
	}
	return nil
}

// know stores what the team has remembered and decided.
func (t *Team) know(ctx context.Context) error {
	for key, text := range map[string]string{
		"deploy":  "Deploy with `make release`, never by hand. The canary takes ten minutes.",
		"money":   "Amounts are integers of cents. Round half up, and only at the end.",
		"partner": "Partners call us with API version 1 until June.",
	} {
		if _, err := t.members[lead].Remember(ctx, hub.MemoryInput{RoomID: t.room.RoomID, Key: key, Text: text, By: lead}); err != nil {
			return err
		}
	}
	for _, d := range []hub.DecisionInput{
		{Title: "Prices are integers of cents", Note: "Floats lost a cent in one of 9,000 orders. All services change together.", By: lead},
		{Title: "One webhook, retried with the same key", Note: "A payment must count once however often the provider calls.", By: reviewer},
	} {
		d.RoomID = t.room.RoomID
		if _, err := t.members[d.By].AddDecision(ctx, d); err != nil {
			return err
		}
	}
	return t.draft(ctx)
}

// past lets some time seem to have gone by: talk, a finished task, and agents at work.
func (t *Team) past(ctx context.Context) error {
	hello := t.say(ctx, lead, t.room, "Morning. The plan is in the run **Checkout v2**. Take what is free, claim what you touch.")
	talk := []struct {
		who  hub.AgentID
		text string
	}{
		{api, "On it."}, {web, "I can begin when the schema is there."}, {tester, "I prepare the carts meanwhile."},
	}
	for _, line := range talk {
		t.reply(ctx, line.who, hello, line.text)
	}
	t.tell(ctx, web, api, "Is it safe to read `price_cents` before the migration has run?")
	t.tell(ctx, api, web, "Yes, it is filled by a trigger until then.")
	t.step(ctx) // the first task begins
	t.step(ctx) // and ends
	t.step(ctx) // the next begin
	t.step(ctx)
	t.ask(ctx)
	t.note(ctx, reviewer, hub.TurnAtPrompt, "Bash")
	return context.Cause(ctx)
}

// draft stores the next version of the team's page.
func (t *Team) draft(ctx context.Context) error {
	t.drafts++
	body := fmt.Sprintf("# Checkout, draft %d\n\nA cart becomes an order in three steps.\n", t.drafts)
	for i := range min(t.drafts, 12) {
		body += fmt.Sprintf("\n## Step %d\n\nWhat the partner sends, and what we answer.\n", i+1)
	}
	_, err := t.members[writer].AddArtifact(ctx, hub.ArtifactInput{RoomID: t.room.RoomID, Title: "Checkout for partners", Kind: "doc", By: writer, Body: &body, ContentType: "text/markdown"})
	return err
}

// say posts in a room and returns the message; 0 if the hub refused it.
func (t *Team) say(ctx context.Context, who hub.AgentID, room hub.Room, text string) hub.MessageID {
	return t.post(ctx, hub.PostInput{FromAgent: who, Channel: room.Channel, Body: text})
}

func (t *Team) reply(ctx context.Context, who hub.AgentID, to hub.MessageID, text string) {
	t.post(ctx, hub.PostInput{FromAgent: who, ReplyTo: to, Body: text})
}

func (t *Team) tell(ctx context.Context, who, to hub.AgentID, text string) {
	t.post(ctx, hub.PostInput{FromAgent: who, ToAgent: to, Body: text})
}

func (t *Team) post(ctx context.Context, in hub.PostInput) hub.MessageID {
	out, err := t.members[in.FromAgent].Post(ctx, in)
	if err != nil {
		return 0
	}
	row, err := out.Row.Decode()
	if err != nil {
		return 0
	}
	return row.ID
}

func (t *Team) note(ctx context.Context, who hub.AgentID, turn hub.Turn, tool string) {
	_, _ = t.members[who].NoteTurn(ctx, hub.TurnInput{AgentID: who, Turn: turn, Tool: tool})
}

// ended reports whether the hub is gone or the time is over; what else the hub refuses, a
// person may have asked for: a pause, a mute, an archived room.
func ended(err error) bool {
	var refused *hub.Error
	return errors.Is(err, context.Canceled) || errors.As(err, &refused) && refused.Status == 0
}

// leaseTime is how long claims and locks of the team last, in seconds: longer than a task
// takes at any pace.
const leaseTime = int(time.Hour / time.Second)

func claimOf(j job) hub.ClaimKey { return hub.ClaimKey("shop/" + strings.ReplaceAll(j.file, ".", "-")) }
