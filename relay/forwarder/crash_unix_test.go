//go:build unix

package forwarder

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
	"hubcli/relay"
)

// stepSent is a step that only tests use: the hub has done the call, and the
// forwarder has not received the answer.
const stepSent Step = "sent"

// Variables that make the test binary a forwarder that kills itself.
const (
	envSpool = "RELAY_TEST_SPOOL"
	envHub   = "RELAY_TEST_HUB"
	envStep  = "RELAY_TEST_STEP"
	envCount = "RELAY_TEST_COUNT" // the process dies when it has reached the step this many times
)

// crashingForwarder runs a forwarder that kills itself, and does not return, if
// the environment asks for one.
func crashingForwarder() {
	dir := os.Getenv(envSpool)
	if dir == "" {
		return
	}
	count, err := strconv.ParseInt(os.Getenv(envCount), 10, 64)
	if err != nil {
		panic(err)
	}
	at := Step(os.Getenv(envStep))
	var times atomic.Int64
	step := func(s Step) {
		if s == at && times.Add(1) == count {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {} // do nothing until the signal arrives
		}
	}
	f, err := New(Config{
		Dir: dir, BaseURL: os.Getenv(envHub), PollInterval: 10 * time.Millisecond, Notify: true,
		Step: step, Transport: lateTransport{own: ownTransport(os.Getenv(envHub), ""), sent: func() { step(stepSent) }},
	})
	if err != nil {
		panic(err)
	}
	f.Run(context.Background())
}

// lateTransport makes a call, then calls sent, then returns the answer.
type lateTransport struct {
	own  http.RoundTripper
	sent func()
}

func (d lateTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := d.own.RoundTrip(r)
	if err == nil {
		d.sent()
	}
	return res, err
}

// process starts a process that is a forwarder and kills itself at a step.
func (b *bench) process(at Step, count int) *exec.Cmd {
	b.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), envSpool+"="+b.dir, envHub+"="+b.url, envStep+"="+string(at), envCount+"="+strconv.Itoa(count))
	require.NoError(b, cmd.Start())
	b.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd
}

// wasKilled waits until the process has killed itself.
func (b *bench) wasKilled(cmd *exec.Cmd) {
	b.Helper()
	over := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	err := cmd.Wait()
	if !over.Stop() {
		b.Error("the forwarder did not reach the step")
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		b.Errorf("the forwarder ended with %v", err)
	}
}

// posts writes n requests of three agents and returns their ids by body.
func (b *bench) posts(prefix string, n int) map[string]relay.RequestID {
	b.Helper()
	ids := map[string]relay.RequestID{}
	for i := range n {
		agent := hub.AgentID(fmt.Sprintf("dev-%d", i%3))
		body := fmt.Sprintf("%s %d", prefix, i)
		ids[body] = b.ask(agent, "POST", "/v1/messages", fmt.Sprintf(`{"from_agent":%q,"body":%q}`, agent, body))
	}
	return ids
}

// onceEach proves that every post is in the hub once and was answered as
// posted.
func (b *bench) onceEach(ids map[string]relay.RequestID) {
	b.Helper()
	for body, id := range ids {
		var n int
		if _, err := fmt.Sscanf(body[strings.LastIndex(body, " ")+1:], "%d", &n); err != nil {
			b.Fatal(err)
		}
		r, e := b.answer(fmt.Sprintf("dev-%d", n%3), id)
		if r.Status != 201 || !strings.Contains(string(e.Result), `"`+body+`"`) {
			b.Errorf("%s: %d %s", body, r.Status, r.Body)
		}
	}
	got := b.bodies()
	slices.Sort(got)
	var want []string
	for body := range ids {
		want = append(want, body)
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		b.Errorf("the hub has the messages\n%q, want\n%q", got, want)
	}
	b.until("requests are removed", func() bool {
		return len(b.names(relay.RequestsDir, "dev-0"))+len(b.names(relay.RequestsDir, "dev-1"))+len(b.names(relay.RequestsDir, "dev-2")) == 0
	})
}

// TestKilledAtEveryStep: a forwarder that is killed at any step loses no
// request, and no request takes effect twice.
func TestKilledAtEveryStep(t *testing.T) {
	for _, at := range []Step{StepLocked, StepTaken, StepSending, stepSent, StepAnswered, StepResponded, StepRemoved} {
		t.Run(string(at), func(t *testing.T) {
			b := newBench(t, testhub.Start(t).URL)
			ids := map[string]relay.RequestID{}
			for _, count := range []int{1, 2, 3} {
				// Each process gets its own requests: the calls of the previous
				// one may all have passed the step before it died.
				maps.Copy(ids, b.posts(fmt.Sprint(at, " ", count), 12))
				b.wasKilled(b.process(at, count))
			}
			b.forward(nil)
			b.onceEach(ids)
		})
	}
}

// TestTakenOverAtOnce: a running forwarder takes over the requests of a killed
// one.
func TestTakenOverAtOnce(t *testing.T) {
	b := newBench(t, testhub.Start(t).URL)
	ids := b.posts("held", 12)
	dying := b.process(StepAnswered, 12)
	b.until("requests are under way", func() bool { return len(b.names(relay.RequestsDir, "dev-1")) > 0 })
	b.forward(nil)
	_ = dying.Process.Kill()
	b.onceEach(ids)
}

// TestTwoForwarders: several forwarders serve one spool, and each request is
// sent once.
func TestTwoForwarders(t *testing.T) {
	b := newBench(t, testhub.Start(t).URL)
	var sends atomic.Int64
	counted := func(c *Config) {
		c.Transport = lateTransport{own: ownTransport(b.url, ""), sent: func() { sends.Add(1) }}
	}
	b.forward(counted)
	b.forward(counted)
	ids := b.posts("here", 300)
	b.onceEach(ids)
	if n := sends.Load(); n != 300 {
		t.Errorf("300 requests were sent %d times", n)
	}
	b.process("never", 0)
	for body, id := range b.posts("there", 300) {
		ids[body] = id
	}
	b.onceEach(ids)
}

// TestWithoutLocks: on a file system without locks, the age of a request under
// way decides whether its forwarder has died.
func TestWithoutLocks(t *testing.T) {
	b := newBench(t, testhub.Start(t).URL)
	f, err := New(Config{Dir: b.dir, BaseURL: b.url, RequestTimeout: 10 * time.Second})
	require.NoError(t, err)
	f.lock = func(*os.File) (bool, error) { return false, syscall.ENOLCK }
	if f.look(); f.spool == nil {
		t.Fatal("the spool is not open")
	}
	defer f.close()
	id := b.ask("dev-a", "GET", "/v1/hub-info", "")
	longAgo := time.Now().Add(-time.Minute)
	require.NoError(t, os.Chtimes(b.path(relay.RequestsDir, "dev-a", string(id)+relay.DoneSuffix), longAgo, longAgo))
	take := func(suffix string) error {
		c := &call{dir: newFolder("dev-a"), spool: f.spool, name: string(id) + suffix, id: id}
		held, err := f.take(c)
		if err == nil {
			held.close()
		}
		return err
	}
	if err := take(relay.DoneSuffix); err != nil {
		t.Fatalf("the request is not taken: %v", err)
	}
	if err := take(relay.WorkSuffix); !errors.Is(err, errNotOurs) {
		t.Errorf("a request that has just been taken is taken again: %v", err)
	}
	path := b.path(relay.RequestsDir, "dev-a", string(id)+relay.WorkSuffix)
	for _, c := range []struct {
		age  time.Duration
		want error
	}{{14 * time.Second, errNotOurs}, {-time.Hour, errNotOurs}, {16 * time.Second, nil}} {
		then := time.Now().Add(-c.age)
		require.NoError(t, os.Chtimes(path, then, then))
		if err := take(relay.WorkSuffix); !errors.Is(err, c.want) {
			t.Errorf("%s after it was taken: %v, want %v", c.age, err, c.want)
		}
	}
}
