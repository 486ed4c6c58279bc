package forwarder

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hubcli/api"
	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
	"hubcli/relay"
)

// TestParkedPollsDelayNobody: an agent can post although all its other calls
// wait, and so can the others. Calls that find no waiting place are answered in
// turn.
func TestParkedPollsDelayNobody(t *testing.T) {
	h := testhub.Start(t)
	b := newBench(t, h.URL)
	b.forward(nil)
	var polls []relay.RequestID
	for range 3 * maxParked {
		polls = append(polls, b.ask("dev-a", "GET", "/v1/events?agent_id=dev-a&timeout=60&exclude_self=1", ""))
	}
	b.until("polls are parked", func() bool { return h.Hub.Counts().ParkedPolls == maxParked })
	b.works("dev-a") // its polls do not ask for its own posts
	if n := h.Hub.Counts().ParkedPolls; n != maxParked {
		t.Errorf("%d polls are parked, want %d", n, maxParked)
	}
	b.works("dev-b")
	for n, id := range polls {
		r, e := b.answer("dev-a", id)
		if r.Status != 200 || !strings.Contains(string(e.Result), "still here") {
			t.Errorf("poll %d: %d %s", n, r.Status, r.Body)
		}
	}
	empty := b.ask("dev-a", "GET", "/v1/events?agent_id=dev-a&timeout=60&since_id=1&channel=direct", "")
	b.until("a poll is parked", func() bool { return h.Hub.Counts().ParkedPolls == 1 })
	for range 20 {
		b.works("dev-a") // its posts are not in the polled channel
	}
	if _, there := b.response("dev-a", empty); there {
		t.Error("the poll was answered by what it did not ask for")
	}
}

// TestTooManyPolls: the number of waiting calls of an agent is bounded.
func TestTooManyPolls(t *testing.T) {
	b := start(t, nil)
	var polls []relay.RequestID
	for range maxParked + maxWaiting + 1 {
		polls = append(polls, b.ask("dev-a", "GET", "/v1/events?agent_id=dev-a&timeout=60&exclude_self=1", ""))
	}
	refused := func() (n int) {
		for _, id := range polls {
			if r, there := b.response("dev-a", id); there && r.Status == 429 && strings.Contains(string(r.Body), `"too_many_polls"`) {
				n++
			}
		}
		return n
	}
	b.until("one is refused", func() bool { return refused() == 1 })
	b.works("dev-a")
	b.works("dev-b")
	if n := refused(); n != 1 {
		t.Errorf("%d polls were refused, want 1", n)
	}
}

// TestCrowdedFolder: ten thousand requests of one agent do not delay another
// agent.
func TestCrowdedFolder(t *testing.T) {
	b := newBench(t, testhub.Start(t).URL)
	for i := range 10_000 {
		name := fmt.Sprintf("r%05d", i)
		b.put("crowd", name+relay.DoneSuffix, fmt.Appendf(nil, `{"request_id":%q,"agent_id":"crowd","method":"GET","path":"/v1/hub-info","body":null}`, name))
	}
	b.forward(nil)
	b.works("dev-a")
	if n := len(b.names(relay.RequestsDir, "crowd")); n < 5000 {
		t.Errorf("only %d of the 10000 requests were left when the other agent was served", n)
	}
	b.until("they are being answered", func() bool { return len(b.names(relay.ResponsesDir, "crowd")) > 500 })
}

// TestChangeInTheSameTick: with a coarse clock, a file that comes right after a
// reading does not alter the folder's change time. The folder is read again all
// the same.
func TestChangeInTheSameTick(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	require.NoError(t, err)
	defer root.Close()
	changed := time.Now().Truncate(time.Second)
	require.NoError(t, errors.Join(root.Mkdir("a", 0o700), root.Chtimes("a", changed, changed)))
	d := newFolder("a")
	for i, look := range []struct {
		after time.Duration
		read  bool
	}{
		{time.Millisecond, true},
		{250 * time.Millisecond, true}, // a file may have come since
		{500 * time.Millisecond, false},
		{fullInterval + 500*time.Millisecond, true},
	} {
		d.begin(root, changed.Add(look.after))
		if d.unread != look.read {
			t.Errorf("look %d, %s after the change: reads %v, want %v", i, look.after, d.unread, look.read)
		}
		d.stop()
	}
}

// TestConversationWithoutNotification: without notification, a client that
// makes one call after the other waits for the next look once, not at each
// call.
func TestConversationWithoutNotification(t *testing.T) {
	const look = time.Second
	b := start(t, func(c *Config) { c.Notify, c.PollInterval = false, look })
	b.works("a") // makes the folder; the next look finds it
	b.works("a") // comes unannounced
	begin := time.Now()
	const calls = 40
	for range calls {
		b.works("a")
	}
	if took := time.Since(begin); took > look*calls/2 {
		t.Errorf("%d calls took %s: each waited for a look", calls, took)
	}
}

// TestSlowRequestsDelayNobody: a hub that answers one agent slowly answers the
// others.
func TestSlowRequestsDelayNobody(t *testing.T) {
	release := make(chan struct{})
	b := newBench(t, standIn(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get(api.HeaderRelay) == "slow" {
			<-release
		}
		success(w)
	}))
	b.forward(nil)
	defer close(release)
	for i := range 3 * maxCalls {
		body := `{"from_agent":"slow","body":"x"}`
		if i%2 == 0 { // half of them share the budget of large requests
			body = `{"from_agent":"slow","body":"` + strings.Repeat("x", smallRequest) + `"}`
		}
		b.ask("slow", "POST", "/v1/messages", body)
	}
	b.until("all its places are taken", func() bool {
		return strings.Count(strings.Join(b.names(relay.RequestsDir, "slow"), " "), relay.WorkSuffix) == maxCalls
	})
	b.works("dev-b")
	b.wants(201, "", "dev-b", "POST", "/v1/messages", `{"from_agent":"dev-b","body":"`+strings.Repeat("x", 2*smallRequest)+`"}`)
}

// TestOldRequestsAreNotSent: the hub may have forgotten their idempotency keys.
func TestOldRequestsAreNotSent(t *testing.T) {
	b := newBench(t, testhub.Start(t).URL)
	ages := map[relay.RequestID]time.Duration{}
	for i, age := range []time.Duration{2 * time.Hour, 61 * time.Minute, 50 * time.Minute, -24 * time.Hour} {
		suffix := []string{relay.DoneSuffix, relay.WorkSuffix}[i%2]
		id := relay.NewRequestID()
		ages[id] = age
		b.put("dev-a", string(id)+suffix, fmt.Appendf(nil,
			`{"request_id":%q,"agent_id":"dev-a","method":"POST","path":"/v1/messages","body":{"from_agent":"dev-a","body":"x"},"created_at":"2001-01-01T00:00:00Z"}`, id))
		then := time.Now().Add(-age)
		require.NoError(t, os.Chtimes(b.path(relay.RequestsDir, "dev-a", string(id)+suffix), then, then))
	}
	b.forward(nil)
	for id, age := range ages {
		r, e := b.answer("dev-a", id)
		switch {
		case age <= maxRequestAge && r.Status != 201:
			t.Errorf("a request %s old: %+v", age, e)
		case age > maxRequestAge && (r.Status != relay.StatusNoAnswer || e.Code != hub.CodeRelayTimeout || e.Detail["outcome"] != "unknown"):
			t.Errorf("a request %s old: %d %+v", age, r.Status, e)
		}
	}
	if n := len(b.bodies()); n != 2 {
		t.Errorf("%d messages, want 2", n)
	}
}

// TestStopLeavesWhatWaits: a forwarder that stops ends at once and leaves a
// call that waits in the hub to the next forwarder.
func TestStopLeavesWhatWaits(t *testing.T) {
	h := testhub.Start(t)
	b := newBench(t, h.URL)
	stop := b.forward(nil)
	id := b.ask("dev-a", "GET", "/v1/events?agent_id=dev-a&timeout=60", "")
	b.until("the poll is parked", func() bool { return h.Hub.Counts().ParkedPolls == 1 })
	stop()
	if _, there := b.response("dev-a", id); there {
		t.Error("the poll was answered")
	}
	if got := b.names(relay.RequestsDir, "dev-a"); len(got) != 1 || got[0] != string(id)+relay.WorkSuffix {
		t.Errorf("the request is not kept: %q", got)
	}
	b.forward(nil)
	b.works("dev-b")
	if r, e := b.answer("dev-a", id); r.Status != 200 || !strings.Contains(string(e.Result), "still here") {
		t.Errorf("%+v", r)
	}
}

// TestSameRequestAgain: a request that is written while the same one is under way
// is answered after it, and both answers are the same.
func TestSameRequestAgain(t *testing.T) {
	var calls atomic.Int64
	entered, release := make(chan struct{}, 2), make(chan struct{})
	b := newBench(t, standIn(t, func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		entered <- struct{}{}
		<-release
		success(w)
	}))
	b.forward(nil)
	id := b.ask("dev-a", "POST", "/v1/messages", `{}`)
	<-entered
	b.askAs(id, "dev-a", "POST", "/v1/messages", `{}`)
	b.works2("dev-b", release)
	b.answer("dev-a", id)
	b.until("both are done", func() bool { return len(b.names(relay.RequestsDir, "dev-a")) == 0 })
	if n := calls.Load(); n != 3 {
		t.Errorf("%d calls, want 3", n)
	}
}

// works2 proves that another agent is served, then releases all calls.
func (b *bench) works2(agent hub.AgentID, release chan struct{}) {
	b.Helper()
	id := b.ask(agent, "POST", "/v1/messages", `{}`)
	b.until("the other agent's call is under way", func() bool {
		return strings.Contains(strings.Join(b.names(relay.RequestsDir, relay.Folder(agent)), " "), string(id)+relay.WorkSuffix)
	})
	close(release)
	b.answer(relay.Folder(agent), id)
}

// TestSpoolComesAndGoes: without Create no spool is made. A spool is served
// when it appears, and again after it was replaced.
func TestSpoolComesAndGoes(t *testing.T) {
	b := newBench(t, testhub.Start(t).URL)
	require.NoError(t, os.RemoveAll(b.dir))
	b.forwardUnready(nil)
	if _, err := os.Stat(b.dir); err == nil {
		t.Error("the spool was made")
	}
	for range 3 {
		b.works("dev-a")
		require.NoError(t, os.Rename(b.dir, b.dir+string(relay.NewRequestID())))
	}
	if strings.Contains(b.log.String(), "level=WARN") {
		t.Errorf("the log complains:\n%s", b.log)
	}
}

// TestLockedRequestsCostLittle: requests that another process keeps locked are
// opened seldom and delay no other request.
func TestLockedRequestsCostLittle(t *testing.T) {
	var looks atomic.Int64
	b := newBench(t, testhub.Start(t).URL)
	for i := range 2000 {
		name := fmt.Sprintf("r%05d", i)
		b.put("held-by-writer", name+relay.DoneSuffix, []byte("{}"))
	}
	f, err := New(Config{Dir: b.dir, BaseURL: b.url, PollInterval: MinPollInterval})
	require.NoError(t, err)
	f.lock = func(file *os.File) (bool, error) {
		if strings.Contains(file.Name(), "held-by-writer") {
			looks.Add(1)
			return false, nil
		}
		return tryLock(file)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		f.Run(ctx)
	}()
	begin := time.Now()
	b.until("all were looked at", func() bool { return looks.Load() >= 2000 })
	for range 50 {
		b.works("dev-a")
	}
	most := 2000 * (2 + int64(time.Since(begin)/backOffMax)) // on a slow machine the pause ends meanwhile
	if n := looks.Load(); n > most {
		t.Errorf("2000 locked requests were opened %d times, and %d would do", n, most)
	}
	cancel()
	<-done
}

// TestLargeRequestsDelayNobody: a call that waits in the hub, or for a place
// there, holds none of the memory for large requests.
func TestLargeRequestsDelayNobody(t *testing.T) {
	h := testhub.Start(t)
	b := newBench(t, h.URL)
	b.forward(nil)
	padding := strings.Repeat(" ", 30<<20)
	for _, agent := range []hub.AgentID{"big-1", "big-2", "big-3"} {
		id := relay.NewRequestID()
		b.put(relay.Folder(agent), string(id)+relay.DoneSuffix, fmt.Appendf(nil,
			`{"request_id":%q,%s"agent_id":%q,"method":"GET","path":"/v1/events?agent_id=%s&timeout=60","body":{}}`, id, padding, agent, agent))
	}
	b.until("the large polls are parked", func() bool { return h.Hub.Counts().ParkedPolls == 3 })
	b.wants(201, "", "dev-b", "POST", "/v1/messages", `{"from_agent":"dev-b","to_agent":"dev-c","body":"x","metadata":{}`+strings.Repeat(" ", 2*smallRequest)+`}`)
	e := b.wants(201, "", "dev-b", "POST", "/v1/claims", `{"owner_agent_id":"dev-b","claim_key":"k"}`)
	if e.Acquired == nil || !*e.Acquired {
		t.Fatal("the claim is not held")
	}
	b.wants(200, "", "dev-c", "POST", "/v1/claims", `{"owner_agent_id":"dev-c","claim_key":"k","wait_sec":60,"x":"`+strings.Repeat("x", 2*smallRequest)+`"}`)
}
