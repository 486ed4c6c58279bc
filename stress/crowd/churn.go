package crowd

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"hubcli/stress/wire"
)

const (
	churners   = 16    // that begin and end sessions
	churnNames = 1_000 // agents among which the sessions go around
	leftOpen   = 4     // one session in so many is left, until the next one of its agent replaces it
)

// churn is a crowd of sessions that begin, ask for news, and end.
func (o *Options) churn(ctx context.Context, addr string) (leave func() (string, error), err error) {
	before, err := liveSessions(ctx, addr)
	if err != nil {
		return nil, err
	}
	failing, fail := context.WithCancelCause(context.WithoutCancel(ctx))
	var (
		wg    sync.WaitGroup
		begun atomic.Int64
		due   = make(chan int)
		live  sync.Map // names of the agents whose last session was left
	)
	wg.Go(func() { o.beats(ctx, due) })
	for range churners {
		wg.Go(func() {
			c := &caller{addr: addr}
			defer c.close()
			for n := range due {
				if failing.Err() != nil {
					continue
				}
				if err := oneSession(failing, c, n, &live); err != nil {
					fail(err)
				}
				begun.Add(1)
			}
		})
	}
	return func() (string, error) {
		wg.Wait()
		defer fail(nil)
		if err := context.Cause(failing); err != nil {
			return "", err
		}
		left := int64(0)
		live.Range(func(any, any) bool { left++; return true })
		now, err := liveSessions(failing, addr)
		if err != nil {
			return "", err
		}
		if now != before+left {
			return "", fmt.Errorf("%w: %d sessions are live; %d were before, and %d were left", ErrBroken, now, before, left)
		}
		return fmt.Sprintf("%d sessions began; %d of them were left, and as many are live", begun.Load(), left), nil
	}, nil
}

// beats numbers the sessions that are due, until ctx ends. A hub that is too slow gets
// fewer.
func (o *Options) beats(ctx context.Context, due chan<- int) {
	defer close(due)
	tick := time.NewTicker(time.Second / time.Duration(o.Sessions))
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		select {
		case <-ctx.Done():
			return
		case due <- n:
		}
	}
}

// oneSession begins session n and, unless it is one to leave, ends it.
func oneSession(ctx context.Context, c *caller, n int, live *sync.Map) error {
	agent := fmt.Sprintf("churn-%d", n%churnNames)
	register, err := wire.Post(c.addr, "/v1/sessions", map[string]string{"agent_id": agent}, "Idempotency-Key", fmt.Sprint("churn-", n))
	if err != nil {
		return err
	}
	answer, err := c.call(ctx, register, 201)
	if err != nil {
		return fmt.Errorf("session %d begins: %w", n, err)
	}
	id, err := sessionID(answer)
	if err != nil {
		return err
	}
	poll := wire.Get(c.addr, "/v1/events?timeout=0&agent_id="+agent, "X-Hub-Session", id)
	if _, err := c.call(ctx, poll, 200); err != nil {
		return fmt.Errorf("session %d polls: %w", n, err)
	}
	if n%leftOpen == 0 {
		live.Store(agent, true)
		return nil
	}
	live.Delete(agent)
	if _, err := c.call(ctx, wire.Delete(c.addr, "/v1/sessions/"+id), 200); err != nil {
		return fmt.Errorf("session %d ends: %w", n, err)
	}
	return nil
}

func sessionID(answer []byte) (string, error) {
	var registered struct {
		Result struct {
			SessionID string `json:"session_id"`
		} `json:"result"`
	}
	if err := json.Unmarshal(answer, &registered); err != nil || registered.Result.SessionID == "" {
		return "", fmt.Errorf("%w: a session without its id", ErrBroken)
	}
	return registered.Result.SessionID, nil
}

// liveSessions asks how many sessions are live.
func liveSessions(ctx context.Context, addr string) (int64, error) {
	c := &caller{addr: addr}
	defer c.close()
	answer, err := c.call(ctx, wire.Get(addr, "/v1/app/status"), 200)
	if err != nil {
		return 0, err
	}
	n, ok := wire.Int(answer, "sessions")
	if !ok {
		return 0, fmt.Errorf("%w: a status without the number of sessions", ErrBroken)
	}
	return n, nil
}
