package demo

import (
	"context"
	"slices"
	"time"

	"hubcli/hub"
	"hubcli/internal/pause"
)

// Work lets the team work, with one act about every beat, until ctx ends. It returns nil
// then, and an error if the hub has gone.
func (t *Team) Work(ctx context.Context, beat time.Duration) error {
	ctx, stop := context.WithCancel(ctx)
	defer t.going.Wait()
	defer stop()
	for _, m := range cast() {
		t.going.Go(func() { t.listen(ctx, m.id, beat) })
	}
	for round := 0; pause.For(ctx, beat); round++ {
		switch {
		case round%5 == 3:
			t.aside(ctx)
		case round%11 == 6:
			_ = t.draft(ctx)
		case round%13 == 9:
			t.ask(ctx)
		case round%17 == 12:
			t.handOver(ctx)
		case round%6 == 1:
			t.contend(ctx)
		default:
			t.step(ctx)
		}
		if _, err := t.hub.Info(ctx); err != nil && ctx.Err() == nil && ended(err) {
			return err
		}
	}
	return nil
}

// beginPlan makes the next run.
func (t *Team) beginPlan(ctx context.Context) error {
	all := plans()
	p := all[t.plans%len(all)]
	t.plans++
	in := hub.RunInput{Title: p.title, RoomID: t.room.RoomID, CreatedBy: lead}
	for _, j := range p.jobs {
		in.Tasks = append(in.Tasks, j.PlannedTask)
	}
	run, err := t.members[lead].CreateRun(ctx, in)
	if err != nil {
		return err
	}
	t.open = nil
	for i, id := range run.Row.Planned {
		t.open = append(t.open, assigned{job: p.jobs[i], id: id})
	}
	return nil
}

// step begins one task that can begin, or ends the one that began first.
func (t *Team) step(ctx context.Context) {
	if len(t.open) == 0 {
		t.say(ctx, lead, t.room, "That was all of this run. Well done; here is the next.")
		_ = t.beginPlan(ctx)
		return
	}
	for i := range t.open {
		if a := &t.open[i]; !a.begun && t.free(a) {
			t.begin(ctx, a)
			return
		}
	}
	if i := slices.IndexFunc(t.open, func(a assigned) bool { return a.begun }); i >= 0 {
		t.finish(ctx, t.open[i])
		t.open = slices.Delete(t.open, i, i+1)
		return
	}
	t.open = nil // a person has taken the rest away
}

// free reports whether nothing that the task waits for is open.
func (t *Team) free(a *assigned) bool {
	return !slices.ContainsFunc(t.open, func(o assigned) bool { return slices.Contains(a.After, o.Name) })
}

func (t *Team) begin(ctx context.Context, a *assigned) {
	c, working := t.members[a.who], hub.TaskWorking
	a.begun = true
	t.busy[a.who].Store(true)
	t.note(ctx, a.who, hub.TurnWorking, "")
	_, _ = c.UpdateTask(ctx, a.id, hub.TaskUpdateInput{AgentID: a.who, Assignee: &a.who, Status: &working})
	_, _ = c.Claim(ctx, hub.ClaimInput{OwnerAgentID: a.who, ClaimKey: claimOf(a.job), TTLSec: leaseTime})
	_, _ = c.Lock(ctx, hub.LockInput{AgentID: a.who, FilePath: a.file, TTLSec: leaseTime})
	t.say(ctx, a.who, t.room, a.job.begin)
}

func (t *Team) finish(ctx context.Context, a assigned) {
	c := t.members[a.who]
	_, _ = c.CompleteTask(ctx, a.id, hub.CompleteInput{AgentID: a.who, Note: a.job.finish})
	_, _ = c.ReleaseLock(ctx, hub.LockHoldInput{AgentID: a.who, FilePath: a.file})
	_, _ = c.ReleaseClaim(ctx, hub.ClaimHoldInput{OwnerAgentID: a.who, ClaimKey: claimOf(a.job)})
	t.rest(ctx, a.who)
	if a.who == reviewer {
		t.say(ctx, reviewer, t.desk, a.job.finish)
		_, _ = c.AddDecision(ctx, hub.DecisionInput{RoomID: t.desk.RoomID, Title: a.Title + ": accepted", Note: a.job.finish, By: reviewer})
	}
}

// handOver lets the agent with the oldest task offer it to another, who takes it.
func (t *Team) handOver(ctx context.Context) {
	i := slices.IndexFunc(t.open, func(a assigned) bool { return a.begun && a.who != tester })
	if i < 0 {
		return
	}
	a := &t.open[i]
	_, err := t.members[a.who].HandoffTask(ctx, a.id, hub.HandoffInput{AgentID: a.who, ToAgent: tester, Note: "You know this part better."})
	if err != nil {
		return
	}
	if _, err := t.members[tester].AcceptTask(ctx, a.id, hub.OfferInput{AgentID: tester, Note: "I take it."}); err == nil {
		t.rest(ctx, a.who)
		a.who = tester
		t.busy[tester].Store(true)
		t.note(ctx, tester, hub.TurnWorking, "")
	}
}

// rest ends the turn of a member whose work is done.
func (t *Team) rest(ctx context.Context, who hub.AgentID) {
	t.busy[who].Store(false)
	t.note(ctx, who, hub.TurnIdle, "")
}

// contend lets a member that has no task wait for what another holds.
func (t *Team) contend(ctx context.Context) {
	i := slices.IndexFunc(t.open, func(a assigned) bool { return a.begun })
	if i < 0 {
		return
	}
	held := t.open[i]
	for _, who := range []hub.AgentID{reviewer, writer, web} {
		if who == held.who || t.busy[who].Load() {
			continue
		}
		t.say(ctx, who, t.room, "I need `"+held.file+"` next and wait until @"+string(held.who)+" is done with it.")
		t.going.Go(func() {
			key := claimOf(held.job)
			got, err := t.members[who].Claim(ctx, hub.ClaimInput{OwnerAgentID: who, ClaimKey: key, TTLSec: leaseTime, WaitSec: hub.MaxWaitSec})
			if err == nil && got.Acquired {
				_, _ = t.members[who].ReleaseClaim(ctx, hub.ClaimHoldInput{OwnerAgentID: who, ClaimKey: key})
			}
		})
		return
	}
}

func (t *Team) aside(ctx context.Context) {
	all := asides()
	line := all[t.asides%len(all)]
	t.asides++
	t.say(ctx, line.who, t.room, line.text)
}

// ask puts the next question to the person, unless one of the team is open.
func (t *Team) ask(ctx context.Context) {
	if t.asked != "" {
		if last, err := t.members[lead].AskByID(ctx, t.asked, ""); err == nil && last.State == hub.AskOpen {
			return
		}
	}
	all := questions()
	q := all[t.asks%len(all)]
	q.RoomID = t.room.RoomID
	if out, err := t.members[q.AgentID].Ask(ctx, q); err == nil {
		t.asks++
		t.asked = out.Row.AskID
	}
}

// listenFor is how long one poll of a member waits.
const listenFor = 25 * time.Second

// listen polls as a member does: between two tasks it waits for messages, during one it
// looks now and then. It answers what the person says to it: to the agent alone, or to the
// room if it is the lead.
func (t *Team) listen(ctx context.Context, who hub.AgentID, beat time.Duration) {
	c, since := t.members[who], hub.MessageID(0)
	for ctx.Err() == nil {
		wait := listenFor
		if t.busy[who].Load() && pause.For(ctx, beat) {
			wait = 0
		}
		page, err := c.Events(ctx, hub.EventsQuery{Agent: who, Since: since, ExcludeSelf: true, Limit: hub.MaxPageRows, Wait: wait})
		if err != nil {
			if !pause.For(ctx, time.Second) {
				return
			}
			continue
		}
		fresh := since > 0
		since = max(since, page.NextSinceID)
		for _, encoded := range page.Rows {
			m, err := encoded.Decode()
			if err != nil || !fresh || m.Authority != hub.AuthorityOperator {
				continue
			}
			toMe := m.ToAgent != nil && *m.ToAgent == who
			if (toMe || m.ToAgent == nil && who == lead) && pause.For(ctx, beat/2) {
				t.answer(ctx, who, m)
			}
		}
	}
}

func (t *Team) answer(ctx context.Context, who hub.AgentID, m hub.Message) {
	if m.ReplyTo != nil {
		t.reply(ctx, who, m.ID, "Thank you, that settles it. I go on.")
		return
	}
	t.reply(ctx, who, m.ID, "Understood. I do that next and tell you when it is done.")
}
