package peers

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"hubcli/stress/target"
	"hubcli/stress/wire"
)

// hub is a hub, or another program with the same options that speaks its protocol.
type hub struct {
	name    string
	exe     target.Executable
	process *target.Process
	last    atomic.Int64 // id of the last message
}

func (h *hub) describe() (name, lacks string) { return h.name, "" }

func (h *hub) start(ctx context.Context, dir string) (err error) {
	h.process, err = h.exe.Start(ctx, dir+"/store")
	return err
}

func (h *hub) stop() {
	if h.process != nil {
		h.process.Kill()
	}
}

func (h *hub) agent(ctx context.Context, i int) (agent, error) {
	name, addr := fmt.Sprint("agent-", i), h.process.Addr
	a := &hubAgent{hub: h, name: name}
	var err error
	if a.posting, err = wire.Post(addr, "/v1/messages", map[string]any{"from_agent": name, "channel": "general", "body": body}); err != nil {
		return nil, err
	}
	key := map[string]any{"owner_agent_id": name, "claim_key": "own-" + name, "ttl_sec": 300}
	release := map[string]any{"agent_id": name, "claim_key": "own-" + name}
	if a.claim, err = wire.Post(addr, "/v1/claims", key); err != nil {
		return nil, err
	}
	if a.release, err = wire.Post(addr, "/v1/claims/release", release); err != nil {
		return nil, err
	}
	a.Conn, err = wire.Dial(ctx, addr)
	return a, err
}

type hubAgent struct {
	*wire.Conn
	hub                     *hub
	name                    string
	posting, claim, release *wire.Request
}

func (a *hubAgent) call(r *wire.Request) ([]byte, error) {
	if err := a.SetDeadline(time.Now().Add(callWait)); err != nil {
		return nil, err
	}
	status, answer, err := a.Do(r.Bytes())
	if err == nil && status/100 != 2 {
		err = fmt.Errorf("the hub answered %d %s", status, answer)
	}
	return answer, err
}

func (a *hubAgent) post() error {
	answer, err := a.call(a.posting)
	if err != nil {
		return err
	}
	id, ok := wire.Int(answer, "id")
	if !ok {
		return fmt.Errorf("a post without an id: %s", answer)
	}
	a.hub.last.Store(id)
	return nil
}

func (a *hubAgent) pair() error {
	if _, err := a.call(a.claim); err != nil {
		return err
	}
	_, err := a.call(a.release)
	return err
}

func (a *hubAgent) park() error {
	if err := a.SetDeadline(time.Now().Add(callWait)); err != nil {
		return err
	}
	path := fmt.Sprintf("/v1/events?agent_id=%s&channel=general&timeout=20&since_id=%d", a.name, a.hub.last.Load())
	return a.Send(wire.Get(a.hub.process.Addr, path).Bytes())
}

func (a *hubAgent) woken() error {
	status, answer, err := a.Receive()
	if err == nil && status != 200 {
		err = fmt.Errorf("a poll was answered %d %s", status, answer)
	}
	return err
}
