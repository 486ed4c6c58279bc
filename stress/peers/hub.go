package peers

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"time"

	"hubcli/stress/target"
	"hubcli/stress/wire"
)

// speaker is a server that speaks the protocol of a hub.
type speaker struct {
	name, lacks string
	addr        string
	last        atomic.Int64 // id of the last message
}

func (s *speaker) describe() (name, lacks string) { return s.name, s.lacks }

// elsewhere is one that runs already, at an address.
type elsewhere struct{ speaker }

func (e *elsewhere) start(ctx context.Context, _ string) error {
	c, err := wire.Dial(ctx, e.addr)
	if err != nil {
		return err
	}
	return c.Close()
}

func (e *elsewhere) kill() {} // it is not the run's

// hub is a hub, or another program with its options, that the run starts.
type hub struct {
	speaker
	exe     target.Executable
	process *target.Process
}

func (h *hub) start(ctx context.Context, dir string) (err error) {
	if h.process, err = h.exe.Start(ctx, filepath.Join(dir, "store")); err == nil {
		h.addr = h.process.Addr
	}
	return err
}

func (h *hub) kill() {
	if h.process != nil {
		h.process.Kill()
	}
}

func (h *hub) anonymous() (int64, error) { return h.process.Anonymous() }

// messages reads all of them: the number of an id says nothing about those before it.
func (h *hub) messages(ctx context.Context) (n int64, err error) {
	c, err := wire.Dial(ctx, h.addr)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	for since := int64(0); ; {
		page, err := h.call(c, wire.Get(h.addr, fmt.Sprintf("/v1/messages?channel=general&limit=1000&since_id=%d", since)))
		if err != nil {
			return 0, err
		}
		rows, last, err := rowsOf(page)
		if err != nil || rows == 0 {
			return n, err
		}
		n, since = n+int64(rows), last
	}
}

// floor is the ceiling of the bench: what any server of this protocol costs that stores
// nothing.
type floor struct {
	speaker
	process *target.Process
}

func (f *floor) start(ctx context.Context, _ string) (err error) {
	if f.process, err = target.Ceiling(ctx, "ceiling"); err == nil {
		f.addr = f.process.Addr
	}
	return err
}

func (f *floor) kill() {
	if f.process != nil {
		f.process.Kill()
	}
}

func (f *floor) anonymous() (int64, error) { return f.process.Anonymous() }

func (s *speaker) agent(ctx context.Context, i int) (agent, error) {
	name := fmt.Sprint("agent-", i)
	a := &hubAgent{speaker: s, name: name}
	for _, r := range []struct {
		into **wire.Request
		path string
		body map[string]any
	}{
		{&a.posting, "/v1/messages", map[string]any{"from_agent": name, "channel": "general", "body": body}},
		{&a.claim, "/v1/claims", map[string]any{"owner_agent_id": name, "claim_key": "own-" + name, "ttl_sec": 300}},
		{&a.release, "/v1/claims/release", map[string]any{"agent_id": name, "claim_key": "own-" + name}},
	} {
		var err error
		if *r.into, err = wire.Post(s.addr, r.path, r.body); err != nil {
			return nil, err
		}
	}
	var err error
	a.Conn, err = wire.Dial(ctx, s.addr)
	return a, err
}

type hubAgent struct {
	*wire.Conn
	speaker                 *speaker
	name                    string
	posting, claim, release *wire.Request
}

func (s *speaker) call(c *wire.Conn, r *wire.Request) ([]byte, error) {
	status, answer, err := c.Within(callWait, r.Bytes())
	if err == nil && status/100 != 2 {
		err = fmt.Errorf("%s answered %d %.300s", s.name, status, answer)
	}
	return answer, err
}

func (a *hubAgent) post() error {
	answer, err := a.speaker.call(a.Conn, a.posting)
	if err != nil {
		return err
	}
	id, ok := wire.Int(answer, "id")
	if !ok {
		return fmt.Errorf("a post without an id: %.300s", answer)
	}
	a.speaker.last.Store(id)
	return nil
}

func (a *hubAgent) pair() error {
	if _, err := a.speaker.call(a.Conn, a.claim); err != nil {
		return err
	}
	_, err := a.speaker.call(a.Conn, a.release)
	return err
}

func (a *hubAgent) park() error {
	if err := a.SetDeadline(time.Now().Add(callWait)); err != nil {
		return err
	}
	path := fmt.Sprintf("/v1/events?agent_id=%s&channel=general&timeout=%d&since_id=%d", a.name, parkSeconds, a.speaker.last.Load())
	return a.Send(wire.Get(a.speaker.addr, path).Bytes())
}

func (a *hubAgent) woken() error {
	status, answer, err := a.Receive()
	if err != nil {
		return err
	}
	if rows, _, err := rowsOf(answer); err != nil || rows == 0 || status != 200 {
		return errors.Join(fmt.Errorf("a poll ended without a message: %d %.300s", status, answer), err)
	}
	return nil
}
