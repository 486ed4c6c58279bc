// Package roomday plays the day of a team in a room, and keeps a log of what the room was
// like at many moments: what the ordinary reads said right then. A test compares the log
// with what a replay says later. It is for tests only.
//
// A Day is used by one test. Its agents work at the same time, each in its own goroutine.
package roomday

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	"hubcli/hub"
)

// Agents is how many agents work in the room.
const Agents = 20

// Hub is a hub as a day needs it: as agents call it, and as its operator does.
type Hub struct {
	Agents, Operator hub.Service
	AsOperator       func(context.Context) context.Context // nil: Operator needs nothing
}

// Day is a team in a room.
type Day struct {
	Room hub.Room
	Log  []Instant

	tb  testing.TB
	hub Hub
	run hub.RunID

	work sync.RWMutex // held by each call as a reader, and while an instant is logged
	mu   sync.Mutex   // guards what follows
	told []hub.MessageID
	open []hub.TaskID
}

// New makes a room in a project of its own.
func New(tb testing.TB, h Hub, name string) *Day {
	tb.Helper()
	d := &Day{tb: tb, hub: h}
	if h.AsOperator == nil {
		d.hub.AsOperator = func(ctx context.Context) context.Context { return ctx }
	}
	ctx := tb.Context()
	project, err := h.Agents.CreateProject(ctx, hub.ProjectInput{Name: name})
	d.must(err)
	room, err := h.Agents.CreateRoom(ctx, hub.RoomInput{Project: project.Row.Slug, Name: "room"})
	d.must(err)
	d.Room = room.Row
	run, err := h.Agents.CreateRun(ctx, hub.RunInput{Title: "the day", RoomID: d.Room.RoomID, CreatedBy: agent(0)})
	d.must(err)
	d.run = run.Row.RunID
	return d
}

// At makes the day go on with another hub on the same store.
func (d *Day) At(tb testing.TB, h Hub) {
	d.tb, d.hub.Agents, d.hub.Operator = tb, h.Agents, h.Operator
}

func agent(i int) hub.AgentID { return hub.AgentID("agent-" + strconv.Itoa(i)) }

// must ends the test. Only the goroutine of the test calls it.
func (d *Day) must(err error) {
	if err != nil {
		d.tb.Helper()
		d.tb.Fatal(err)
	}
}

// Play lets the agents work until instants more instants are logged.
func (d *Day) Play(seed uint64, instants int) {
	d.tb.Helper()
	ctx := d.tb.Context()
	turns := make(chan struct{}) // so that a quick hub does not have more to show than a slow one
	var agents sync.WaitGroup
	for i := range Agents {
		agents.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(i)))
			for range turns {
				d.work.RLock()
				err := d.act(ctx, r, i)
				d.work.RUnlock()
				if err != nil {
					d.tb.Errorf("%s: %v", agent(i), err)
				}
			}
		})
	}
	pace := rand.New(rand.NewPCG(seed, Agents))
	for len(d.Log) < instants && !d.tb.Failed() {
		for range 1 + pace.IntN(Agents) {
			turns <- struct{}{}
		}
		d.log()
	}
	close(turns)
	agents.Wait()
}

// act makes one of the calls of an agent. That another agent was quicker is no error.
func (d *Day) act(ctx context.Context, r *rand.Rand, i int) error {
	acts := []func(context.Context, *rand.Rand, hub.AgentID) error{
		d.post, d.post, d.openTask, d.changeTask, d.changeTask, d.changeTask, d.changeTask, d.changeTask, d.handOver,
		d.claim, d.claim, d.claim, d.claim, d.lock, d.lock, d.breakLease, d.record, d.remember, d.pause, d.sit,
	}
	err := acts[r.IntN(len(acts))](ctx, r, agent(i))
	var e *hub.Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code { //nolint:exhaustive // the others are errors
	case hub.CodeNotHolder, hub.CodeTaskClosed, hub.CodeTaskTaken, hub.CodeNotOffered, hub.CodeMemoryNotFound, hub.CodePaused, hub.CodeNotPaused,
		hub.CodeOverloaded, hub.CodeBlocked, hub.CodeSessionNotFound, hub.CodeInvalid, hub.CodeTaskTooDeep, hub.CodeVersionConflict, hub.CodeLimitReached, hub.CodeNotGone:
		return nil
	}
	return err
}

func (d *Day) say(ctx context.Context, in hub.PostInput) error {
	in.Channel = d.Room.Channel
	out, err := d.hub.Agents.Post(ctx, in)
	if err != nil {
		return err
	}
	m, err := out.Row.Decode()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.told = append(d.told, m.ID)
	if in.Kind.OpensTask() {
		d.open = append(d.open, m.ID)
	}
	return err
}

func (d *Day) post(ctx context.Context, r *rand.Rand, by hub.AgentID) error {
	return d.say(ctx, hub.PostInput{FromAgent: by, Kind: hub.KindChat, Body: fmt.Sprint("news ", r.IntN(1000))})
}

// openTask opens a task, often below another one or in the run.
func (d *Day) openTask(ctx context.Context, r *rand.Rand, by hub.AgentID) error {
	in := hub.PostInput{FromAgent: by, Kind: hub.KindTask, Body: fmt.Sprint("task ", r.IntN(1000))}
	switch r.IntN(3) {
	case 0:
		in.ParentTaskID = d.anyTask(r)
	case 1:
		in.Metadata = []byte(`{"run_id":"` + string(d.run) + `"}`)
	}
	return d.say(ctx, in)
}

// anyTask returns a task that was opened lately, or 0.
func (d *Day) anyTask(r *rand.Rand) hub.TaskID {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.open) == 0 {
		return 0
	}
	return d.open[max(0, len(d.open)-1-r.IntN(15))]
}

func (d *Day) changeTask(ctx context.Context, r *rand.Rand, by hub.AgentID) error {
	id := d.anyTask(r)
	if id == 0 {
		return nil
	}
	if r.IntN(4) == 0 {
		_, err := d.hub.Agents.CompleteTask(ctx, id, hub.CompleteInput{AgentID: by, Release: r.IntN(2) == 0})
		return err
	}
	in := hub.TaskUpdateInput{AgentID: by}
	if r.IntN(2) == 0 {
		to := agent(r.IntN(Agents))
		in.Assignee = &to
	} else {
		status := []hub.TaskStatus{hub.TaskWorking, hub.TaskInputRequired, hub.TaskFailed, hub.TaskCancelled}[r.IntN(4)]
		in.Status = &status
	}
	_, err := d.hub.Agents.UpdateTask(ctx, id, in)
	return err
}

// handOver offers a task, or takes one that is offered.
func (d *Day) handOver(ctx context.Context, r *rand.Rand, by hub.AgentID) error {
	id := d.anyTask(r)
	if id == 0 {
		return nil
	}
	var err error
	if r.IntN(2) == 0 {
		_, err = d.hub.Agents.HandoffTask(ctx, id, hub.HandoffInput{AgentID: by, ToAgent: agent(r.IntN(Agents))})
	} else {
		_, err = d.hub.Agents.AcceptTask(ctx, id, hub.OfferInput{AgentID: by})
	}
	return err
}

// claim takes, renews or releases a claim. Some are for a task, and some expire soon.
func (d *Day) claim(ctx context.Context, r *rand.Rand, by hub.AgentID) error {
	key := hub.ClaimKey(fmt.Sprintf("area-%d:part", r.IntN(15)))
	var err error
	switch r.IntN(4) {
	case 0:
		_, err = d.hub.Agents.ReleaseClaim(ctx, hub.ClaimHoldInput{ClaimKey: key, AgentID: by})
	case 1:
		_, err = d.hub.Agents.RefreshClaim(ctx, hub.ClaimHoldInput{ClaimKey: key, OwnerAgentID: by, TTLSec: 60})
	case 2:
		if id := d.anyTask(r); id != 0 {
			_, err = d.hub.Agents.Claim(ctx, hub.ClaimInput{OwnerAgentID: by, TaskMessageID: id, TTLSec: 60})
		}
	default:
		_, err = d.hub.Agents.Claim(ctx, hub.ClaimInput{OwnerAgentID: by, ClaimKey: key, TTLSec: []int{1, 60}[r.IntN(2)]})
	}
	return err
}

func (d *Day) lock(ctx context.Context, r *rand.Rand, by hub.AgentID) error {
	path := fmt.Sprintf("/src/file-%d", r.IntN(10))
	var err error
	if r.IntN(2) == 0 {
		_, err = d.hub.Agents.Lock(ctx, hub.LockInput{FilePath: path, AgentID: by, TTLSec: 60})
	} else {
		_, err = d.hub.Agents.ReleaseLock(ctx, hub.LockHoldInput{FilePath: path, AgentID: by})
	}
	return err
}

func (d *Day) breakLease(ctx context.Context, r *rand.Rand, _ hub.AgentID) error {
	_, err := d.hub.Operator.BreakClaim(d.hub.AsOperator(ctx), hub.ClaimBreakInput{ClaimKey: hub.ClaimKey(fmt.Sprintf("area-%d:part", r.IntN(15))), Reason: "stuck"})
	return err
}

func (d *Day) record(ctx context.Context, r *rand.Rand, by hub.AgentID) error {
	if r.IntN(2) == 0 {
		_, err := d.hub.Agents.AddDecision(ctx, hub.DecisionInput{RoomID: d.Room.RoomID, Title: fmt.Sprint("decision ", r.IntN(1000)), By: by})
		return err
	}
	text := fmt.Sprint("version ", r.IntN(1000))
	_, err := d.hub.Agents.AddArtifact(ctx, hub.ArtifactInput{RoomID: d.Room.RoomID, Title: fmt.Sprint("plan ", r.IntN(5)), Kind: "doc", By: by, Body: &text})
	return err
}

// remember remembers, replaces or forgets, in the room or in its project.
func (d *Day) remember(ctx context.Context, r *rand.Rand, by hub.AgentID) error {
	in := hub.MemoryInput{RoomID: d.Room.RoomID, Scope: hub.ScopeRoom, Key: fmt.Sprint("key ", r.IntN(6)), Text: fmt.Sprint("text ", r.IntN(1000)), By: by}
	if r.IntN(3) == 0 {
		in.Scope = hub.ScopeProject
	}
	if r.IntN(4) == 0 {
		in.Text = ""
	}
	_, err := d.hub.Agents.Remember(ctx, in)
	return err
}

// pause pauses an agent for a moment, or the room.
func (d *Day) pause(ctx context.Context, r *rand.Rand, _ hub.AgentID) error {
	target := hub.PauseTarget{AgentID: agent(r.IntN(Agents))}
	if r.IntN(4) == 0 {
		target = hub.PauseTarget{RoomID: d.Room.RoomID}
	}
	ctx = d.hub.AsOperator(ctx)
	_, err := d.hub.Operator.Pause(ctx, hub.PauseInput{AgentID: target.AgentID, RoomID: target.RoomID, Words: fmt.Sprint("wait ", r.IntN(10))})
	if err == nil {
		_, err = d.hub.Operator.EndPause(ctx, hub.PauseEndInput{AgentID: target.AgentID, RoomID: target.RoomID})
	}
	if err == nil && r.IntN(3) == 0 && target.AgentID != "" { // one that stays, until it is ended by chance
		_, err = d.hub.Operator.Pause(ctx, hub.PauseInput{AgentID: agent(Agents - 1), Words: "stay"})
	}
	return err
}

// sit takes a seat, joins by an invite, or ends the seat by retiring.
func (d *Day) sit(ctx context.Context, r *rand.Rand, by hub.AgentID) error {
	switch r.IntN(4) {
	case 0:
		invite, err := d.hub.Agents.CreateInvite(ctx, hub.InviteInput{Project: string(d.Room.ProjectID), Room: string(d.Room.RoomID), MaxUses: 1, TTLSec: 60, Role: "reviewer"})
		if err == nil {
			_, err = d.hub.Agents.AcceptInvite(ctx, invite.Row.Code, hub.AcceptInput{AgentID: by})
		}
		return err
	case 1:
		_, err := d.hub.Operator.Retire(d.hub.AsOperator(ctx), agent(r.IntN(Agents)), hub.RetireInput{})
		return err
	}
	_, err := d.hub.Agents.Sit(ctx, d.Room.RoomID, hub.SitInput{AgentID: by})
	return err
}

// spin waits for the next millisecond of the clock, so that what comes next has another time.
func spin(after hub.Time) {
	for hub.TimeOf(time.Now()) <= after {
		continue
	}
}
