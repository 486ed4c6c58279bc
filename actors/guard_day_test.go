package actors

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hubcli/hub"
	"hubcli/internal/testrace"
)

// busyTeam is a day of twenty agents in one room.
type busyTeam struct {
	*rig
	room   hub.Room
	rng    *rand.Rand
	agents []hub.AgentID
	posts  int
}

func (b *busyTeam) two() (x, y hub.AgentID) {
	i := b.rng.IntN(len(b.agents))
	return b.agents[i], b.agents[(i+1+b.rng.IntN(len(b.agents)-1))%len(b.agents)]
}

// talk has two agents exchange messages directly, some time apart.
func (b *busyTeam) talk(x, y hub.AgentID, turns int) {
	for range turns {
		b.post(hub.PostInput{FromAgent: x, ToAgent: y, Body: "How do amounts round?"})
		b.posts++
		x, y = y, x
		time.Sleep(time.Duration(1+b.rng.IntN(20)) * time.Second)
	}
}

// hand opens a task for an agent that asks back, works, hands it over and reports.
func (b *busyTeam) hand() {
	lead, dev := b.two()
	task := b.task(hub.PostInput{FromAgent: lead, Channel: b.room.Channel, Body: "Write the parser"})
	status := hub.TaskWorking
	must(b.UpdateTask(b.t.Context(), task, hub.TaskUpdateInput{AgentID: dev, Status: &status, Assignee: &dev}))
	b.talk(dev, lead, 1+b.rng.IntN(5))
	b.claim(dev, hub.ClaimKey(fmt.Sprint("task", task)), 600)
	_, next := b.two()
	must(b.UpdateTask(b.t.Context(), task, hub.TaskUpdateInput{AgentID: dev, Assignee: &next}))
	b.talk(next, dev, 1+b.rng.IntN(5))
	b.post(hub.PostInput{FromAgent: next, Channel: b.room.Channel, Kind: hub.KindTaskResult, ReplyTo: task, Body: "done"})
	b.posts++
}

// discuss has two or three agents talk in the channel, with a decision at the end.
func (b *busyTeam) discuss() {
	x, y := b.two()
	for i := range 1 + b.rng.IntN(5) {
		b.post(hub.PostInput{FromAgent: []hub.AgentID{x, y}[i%2], Channel: b.room.Channel, Body: "cents?"})
		b.posts++
	}
	must(b.AddDecision(b.t.Context(), hub.DecisionInput{RoomID: b.room.RoomID, Title: "Amounts are cents", By: y}))
}

// TestBusyTeamIsNotTouched: in a day of twenty agents with tasks that pass on, questions and
// answers of up to five turns, discussions, decisions and artifacts the guard tells, slows
// and stops nobody, and asks the operator nothing.
func TestBusyTeamIsNotTouched(t *testing.T) {
	testrace.Avoid(t, "one goroutine posts for long")
	for seed := range uint64(5) {
		bubble(t, func(t *testing.T, r *rig) {
			b := &busyTeam{rig: r, room: r.makeRoom("room"), rng: rand.New(rand.NewPCG(seed, 1))}
			for i := range 20 {
				b.agents = append(b.agents, hub.AgentID(fmt.Sprint("dev-", i)))
			}
			plan := "the plan"
			for step := range 300 {
				switch b.rng.IntN(4) {
				case 0:
					b.discuss()
				case 1:
					x, _ := b.two()
					must(b.AddArtifact(t.Context(), hub.ArtifactInput{RoomID: b.room.RoomID, Title: fmt.Sprint("plan", step%5), Kind: "document", Body: &plan, By: x}))
				default:
					b.hand()
				}
			}
			synctest.Wait()
			if asks := r.openAsks(); len(asks) > 0 {
				t.Errorf("the operator is asked: %+v", asks)
			}
			for _, agent := range b.agents {
				if all := strings.Join(r.toldTo(agent), "\n"); strings.Contains(all, "times in turn") {
					t.Errorf("%s was told of a loop", agent)
				}
			}
			if b.posts < 1000 {
				t.Errorf("a day of %d posts is not busy", b.posts)
			}
		})
	}
}
