package actors

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testlog"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is a running hub on a store in memory.
type rig struct {
	*Hub
	t     testing.TB
	store *memStore
	log   *testlog.Buffer
}

var testSecret = bytes.Repeat([]byte{7}, 32)

// start runs a hub on store until the test ends or the rig is stopped.
func start(t testing.TB, store *memStore, change ...func(*Options)) *rig {
	t.Helper()
	r := &rig{t: t, store: store, log: &testlog.Buffer{}}
	o := Options{
		Journal: store, Rows: store, Secret: testSecret,
		Info: hub.Info{InstanceID: "test"}, Logger: slog.New(slog.NewTextHandler(r.log, nil)),
	}
	for _, c := range change {
		c(&o)
	}
	h, err := Start(o)
	if err != nil {
		t.Fatalf("Start: %v", err)
	}
	r.Hub = h
	t.Cleanup(func() {
		if r.Hub != nil {
			_ = r.stopQuietly()
		}
	})
	return r
}

// stop ends the hub and fails the test if it does not end well.
func (r *rig) stop() {
	r.t.Helper()
	if err := r.stopQuietly(); err != nil {
		r.t.Errorf("Stop: %v", err)
	}
}

func (r *rig) stopQuietly() error {
	ctx, cancel := context.WithTimeout(context.Background(), 45*time.Second)
	defer cancel()
	return r.Hub.Stop(ctx)
}

// crash ends the hub and returns what a loss of power before that would have
// left.
func (r *rig) crash() *memStore {
	left := r.store.restarted()
	_ = r.stopQuietly()
	return left
}

// asSession is a context whose caller has proved a session.
func asSession(ctx context.Context, s hub.Session) context.Context {
	return hub.WithCaller(ctx, &hub.Caller{Agent: s.AgentID, Session: s.SessionID.Public(), Incarnation: s.Incarnation})
}

// withKey is a context whose caller sends an idempotency key.
func withKey(ctx context.Context, key, body string) context.Context {
	c := *hub.CallerOf(ctx)
	c.Idempotency = &hub.IdempotencyKey{Method: "POST", Path: "/v1/x", Key: key, Hash: sha256.Sum256([]byte(body))}
	return hub.WithCaller(ctx, &c)
}

func asOperator(ctx context.Context) context.Context {
	return hub.WithCaller(ctx, &hub.Caller{Operator: true})
}

func (r *rig) register(agent hub.AgentID) hub.Registered {
	r.t.Helper()
	out, err := r.Register(context.Background(), hub.RegisterInput{AgentID: agent})
	if err != nil {
		r.t.Fatalf("register %s: %v", agent, err)
	}
	return out.Row
}

func (r *rig) channel(name hub.ChannelName) {
	r.t.Helper()
	if _, err := r.CreateChannel(context.Background(), hub.ChannelInput{Name: name, CreatedBy: "ann"}); err != nil {
		r.t.Fatalf("create %s: %v", name, err)
	}
}

// say posts a public message and returns its row.
func (r *rig) say(from hub.AgentID, channel hub.ChannelName, body string) hub.Message {
	r.t.Helper()
	return r.post(hub.PostInput{FromAgent: from, Channel: channel, Body: body})
}

func (r *rig) post(in hub.PostInput) hub.Message {
	r.t.Helper()
	row, err := r.tryPost(context.Background(), in)
	if err != nil {
		r.t.Fatalf("post %+v: %v", in, err)
	}
	return row
}

// tryPost posts with the defaults that the edge fills in.
func (r *rig) tryPost(ctx context.Context, in hub.PostInput) (hub.Message, error) {
	if in.Kind == "" {
		in.Kind = hub.KindChat
	}
	if in.Channel == "" {
		in.Channel = hub.DefaultChannel
		if in.ToAgent != "" {
			in.Channel = hub.DirectChannel
		}
	}
	out, err := r.Post(ctx, in)
	if err != nil {
		return hub.Message{}, err
	}
	return out.Row.Decode()
}

func (r *rig) claim(agent hub.AgentID, key hub.ClaimKey, ttl int) hub.Grant[hub.Claim] {
	r.t.Helper()
	g, err := r.Claim(context.Background(), hub.ClaimInput{OwnerAgentID: agent, ClaimKey: key, TTLSec: ttl})
	if err != nil {
		r.t.Fatalf("claim %s by %s: %v", key, agent, err)
	}
	return g
}

func (r *rig) release(agent hub.AgentID, key hub.ClaimKey) {
	r.t.Helper()
	if _, err := r.ReleaseClaim(context.Background(), hub.ClaimHoldInput{AgentID: agent, ClaimKey: key}); err != nil {
		r.t.Fatalf("release %s by %s: %v", key, agent, err)
	}
}

// holder returns who holds a claim as the view shows it, or "".
func (r *rig) holder(key hub.ClaimKey) hub.AgentID {
	r.t.Helper()
	claims, _, err := r.Claims(context.Background(), hub.LeasesQuery{ActiveOnly: true, Limit: 1000})
	if err != nil {
		r.t.Fatalf("claims: %v", err)
	}
	for _, c := range claims {
		if c.ClaimKey == key {
			return c.OwnerAgentID
		}
	}
	return ""
}

// public returns every public message as an agent that is nobody's recipient
// reads it.
func (r *rig) public() []hub.Message {
	r.t.Helper()
	var all []hub.Message
	since := hub.MessageID(0)
	for {
		p, err := r.Events(context.Background(), hub.EventsQuery{Agent: "reader-of-all", Since: since, Limit: 1000})
		if err != nil {
			r.t.Fatalf("events: %v", err)
		}
		all = append(all, decodeAll(r.t, p.Rows)...)
		if p.NextSinceID == since {
			return all
		}
		since = p.NextSinceID
	}
}

func decodeAll(t testing.TB, rows []hub.EncodedMessage) []hub.Message {
	t.Helper()
	out := make([]hub.Message, len(rows))
	for i, row := range rows {
		var err error
		if out[i], err = row.Decode(); err != nil {
			t.Fatalf("row %s: %v", row, err)
		}
	}
	return out
}

func codeOf(err error) hub.Code {
	var e *hub.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

func wantCode(t testing.TB, err error, code hub.Code) {
	t.Helper()
	if codeOf(err) != code {
		t.Fatalf("error %v (%s), want %s", err, codeOf(err), code)
	}
}

// idle waits until no command is under way, which is soon: a call's answer may
// leave just before its permit is counted.
func (r *rig) idle() {
	r.t.Helper()
	for range 10_000 {
		if r.underway() == 0 {
			return
		}
		time.Sleep(time.Millisecond)
	}
	r.t.Fatalf("%d commands are still under way", r.underway())
}

func (r *rig) underway() int64 {
	commands, _, _ := r.engine.Underway()
	return commands
}

// async runs call and gives what it answered.
func async[T any](call func() (T, error)) <-chan result[T] {
	c := make(chan result[T], 1)
	go func() {
		v, err := call()
		c <- result[T]{v, err}
	}()
	return c
}

type result[T any] struct {
	v   T
	err error
}

// within waits for an answer that must come.
func within[T any](t testing.TB, c <-chan result[T]) result[T] {
	t.Helper()
	select {
	case r := <-c:
		return r
	case <-time.After(45 * time.Second):
		t.Fatal("no answer")
		panic("unreachable")
	}
}

// mostOwners is how many owners stay in memory at most: 64 idle ones in each of 16
// shards, and the permanent ones.
var mostOwners = 16*64 + len(core.LeaseOwners()) + 2

// admit takes a permit for a command to an owner and does not send the command.
func (r *rig) admit(k core.Owner) *engine.Pending[core.Machine, struct{}, struct{}] {
	r.t.Helper()
	p, _, err := engine.Admit(r.t.Context(), r.engine, engine.Command[core.Machine, struct{}, struct{}]{Owner: k})
	require.NoError(r.t, err)
	return p
}

// ownerOf returns a live owner, or nil.
func (r *rig) ownerOf(k core.Owner) *engine.Owner {
	o, _ := r.engine.Find(k)
	return o
}

func names[T ~string](prefix string, n int) []T {
	out := make([]T, n)
	for i := range out {
		out[i] = T(fmt.Sprintf("%s%d", prefix, i))
	}
	return out
}
