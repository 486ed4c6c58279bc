package target

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// Bridge is a server of the Model Context Protocol that a client has started: the
// hub's, or a ceiling. Its calls come one after the other, from one goroutine.
type Bridge struct {
	*Process
	Began time.Time // when its process was started

	in  io.WriteCloser
	out *bufio.Reader
	id  int64
}

// StartBridge starts a bridge to hub for agent. Its first call may come at once;
// its data root is the folder root. The process is killed when ctx ends.
func (e Executable) StartBridge(ctx context.Context, hub *Process, agent, root string, args ...string) (*Bridge, error) {
	args = append([]string{"mcp", "--agent", agent, "--base-url", "http://" + hub.Addr, "--no-ensure"}, args...)
	cmd := exec.CommandContext(ctx, e.Path, args...)
	cmd.Env = append(os.Environ(), dataRootEnv+"="+root)
	return startBridge(cmd)
}

// CeilingBridge starts this executable again with args, which must make it serve
// the protocol on its standard input and output.
func CeilingBridge(ctx context.Context, args ...string) (*Bridge, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return startBridge(exec.CommandContext(ctx, self, args...))
}

func startBridge(cmd *exec.Cmd) (*Bridge, error) {
	b := &Bridge{Process: newProcess(cmd, "")}
	var err error
	if b.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	b.out = bufio.NewReaderSize(out, 256<<10)
	b.Began = time.Now()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go b.wait() // it closes the pipe, which nobody reads who no longer wants the process
	return b, nil
}

// frame is what a bridge writes.
type frame struct {
	ID     *int64          `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// Shake opens the session as clients of the second half of 2025 do.
func (b *Bridge) Shake() error {
	_, err := b.Request("initialize", map[string]any{
		"protocolVersion": "2025-11-25", "capabilities": map[string]any{},
		"clientInfo": map[string]any{"name": "bench", "version": "1"},
	})
	if err != nil {
		return err
	}
	return b.write(map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"})
}

// Call calls a tool and returns its structured content. A refusal is an error.
func (b *Bridge) Call(tool string, arguments any) (json.RawMessage, error) {
	result, err := b.Request("tools/call", map[string]any{"name": tool, "arguments": arguments})
	if err != nil {
		return nil, err
	}
	var answer struct {
		IsError    bool            `json:"isError"`
		Structured json.RawMessage `json:"structuredContent"`
	}
	if err := json.Unmarshal(result, &answer); err != nil {
		return nil, err
	}
	if answer.IsError {
		return nil, fmt.Errorf("%s was refused: %s", tool, result)
	}
	return answer.Structured, nil
}

// Request sends a request and returns its result.
func (b *Bridge) Request(method string, params any) (json.RawMessage, error) {
	b.id++
	if err := b.write(map[string]any{"jsonrpc": "2.0", "id": b.id, "method": method, "params": params}); err != nil {
		return nil, err
	}
	for {
		line, err := b.out.ReadBytes('\n')
		if err != nil {
			return nil, fmt.Errorf("%s: the bridge does not answer: %w\n%s", method, err, b.output)
		}
		var f frame
		if err := json.Unmarshal(line, &f); err != nil {
			return nil, fmt.Errorf("%s: %w in %q", method, err, line)
		}
		switch {
		case f.ID == nil || *f.ID != b.id: // a notification
		case f.Error != nil:
			return nil, fmt.Errorf("%s: %s", method, f.Error)
		default:
			return f.Result, nil
		}
	}
}

func (b *Bridge) write(message any) error {
	line, err := json.Marshal(message)
	if err != nil {
		return err
	}
	if _, err := b.in.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("the bridge does not read: %w\n%s", err, b.output)
	}
	return nil
}

// Close ends the session as clients do and waits for the end of the process.
func (b *Bridge) Close() error {
	if err := b.in.Close(); err != nil {
		return err
	}
	timer := time.NewTimer(stopWait)
	defer timer.Stop()
	select {
	case <-b.ended:
	case <-timer.C:
		b.Kill()
		return fmt.Errorf("the bridge did not end within %v of its input\n%s", stopWait, b.output)
	}
	if b.err != nil {
		return fmt.Errorf("the bridge ended with %w\n%s", b.err, b.output)
	}
	return nil
}
