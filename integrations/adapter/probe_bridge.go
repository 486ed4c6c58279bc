package adapter

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"hubcli/hub"
)

// Limits of trying a bridge.
const (
	bridgeStart = 10 * time.Second       // from its start to its list of tools
	bridgeWake  = 10 * time.Second       // from the canary to its answer
	bridgeEnd   = time.Second            // from the end of its stdin to its own
	parkAfter   = 250 * time.Millisecond // a call sent so long ago is assumed to be parked
)

// canary is a message that should wake the agent of the tested bridge.
type canary struct {
	from, to hub.AgentID
	nonce    string
}

// post sends the message, marked as a test.
func (k canary) post(ctx context.Context, h Hub) error {
	mark, err := json.Marshal(map[string]any{"canary": map[string]string{"of": "adapter-verify", "nonce": k.nonce}})
	if err != nil {
		return err
	}
	// This call must not reuse the idempotency key of the verification.
	ctx = hub.WithCaller(ctx, &hub.Caller{})
	_, err = h.Post(ctx, hub.PostInput{
		FromAgent: k.from, ToAgent: k.to, Kind: hub.KindChat, Metadata: mark,
		Body: "canary " + k.nonce + ": a test of an adapter; nothing is to be done",
	})
	return err
}

// probe is a running installed entry.
type probe struct {
	session *sdk.ClientSession
	cmd     *exec.Cmd
	stderr  *tail
	tools   int
	took    time.Duration // from the start to the list of tools
}

// start runs the entry exactly as installed and asks it for its tools.
func (l launch) start(ctx context.Context, dir string, env []string) (*probe, error) {
	ctx, cancel := context.WithTimeout(ctx, bridgeStart)
	defer cancel()
	p := &probe{cmd: exec.Command(l.command, l.args...), stderr: &tail{}}
	p.cmd.Env, p.cmd.Dir, p.cmd.Stderr = env, dir, p.stderr
	p.cmd.WaitDelay = bridgeEnd
	ownGroup(p.cmd)
	began := time.Now()
	client := sdk.NewClient(&sdk.Implementation{Name: "hubcli-adapter-verify", Version: "1"}, nil)
	session, err := client.Connect(ctx, &sdk.CommandTransport{Command: p.cmd, TerminateDuration: bridgeEnd}, nil)
	if err != nil {
		endGroup(p.cmd)
		return nil, p.explain(ctx, err)
	}
	p.session = session
	list, err := session.ListTools(ctx, nil)
	if err != nil {
		p.end()
		return nil, p.explain(ctx, err)
	}
	p.tools, p.took = len(list.Tools), time.Since(began)
	return p, nil
}

// explain adds the process's last output to err.
func (p *probe) explain(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		err = fmt.Errorf("the bridge did not list its tools within %s", bridgeStart)
	}
	if said := p.stderr.last(); said != "" {
		err = fmt.Errorf("%w; it said: %s", err, said)
	}
	return err
}

// end ends the process as a harness does, by closing its stdin, and ends all
// processes that it started.
func (p *probe) end() {
	_ = p.session.Close() // its result does not matter
	endGroup(p.cmd)
}

// call calls a tool and returns its data. It asks for all members: some harnesses get the
// text of a lean answer alone.
func (p *probe) call(ctx context.Context, tool string, args map[string]any) (json.RawMessage, error) {
	args["verbose"] = true
	res, err := p.session.CallTool(ctx, &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return nil, err
	}
	if res.IsError {
		for _, c := range res.Content {
			if t, ok := c.(*sdk.TextContent); ok {
				return nil, errors.New(tool + ": " + t.Text)
			}
		}
		return nil, errors.New(tool + " failed")
	}
	return json.Marshal(res)
}

// whoami returns the agent that the bridge acts as and the id of the latest
// message that it has seen.
func (p *probe) whoami(ctx context.Context) (hub.AgentID, hub.MessageID, error) {
	raw, err := p.call(ctx, "hub_whoami", map[string]any{})
	if err != nil {
		return "", 0, err
	}
	var got struct {
		Data struct {
			AgentID hub.AgentID   `json:"agent_id"`
			Latest  hub.MessageID `json:"latest_visible_id"`
		} `json:"structuredContent"`
	}
	if err := json.Unmarshal(raw, &got); err != nil {
		return "", 0, err
	}
	if got.Data.AgentID == "" {
		return "", 0, errors.New("hub_whoami does not name the bridge's agent")
	}
	return got.Data.AgentID, got.Data.Latest, nil
}

// write takes a claim and releases it. It returns the time of both calls.
func (p *probe) write(ctx context.Context, key string) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, bridgeWake)
	defer cancel()
	began := time.Now()
	raw, err := p.call(ctx, "hub_claim", map[string]any{"claim_key": key, "ttl_sec": 30})
	if err != nil {
		return 0, err
	}
	var got struct {
		Data struct {
			Acquired bool `json:"acquired"`
		} `json:"structuredContent"`
	}
	if err := json.Unmarshal(raw, &got); err != nil || !got.Data.Acquired {
		return 0, errors.Join(errors.New("hub_claim did not give a free claim"), err)
	}
	if _, err := p.call(ctx, "hub_release", map[string]any{"claim_key": key}); err != nil {
		return 0, err
	}
	return time.Since(began), nil
}

// wake parks a poll of the bridge's agent, sends the canary and returns the
// time from there to the poll's answer.
func (p *probe) wake(ctx context.Context, h Hub, k canary, since hub.MessageID) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, bridgeWake+parkAfter)
	defer cancel()
	type seen struct {
		at  time.Time
		err error
	}
	heard := make(chan seen, 1)
	go func() {
		err := p.hear(ctx, since, k.nonce)
		heard <- seen{time.Now(), err}
	}()
	select {
	case <-time.After(parkAfter):
	case s := <-heard:
		return 0, errors.Join(errors.New("the poll ended before anything was sent"), s.err)
	}
	sent := time.Now()
	if err := k.post(ctx, h); err != nil {
		cancel()
		<-heard
		return 0, fmt.Errorf("the canary could not be sent: %w", err)
	}
	s := <-heard
	if s.err != nil {
		return 0, fmt.Errorf("the canary did not arrive: %w", s.err)
	}
	return s.at.Sub(sent), nil
}

// hear polls until a message holds the nonce.
func (p *probe) hear(ctx context.Context, since hub.MessageID, nonce string) error {
	for {
		raw, err := p.call(ctx, "hub_poll_messages", map[string]any{"since_id": since, "timeout_seconds": 20})
		if err != nil {
			return err
		}
		if bytes.Contains(raw, []byte(nonce)) {
			return nil
		}
		var got struct {
			Data struct {
				Cursor hub.MessageID `json:"cursor"`
			} `json:"structuredContent"`
		}
		if err := json.Unmarshal(raw, &got); err != nil {
			return err
		}
		since = max(since, got.Data.Cursor)
	}
}

// tail keeps the end of a process's output.
type tail struct {
	mu sync.Mutex
	b  []byte
}

const maxTail = 4 << 10 // bytes

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, b...)
	if over := len(t.b) - maxTail; over > 0 {
		t.b = append(t.b[:0], t.b[over:]...)
	}
	return len(b), nil
}

// last returns the last line that is not blank.
func (t *tail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(string(t.b)), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}
