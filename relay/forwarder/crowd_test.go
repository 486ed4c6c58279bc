package forwarder

import (
	"fmt"
	"math"
	"net/http"
	"strings"
	"sync"
	"testing"

	"hubcli/hub"
	"hubcli/internal/testhub"
	"hubcli/relay"
)

// TestCallsFor: the bound of calls leaves open files for everything else.
func TestCallsFor(t *testing.T) {
	for files, want := range map[uint64]int{0: 8, 64: 16, 1024: 256, 1 << 20: maxCallsInAll, math.MaxUint64: maxCallsInAll} {
		if got := callsFor(files); got != want {
			t.Errorf("with %d files: %d calls, want %d", files, got, want)
		}
	}
}

// TestManyPollsDelayNobody: few files may be open, and some agents poll as much
// as they can. There is still room for the calls and polls of others.
func TestManyPollsDelayNobody(t *testing.T) {
	h := testhub.Start(t)
	b := newBench(t, h.URL)
	f := b.made(nil)
	f.most.calls = 32
	b.run(f)
	poll := func(agent string) relay.RequestID {
		return b.ask(hub.AgentID(agent), "GET", "/v1/events?agent_id="+agent+"&timeout=60&exclude_self=1&channel=direct", "")
	}
	const crowd, each = 6, 20
	polls := map[relay.RequestID]string{}
	for i := range crowd * each {
		agent := fmt.Sprintf("crowd-%d", i%crowd)
		polls[poll(agent)] = agent
	}
	refused := func() (n int) {
		for id, agent := range polls {
			if r, there := b.response(agent, id); there && r.Status == 429 && strings.Contains(string(r.Body), `"too_many_polls"`) {
				n++
			}
		}
		return n
	}
	most := f.most.calls/2 - f.most.calls/8
	waits := func() (parks, parked int) { // calls that wait in the relay; parked: those of them in the hub
		f.mu.Lock()
		defer f.mu.Unlock()
		for _, d := range f.folders {
			parked += d.parked
		}
		return f.parks, parked
	}
	var before int
	b.until("the rest is refused", func() bool {
		parks, parked := waits()
		before = parked
		return parks >= most && parks <= f.most.calls/2 && refused() == len(polls)-parks && h.Hub.Counts().ParkedPolls == parked
	})
	quiet := poll("quiet")
	b.until("the poll of another is parked", func() bool { return h.Hub.Counts().ParkedPolls == before+1 })
	b.works("quiet")
	b.works("other")
	if _, there := b.response("quiet", quiet); there {
		t.Error("the poll was not allowed to wait")
	}
}

// TestFullRelay: requests without room wait in the spool and are answered when
// there is room; the log tells of it once.
func TestFullRelay(t *testing.T) {
	release := make(chan struct{})
	answer := sync.OnceFunc(func() { close(release) })
	b := newBench(t, standIn(t, func(w http.ResponseWriter, _ *http.Request) {
		<-release
		success(w)
	}))
	defer answer()
	f := b.made(nil)
	f.most.calls = 2*maxCalls - 3
	b.run(f)
	agents := []string{"dev-a", "dev-b", "dev-c"}
	asked := map[relay.RequestID]string{}
	for i := range 3 * maxCalls {
		agent := agents[i%3]
		asked[b.ask(hub.AgentID(agent), "POST", "/v1/messages", `{}`)] = agent
	}
	underWay := func() (n int) {
		for _, agent := range agents {
			n += strings.Count(strings.Join(b.names(relay.RequestsDir, agent), " "), relay.WorkSuffix)
		}
		return n
	}
	b.until("all places are taken", func() bool { return underWay() == f.most.calls && strings.Contains(b.log.String(), troubleFull) })
	if n := underWay(); n != f.most.calls {
		t.Errorf("%d calls are under way, want %d", n, f.most.calls)
	}
	answer()
	for id, agent := range asked {
		if r, _ := b.answer(agent, id); r.Status != 201 {
			t.Errorf("%+v", r)
		}
	}
	f.relax()
	f.relax()
	if n := strings.Count(b.log.String(), troubleFull); n != 2 || !strings.Contains(b.log.String(), "over: "+troubleFull) {
		t.Errorf("the log tells %d times of it:\n%s", n, b.log)
	}
}
