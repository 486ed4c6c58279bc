package crowd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hubcli/internal/pause"
	"hubcli/stress/target"
)

// Bounds and times of a look at the hub.
const (
	ownConnections = 4                // that may come and go beside those of a crowd: of the pair
	connsGoAfter   = 15 * time.Second // the end of a crowd
	calmAfter      = 4 * time.Second  // a hub has given back memory that it does not need

	memoryEvery = 100 * time.Millisecond // it is looked at
)

// arrival brings a crowd to the hub at addr. The crowd stays until ctx ends. leave is called
// then; it waits until the crowd has gone, checks what it has seen and says what it did.
type arrival func(ctx context.Context, addr string) (leave func() (did string, err error), err error)

// Run brings the crowds, one after the other. It leaves no process and no file behind.
func Run(ctx context.Context, o Options) (*Report, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(o.Dir, "hubcli-crowd-")
	if err != nil {
		return nil, err
	}
	report, err := o.crowds(ctx, dir)
	return report, errors.Join(err, os.RemoveAll(dir))
}

func (o *Options) crowds(ctx context.Context, dir string) (*Report, error) {
	exe := target.Executable{Path: o.Executable}
	if exe.Path == "" {
		fmt.Fprintln(o.Progress, "building the hub")
		var err error
		if exe, err = target.Build(ctx, dir); err != nil {
			return nil, err
		}
	}
	arrivals := map[string]arrival{"channels": o.talk, "churn": o.churn, "slow": o.dawdle, "greedy": o.grab}
	report := &Report{}
	for _, name := range Scenarios() {
		if len(o.Scenarios) > 0 && !slices.Contains(o.Scenarios, name) {
			continue
		}
		fmt.Fprintf(o.Progress, "%s: %v without the crowd, %v with it\n", name, o.Quiet, o.Duration)
		c, err := o.meet(ctx, exe, filepath.Join(dir, name), arrivals[name])
		if err != nil {
			return report, fmt.Errorf("%s: %w", name, err)
		}
		c.Name = name
		report.Crowds = append(report.Crowds, *c)
	}
	return report, nil
}

// meet brings one crowd to a hub on a store of its own.
func (o *Options) meet(ctx context.Context, exe target.Executable, store string, arrive arrival) (c *Crowd, err error) {
	hub, err := exe.Start(ctx, store)
	if err != nil {
		return nil, err
	}
	defer hub.Kill()
	pairs, kill := context.WithCancel(ctx)
	defer kill()
	pair, err := startApart(pairs, hub.Addr)
	if err != nil {
		return nil, err
	}
	ended := false
	defer func() {
		if !ended {
			kill()
			_ = pair.cmd.Wait() // it was killed
		}
	}()
	c = &Crowd{}
	pause.For(ctx, o.Quiet/8) // the first calls warm the hub up
	if _, err := pair.take(); err != nil {
		return nil, err
	}
	pause.For(ctx, o.Quiet)
	if c.Before, err = pair.take(); err != nil {
		return nil, err
	}
	conns, err := connections(hub)
	if err != nil {
		return nil, err
	}
	if c.Memory[0], err = memory(hub); err != nil {
		return nil, err
	}
	if c.Did, err = o.visit(ctx, hub, pair, arrive, c); err != nil {
		return nil, err
	}
	ended = true
	if err := pair.end(); err != nil {
		return nil, err
	}
	c.Again = pair.again
	if err := givesBack(ctx, hub, conns); err != nil {
		return nil, err
	}
	pause.For(ctx, min(calmAfter, o.Duration))
	if c.Memory[2], err = memory(hub); err != nil {
		return nil, err
	}
	return c, hub.Stop()
}

// visit is the time with the crowd.
func (o *Options) visit(ctx context.Context, hub *target.Process, pair *apart, arrive arrival, c *Crowd) (did string, err error) {
	staying, part := context.WithCancel(ctx)
	defer part()
	leave, err := arrive(staying, hub.Addr)
	if err != nil {
		return "", err
	}
	_, err = pair.take()
	for end := time.Now().Add(o.Duration); err == nil && time.Now().Before(end) && pause.For(ctx, min(memoryEvery, time.Until(end))); {
		var now Size
		now, err = memory(hub)
		c.Memory[1] = max(c.Memory[1], now)
	}
	if err == nil {
		c.Beside, err = pair.take()
	}
	part()
	did, left := leave()
	return did, errors.Join(err, left, ctx.Err())
}

func memory(hub *target.Process) (Size, error) {
	bytes, err := hub.Anonymous()
	return Size(bytes), err
}

// connections counts the connections that the hub has open. Its other files belong to the
// store, which grows.
func connections(hub *target.Process) (n int, err error) {
	dir := fmt.Sprintf("/proc/%d/fd", hub.PID())
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		// An error means that the file has been closed meanwhile.
		if to, err := os.Readlink(filepath.Join(dir, e.Name())); err == nil && strings.HasPrefix(to, "socket:") {
			n++
		}
	}
	return n, err
}

// givesBack waits until the hub has no more connections open than before.
func givesBack(ctx context.Context, hub *target.Process, before int) error {
	for end := time.Now().Add(connsGoAfter); ; {
		now, err := connections(hub)
		if err != nil || now <= before+ownConnections {
			return err
		}
		if time.Now().After(end) {
			return fmt.Errorf("%w: %v after the crowd went, the hub has %d connections open; it had %d before", ErrBroken, connsGoAfter, now, before)
		}
		pause.For(ctx, 50*time.Millisecond)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}
