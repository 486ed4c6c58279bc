package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"hubcli/hub"
	"hubcli/internal/pause"
	"hubcli/stress/stat"
	"hubcli/stress/target"
)

// Of the figures of the bridge.
const (
	bridgeStarts = 15  // starts of a bridge, and of the ceiling
	bridgeCalls  = 200 // per round and side
	bridgeWakes  = 40  // per round of one of all, and a tenth of it of all at once
	bridgeWarmUp = 20  // calls that are not counted
	bridgeWait   = 45  // seconds that a poll waits at most
)

// mcp measures the bridge: how long a client waits for it to start, for a post
// and for the waking of a poll, and what it costs while nobody calls. The ceiling
// is a server of the same SDK with a tool that echoes.
func (r *run) mcp(ctx context.Context) (results []Result, err error) {
	if r.Itself {
		return nil, errors.New("the ceiling has no hub behind it")
	}
	server, err := r.hub(ctx, r.newStore())
	if err != nil {
		return nil, err
	}
	defer server.Kill()
	for _, measure := range []func(context.Context, *target.Process) ([]Result, error){
		r.bridgeStart, r.bridgePosts, r.bridgeCost, r.bridgeWakes,
	} {
		part, err := measure(ctx, server)
		results = append(results, part...)
		if err != nil {
			return results, err
		}
	}
	return results, nil
}

// bridge starts a bridge and opens its session.
func (r *run) bridge(ctx context.Context, server *target.Process, agent string) (*target.Bridge, error) {
	root, err := os.MkdirTemp(r.dir, "root-")
	if err != nil {
		return nil, err
	}
	b, err := r.exe.StartBridge(ctx, server, agent, root, "--full-tools")
	if err != nil {
		return nil, err
	}
	return shaken(b)
}

func ceilingBridge(ctx context.Context) (*target.Bridge, error) {
	b, err := target.CeilingBridge(ctx, "ceiling-bridge")
	if err != nil {
		return nil, err
	}
	return shaken(b)
}

func shaken(b *target.Bridge) (*target.Bridge, error) {
	if err := b.Shake(); err != nil {
		b.Kill()
		return nil, err
	}
	return b, nil
}

// bridgeStart measures from the start of the process to the answer to the first
// tools/list.
func (r *run) bridgeStart(ctx context.Context, server *target.Process) ([]Result, error) {
	var hubs, ceilings []float64
	for i := range bridgeStarts {
		for _, side := range []struct {
			times *[]float64
			start func() (*target.Bridge, error)
		}{
			{&hubs, func() (*target.Bridge, error) { return r.bridge(ctx, server, fmt.Sprintf("starter-%d", i)) }},
			{&ceilings, func() (*target.Bridge, error) { return ceilingBridge(ctx) }},
		} {
			b, err := side.start()
			if err != nil {
				return nil, err
			}
			if _, err := b.Request("tools/list", map[string]any{}); err != nil {
				b.Kill()
				return nil, err
			}
			*side.times = append(*side.times, stat.Milliseconds(time.Since(b.Began)))
			if err := b.Close(); err != nil {
				return nil, err
			}
		}
	}
	return []Result{absolute("start of a bridge to its first tools/list, median", stat.Median(hubs), atMost(150, "ms"),
		fmt.Sprintf("slowest of %d: %.1f ms; a bare server of the SDK: median %.1f ms", bridgeStarts, stat.Percentile(hubs, 100), stat.Median(ceilings)))}, nil
}

// bridgePosts measures posts through the bridge, and turn by turn the same posts
// through the Go client without it, and echoes without a hub.
func (r *run) bridgePosts(ctx context.Context, server *target.Process) ([]Result, error) {
	b, err := r.bridge(ctx, server, "poster-mcp")
	if err != nil {
		return nil, err
	}
	defer b.Kill()
	echo, err := ceilingBridge(ctx)
	if err != nil {
		return nil, err
	}
	defer echo.Kill()
	direct := server.Client()
	defer direct.Close()
	body := strings.Repeat("x", bodyBytes)
	sides := []struct {
		times []float64
		call  func() error
	}{
		{call: func() error {
			_, err := b.Call("hub_post_message", map[string]any{"body": body, "channel": hub.DefaultChannel})
			return err
		}},
		{call: func() error {
			_, err := direct.Post(ctx, hub.PostInput{FromAgent: "poster-http", Channel: hub.DefaultChannel, Body: body})
			return err
		}},
		{call: func() error {
			_, err := echo.Call("echo", map[string]any{"body": body})
			return err
		}},
	}
	for range r.Rounds {
		for s := range sides {
			for i := range bridgeWarmUp + bridgeCalls {
				begin := time.Now()
				if err := sides[s].call(); err != nil {
					return nil, err
				}
				if i >= bridgeWarmUp {
					sides[s].times = append(sides[s].times, stat.Milliseconds(time.Since(begin)))
				}
			}
		}
	}
	times := sides[0].times
	return []Result{absolute("hub_post_message over stdio, median", stat.Median(times), atMost(3, "ms"),
		fmt.Sprintf("p99 %.2f ms of %d; the same post by the Go client: median %.2f, p99 %.2f ms; an echo by a bare server of the SDK: median %.2f, p99 %.2f ms",
			stat.Percentile(times, 99), len(times), stat.Median(sides[1].times), stat.Percentile(sides[1].times, 99),
			stat.Median(sides[2].times), stat.Percentile(sides[2].times, 99)))}, nil
}

// bridgeCost measures the memory of a bridge that has worked, and the processor
// time of one that waits for its client.
func (r *run) bridgeCost(ctx context.Context, server *target.Process) ([]Result, error) {
	if runtime.GOOS != "linux" {
		return nil, nil // nothing tells it
	}
	b, err := r.bridge(ctx, server, "idler")
	if err != nil {
		return nil, err
	}
	defer b.Kill()
	echo, err := ceilingBridge(ctx)
	if err != nil {
		return nil, err
	}
	defer echo.Kill()
	if _, err := b.Request("tools/list", map[string]any{}); err != nil {
		return nil, err
	}
	fresh, err := b.Anonymous()
	if err != nil {
		return nil, err
	}
	for range bridgeCalls {
		if _, err := b.Call("hub_post_message", map[string]any{"body": strings.Repeat("x", bodyBytes)}); err != nil {
			return nil, err
		}
		if _, err := echo.Call("echo", map[string]any{"body": strings.Repeat("x", bodyBytes)}); err != nil {
			return nil, err
		}
	}
	pause.For(ctx, r.Settle)
	memory, memoryErr := b.Anonymous()
	bare, bareErr := echo.Anonymous()
	before, beforeErr := b.CPU()
	pause.For(ctx, r.Idle)
	after, afterErr := b.CPU()
	if err := errors.Join(memoryErr, bareErr, beforeErr, afterErr, ctx.Err()); err != nil {
		return nil, err
	}
	return []Result{
		absolute("anonymous memory of a bridge", float64(memory)/megabyte, atMost(20, "MB"),
			fmt.Sprintf("after %d posts; %.1f MB after the first tools/list; a bare server of the SDK %.1f MB", bridgeCalls, float64(fresh)/megabyte, float64(bare)/megabyte)),
		absolute("processor of an idle bridge", 100*(after-before).Seconds()/r.Idle.Seconds(), atMost(0.5, "%"),
			fmt.Sprintf("of one processor, over %v", r.Idle)),
	}, nil
}
