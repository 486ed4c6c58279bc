package core_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/require"
)

// failer is what *testing.T and *rapid.T share.
type failer interface {
	require.TB
	Fatalf(format string, args ...any)
}

// leaseRig plays the owner and the sequencer around a lease state. Beside the
// live state it keeps a replica that is fed with facts as the journal gives them
// back, and compares the two after every record.
type leaseRig struct {
	t             failer
	live, replica *core.Leases
	now           core.Now
	head          core.Head
	rows          map[string]core.Lease // by table and key
	away          map[hub.AgentID]bool
	channels      map[hub.ThreadID]hub.ChannelName
	hidden        map[hub.TaskID]hub.AgentID // the givers of direct tasks
	log           strings.Builder            // of the drafts since it was last read
}

func newLeaseRig(t failer) *leaseRig {
	return &leaseRig{
		t: t, live: core.NewLeases(), replica: core.NewLeases(),
		now:  core.Now{HubMS: 1000, Wall: hub.TimeOf(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC))},
		rows: map[string]core.Lease{}, away: map[hub.AgentID]bool{},
		channels: map[hub.ThreadID]hub.ChannelName{},
	}
}

func (r *leaseRig) Away(a hub.AgentID) bool                      { return r.away[a] }
func (r *leaseRig) ThreadChannel(t hub.ThreadID) hub.ChannelName { return r.channels[t] }
func (r *leaseRig) Hidden(id hub.TaskID) hub.AgentID             { return r.hidden[id] }

func (r *leaseRig) pass(d time.Duration) {
	r.now.HubMS += d.Milliseconds()
	r.now.Wall += hub.Time(d.Milliseconds())
}

// commit numbers a draft, applies it to both states and returns its position: the
// zero one for a draft without effect.
func (r *leaseRig) commit(d core.Draft) core.Position {
	r.t.Helper()
	if d.Empty() {
		return core.Position{}
	}
	r.head.Seq++
	at := core.Position{Seq: r.head.Seq, Now: r.now, FirstMessage: r.head.Message + 1, FirstFence: r.head.Fence + 1}
	r.head.Message += hub.MessageID(len(d.Messages))
	r.head.Fence += hub.Fence(d.Fences)
	for _, f := range d.Facts {
		r.live.Apply(f, at, func(row core.Row) {
			lease, err := core.DecodeLease(row.Value)
			if err != nil || lease.Key != string(row.Key) {
				r.t.Fatalf("row %q of table %d: %+v, %v", row.Key, row.Table, lease, err)
			}
			r.rows[fmt.Sprint(row.Table, " ", lease.Key)] = lease
		})
		r.replica.Apply(throughJournal(r.t, f), at, nil)
	}
	if live, replayed := r.live.Snapshot(), r.replica.Snapshot(); !bytes.Equal(live, replayed) {
		r.t.Fatalf("live and replayed state differ:\n%s\n%s", live, replayed)
	}
	r.log.WriteString(show(d, at))
	return at
}

// throughJournal encodes a fact and reads it back.
func throughJournal(t failer, f core.Fact) core.Fact {
	t.Helper()
	back, err := core.DecodeFact(core.EncodeFact(f))
	if err != nil {
		t.Fatalf("%T: %v", f, err)
	}
	return back
}

// do takes a command's decision into one record with what is due.
func (r *leaseRig) do(key core.LeaseKey, decide func() (core.Decision[core.LeaseAnswer], error)) (core.LeaseAnswer, error) {
	r.t.Helper()
	expired := r.live.Expire(r.now, r, hub.MaxExpireBatch, key)
	d, err := decide()
	if err != nil {
		r.commit(expired)
		return core.LeaseAnswer{}, err
	}
	d = core.AfterExpiry(expired, d)
	at := r.commit(d.Draft)
	return d.Answer(at), nil
}

func (r *leaseRig) acquire(c core.AcquireCommand) core.LeaseAnswer {
	r.t.Helper()
	a, err := r.do(core.LeaseKey{Space: c.Space, Key: c.Key}, func() (core.Decision[core.LeaseAnswer], error) {
		return r.live.Acquire(c, r.now), nil
	})
	if err != nil {
		r.t.Fatalf("acquire: %v", err)
	}
	return a
}

func (r *leaseRig) refresh(c core.HoldCommand) (core.LeaseAnswer, error) {
	r.t.Helper()
	return r.do(core.LeaseKey{Space: c.Space, Key: c.Key}, func() (core.Decision[core.LeaseAnswer], error) {
		return r.live.Refresh(c, r.now)
	})
}

func (r *leaseRig) release(c core.HoldCommand) (core.LeaseAnswer, error) {
	r.t.Helper()
	return r.do(core.LeaseKey{Space: c.Space, Key: c.Key}, func() (core.Decision[core.LeaseAnswer], error) {
		return r.live.Release(c, r.now)
	})
}

// expire is a turn that the owner's timer began.
func (r *leaseRig) expire() { r.commit(r.live.Expire(r.now, r, hub.MaxExpireBatch)) }

// restart takes the state through a checkpoint and does what a start does.
func (r *leaseRig) restart() {
	r.t.Helper()
	for _, state := range []**core.Leases{&r.live, &r.replica} {
		restored, err := core.RestoreLeases(core.LeasesVersion, (*state).Snapshot())
		if err != nil {
			r.t.Fatalf("restore: %v", err)
		}
		if was, is := (*state).Snapshot(), restored.Snapshot(); !bytes.Equal(was, is) {
			r.t.Fatalf("restored state differs:\n%s\n%s", was, is)
		}
		*state = restored
	}
	for {
		d := r.live.Graced(r.now, 2)
		if d.Empty() {
			return
		}
		r.commit(d)
	}
}

// handOver passes the leases that from took for a task before a fence on to to.
func (r *leaseRig) handOver(id hub.TaskID, from, to hub.AgentID, before hub.Fence) {
	r.t.Helper()
	c := core.PassCommand{Task: core.StoredTask{
		Task: hub.Task{TaskID: id, Title: "Paint", Channel: "art", Assignee: &to}, Former: []core.EarlierHolder{{Agent: from, Fence: before}},
	}}
	if from == to {
		c.Task.Former = nil // the assignee is no former one
	}
	r.follow(c.Task)
}

// follow has all leases follow a task.
func (r *leaseRig) follow(task core.StoredTask) {
	r.t.Helper()
	c := core.PassCommand{Task: task}
	for _, l := range slices.Concat(r.live.List(core.SpaceClaim), r.live.List(core.SpaceLock)) {
		c.Keys = append(c.Keys, l.LeaseKey())
	}
	d := r.live.Pass(c, r.now)
	if n := d.Answer(r.commit(d.Draft)); n != len(d.Draft.Facts) {
		r.t.Fatalf("%d leases changed in %d facts", n, len(d.Draft.Facts))
	}
}

// endTask releases the leases that an agent took for a task before a fence.
func (r *leaseRig) endTask(id hub.TaskID, agent hub.AgentID, before hub.Fence) {
	r.t.Helper()
	r.follow(core.StoredTask{Task: hub.Task{TaskID: id, Status: hub.TaskDone}, Released: []core.EarlierHolder{{Agent: agent, Fence: before}}})
}

// TestLeaseTranscripts plays testdata/leases_*.txt. Commands:
//
//	acquire|lock AGENT KEY ttl=SEC [thread=T] [task=ID] [metadata=JSON]
//	handover TASK from=AGENT to=AGENT before=FENCE
//	end TASK by=AGENT before=FENCE
//	refresh|release|relock|unlock AGENT KEY [ttl=SEC] [fence=N]
//	pass DURATION · expire · restart · away AGENT · thread T CHANNEL · held
func TestLeaseTranscripts(t *testing.T) {
	runTranscripts(t, "leases_*.txt", func(t *testing.T) func([]string) string {
		r := newLeaseRig(t)
		return func(args []string) string {
			out := r.play(args)
			log := r.log.String()
			r.log.Reset()
			return log + out
		}
	})
}

func (r *leaseRig) play(args []string) string {
	switch args[0] {
	case "pass":
		d, err := time.ParseDuration(args[1])
		require.NoError(r.t, err)
		r.pass(d)
	case "expire":
		r.expire()
	case "restart":
		r.restart()
	case "away":
		r.away[hub.AgentID(args[1])] = true
	case "thread":
		r.channels[hub.ThreadID(args[1])] = hub.ChannelName(args[2])
	case "held":
		return r.held()
	case "end":
		r.endTask(hub.TaskID(number(args[1])), hub.AgentID(named(args, "by")), hub.Fence(number(named(args, "before"))))
	case "handover":
		r.handOver(hub.TaskID(number(args[1])), hub.AgentID(named(args, "from")), hub.AgentID(named(args, "to")), hub.Fence(number(named(args, "before"))))
	case "acquire", "lock":
		c := core.AcquireCommand{
			Space: core.SpaceClaim, Agent: hub.AgentID(args[1]), Key: args[2], TTLSec: int(number(named(args, "ttl"))),
			Thread: hub.ThreadID(named(args, "thread")), TaskMessage: hub.MessageID(number(named(args, "task"))), Metadata: json.RawMessage(named(args, "metadata")),
		}
		if args[0] == "lock" {
			c.Space, c.Given, c.Key = core.SpaceLock, args[2], r.canonical(args[2])
		}
		a := r.acquire(c)
		if !a.Acquired {
			return "  200 not acquired, the holder is " + rowOf(a)
		}
		return "  201 acquired " + rowOf(a)
	default:
		return r.playHold(args)
	}
	return ""
}

func (r *leaseRig) playHold(args []string) string {
	c := core.HoldCommand{
		Space: core.SpaceClaim, Agent: hub.AgentID(args[1]), Key: args[2],
		TTLSec: int(number(named(args, "ttl"))), Fence: hub.Fence(number(named(args, "fence"))),
	}
	if args[0] == "relock" || args[0] == "unlock" {
		c.Space, c.Key = core.SpaceLock, r.canonical(args[2])
	}
	command := r.release
	if args[0] == "refresh" || args[0] == "relock" {
		command = r.refresh
	}
	a, err := command(c)
	if err != nil {
		return showError(err)
	}
	return "  200 " + rowOf(a)
}

func (r *leaseRig) canonical(given string) string {
	p, err := core.CanonicalPath(given)
	require.NoError(r.t, err)
	return p
}

func (r *leaseRig) held() string {
	var out strings.Builder
	for _, space := range []core.LeaseSpace{core.SpaceClaim, core.SpaceLock} {
		for _, l := range r.live.List(space) {
			left := time.Duration(l.Deadline-r.now.HubMS) * time.Millisecond
			fmt.Fprintf(&out, "  %s %s: %s, fence %d, %v left\n", space, l.Key, l.Agent, l.Fence, left)
		}
	}
	if out.Len() == 0 {
		return "  nothing is held\n"
	}
	return out.String()
}

func rowOf(a core.LeaseAnswer) string {
	var row any = a.Claim
	if a.Lock != nil {
		row = a.Lock
	}
	b, err := json.Marshal(row)
	if err != nil {
		panic(err)
	}
	return string(b) + "\n"
}
