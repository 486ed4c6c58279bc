package disks

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"hubcli/internal/pause"
	"hubcli/stress/wire"
)

// The agents of a step.
const (
	posters   = 8
	readers   = 2
	parkedFor = 1 * time.Second
)

// lost is the code of a post that had no answer.
const lost = "no answer"

// full and failed are the codes of posts that a disk prevents.
const (
	full   = "storage_full"
	failed = "store_failed"
)

type digest [sha256.Size]byte

// load is agents that post, read and wait all the time, and what they were told.
type load struct {
	number atomic.Int64 // of the last post

	mu       sync.Mutex
	kept     map[int64]digest // acknowledged posts by their ids
	refused  map[digest]bool  // posts that were answered 507
	answers  map[string]int   // posts by code since forget; "" were acknowledged
	reads    int
	slowRead time.Duration   // the longest read since forget, parked polls without their wait
	slowPost time.Duration   // the longest post since forget
	allowed  map[string]bool // codes that posts may be answered with
	ending   bool            // the hub may end: reads may fail
	wrong    error           // the first answer that must not be
}

func newLoad() *load {
	return &load{kept: map[int64]digest{}, refused: map[digest]bool{}, answers: map[string]int{}, allowed: map[string]bool{"": true, full: true}}
}

// allow says what else posts may be answered with, on a disk that ends the hub.
func (l *load) allow(codes ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ending = true
	for _, c := range codes {
		l.allowed[c] = true
	}
}

// forget begins to count anew.
func (l *load) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.answers)
	l.slowRead, l.slowPost = 0, 0
}

func (l *load) count(codes ...string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range codes {
		n += l.answers[c]
	}
	return n
}

func (l *load) slowest() (read, post time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.slowRead, l.slowPost
}

func (l *load) broken() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.wrong
}

func (l *load) breaks(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.wrong == nil {
		l.wrong = fmt.Errorf(format, args...)
	}
}

func (l *load) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	counts := maps.Clone(l.answers)
	counts["acknowledged"] = counts[""]
	delete(counts, "")
	return fmt.Sprint(counts)
}

// start lets agents call the hub at addr until stop is called.
func (l *load) start(ctx context.Context, addr string) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var agents sync.WaitGroup
	for i := range posters {
		agents.Go(func() { l.agent(ctx, addr, func(c *wire.Conn) error { return l.post(ctx, c, addr, i) }) })
	}
	for range readers {
		agents.Go(func() { l.agent(ctx, addr, func(c *wire.Conn) error { return l.read(ctx, c, addr) }) })
	}
	agents.Go(func() { l.agent(ctx, addr, func(c *wire.Conn) error { return l.park(ctx, c, addr) }) })
	return sync.OnceFunc(func() {
		cancel()
		agents.Wait()
	})
}

// agent calls the hub over connections of its own until ctx ends. The hub may be gone;
// then it waits a little before it connects again.
func (l *load) agent(ctx context.Context, addr string, call func(*wire.Conn) error) {
	for ctx.Err() == nil {
		c, err := wire.Dial(ctx, addr)
		if err != nil {
			if !l.mayEnd() && ctx.Err() == nil {
				l.breaks("no connection to the hub: %w", err)
			}
			pause.For(ctx, 10*time.Millisecond)
			continue
		}
		cut := context.AfterFunc(ctx, func() { c.Close() })
		for ctx.Err() == nil {
			if call(c) != nil {
				break
			}
		}
		cut()
		c.Close()
	}
}

func (l *load) mayEnd() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ending
}

// body is the text of a post. Some go to the log of values, some do not.
func body(n int64) string {
	return fmt.Sprint("post ", n, strings.Repeat(" x", []int{100, 3_000, 40_000}[n%3]))
}

// post posts a body that no other post has.
func (l *load) post(ctx context.Context, c *wire.Conn, addr string, agent int) error {
	text := body(l.number.Add(1))
	request, err := wire.Post(addr, "/v1/messages", map[string]any{"from_agent": fmt.Sprint("agent-", agent), "channel": "general", "body": text})
	if err != nil {
		return err
	}
	began := time.Now()
	status, code, answer, err := exchange(c, request)
	took := time.Since(began)
	if ctx.Err() != nil {
		return ctx.Err() // it was cut off
	}
	if err != nil {
		code = lost
	}
	l.mu.Lock()
	l.answers[code]++
	l.slowPost = max(l.slowPost, took)
	fine := l.allowed[code]
	id, ok := wire.Int(answer, "id")
	switch {
	case err != nil:
	case code == "" && ok && status/100 == 2:
		l.kept[id] = sha256.Sum256([]byte(text))
	case code == full:
		l.refused[sha256.Sum256([]byte(text))] = true
	}
	l.mu.Unlock()
	if !fine {
		l.breaks("a post was answered %d %s %.300s %w", status, code, answer, err)
	}
	return err
}

// read reads the end of the history and an old message. On a full disk both go on.
func (l *load) read(ctx context.Context, c *wire.Conn, addr string) error {
	paths := []string{"/v1/messages?channel=general&limit=3&tail=1", "/healthz", "/v1/agents?limit=5"}
	if id, ok := l.anyKept(); ok {
		paths = append(paths, fmt.Sprint("/v1/messages/", id))
	}
	for _, path := range paths {
		if err := l.get(ctx, c, addr, path, 0); err != nil {
			return err
		}
	}
	pause.For(ctx, 2*time.Millisecond) // the machine belongs to the posts
	return nil
}

// park waits for messages to an agent that nobody writes to.
func (l *load) park(ctx context.Context, c *wire.Conn, addr string) error {
	return l.get(ctx, c, addr, fmt.Sprintf("/v1/inbox/parked?agent_id=parked&timeout=%d", parkedFor/time.Second), parkedFor)
}

// get makes a read that must be answered, and lasts wait besides.
func (l *load) get(ctx context.Context, c *wire.Conn, addr, path string, wait time.Duration) error {
	began := time.Now()
	status, _, answer, err := exchange(c, wire.Get(addr, path))
	took := time.Since(began) - wait
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if (err != nil || status != 200) && !l.mayEnd() {
		l.breaks("GET %s was answered %d %.300s %w", path, status, answer, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil && status == 200 {
		l.reads++
		l.slowRead = max(l.slowRead, took)
	}
	return err
}

func (l *load) anyKept() (int64, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id := range l.kept {
		return id, true
	}
	return 0, false
}

// verify reads the whole history and compares it with what was answered.
func (l *load) verify(ctx context.Context, addr string) error {
	c, err := wire.Dial(ctx, addr)
	if err != nil {
		return err
	}
	defer c.Close()
	there, since := map[int64]digest{}, int64(0)
	for {
		status, _, answer, err := exchange(c, wire.Get(addr, fmt.Sprintf("/v1/messages?channel=general&limit=200&since_id=%d", since)))
		if err != nil {
			return err
		}
		var page struct {
			Result []struct {
				ID   int64  `json:"id"`
				Body string `json:"body"`
			} `json:"result"`
		}
		if err := json.Unmarshal(answer, &page); err != nil || status != 200 {
			return fmt.Errorf("the history cannot be read: %d %.300s %w", status, answer, err)
		}
		if len(page.Result) == 0 {
			break
		}
		for _, row := range page.Result {
			if row.ID <= since {
				return fmt.Errorf("message %d comes after %d", row.ID, since)
			}
			since = row.ID
			there[row.ID] = sha256.Sum256([]byte(row.Body))
		}
	}
	return l.compare(there)
}

func (l *load) compare(there map[int64]digest) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, want := range l.kept {
		if got, ok := there[id]; !ok || got != want {
			return fmt.Errorf("the acknowledged message %d of %d is not there or is another (there are %d)", id, len(l.kept), len(there))
		}
	}
	for id, d := range there {
		if l.refused[d] {
			return fmt.Errorf("message %d is there, but its post was answered 507", id)
		}
	}
	return nil
}

// exchange makes one call. code is empty if the answer says ok.
func exchange(c *wire.Conn, request *wire.Request) (status int, code string, body []byte, err error) {
	status, body, err = c.Within(callWait, request.Bytes())
	if err != nil {
		return status, "", nil, err
	}
	if status/100 == 2 {
		return status, "", body, nil
	}
	var answer struct {
		Code string `json:"code"`
	}
	if err := json.Unmarshal(bytes.TrimSpace(body), &answer); err != nil || answer.Code == "" {
		return status, "", body, errors.Join(wire.ErrAnswer, err)
	}
	return status, answer.Code, body, nil
}
