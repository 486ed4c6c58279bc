package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"hubcli/stress/stat"
)

const bodyBytes = 256

// posts measures posts per second.
func (r *run) posts(ctx context.Context) ([]Result, error) {
	rounds, err := r.rounds(ctx, r.postRate)
	if err != nil {
		return nil, err
	}
	return []Result{compared(fmt.Sprintf("posts, %d agents", r.Agents), "/s", rounds, atLeast(0.65))}, nil
}

// postRate drives posts against one server.
func (r *run) postRate(ctx context.Context, addr string) (float64, error) {
	cs, err := dial(ctx, addr, r.Agents)
	if err != nil {
		return 0, err
	}
	defer cs.close()
	var turns []turn
	for i, c := range cs {
		post, err := r.poster(c, addr, agentName(i), bodyBytes)
		if err != nil {
			return 0, err
		}
		turns = append(turns, post)
	}
	return r.drive(ctx, turns, r.warmUp(), r.Round)
}

// latency measures one agent's posts, and in the same rounds what a synced
// commit costs on the same disk. A hub can be no faster than answering and
// committing one after the other.
func (r *run) latency(ctx context.Context) (results []Result, err error) {
	disk, err := openDisk(r.dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, disk.close()) }()
	var raw, store []float64
	rounds, err := r.rounds(ctx, func(ctx context.Context, addr string) (float64, error) {
		p50, err := r.postLatency(ctx, addr)
		if err != nil {
			return 0, err
		}
		a, err := disk.appendAndSync()
		if err != nil {
			return 0, err
		}
		b, err := disk.commit()
		raw, store = append(raw, a), append(store, b)
		return p50, err
	})
	if err != nil {
		return nil, err
	}
	// Each round measured the disk twice, once beside each side.
	withStore, withRaw := make([]Round, len(rounds)), make([]Round, len(rounds))
	for i, round := range rounds {
		withStore[i] = Round{Hub: round.Hub, HubCPU: round.HubCPU, CeilingCPU: round.CeilingCPU, Ceiling: round.Ceiling + (store[2*i]+store[2*i+1])/2}
		withRaw[i] = Round{Hub: round.Hub, Ceiling: round.Ceiling + (raw[2*i]+raw[2*i+1])/2}
	}
	reach := atMost(1.25, "")
	beside := compared("", "ms", rounds, reach)
	return []Result{
		compared("post latency p50, 1 agent, against ceiling + store commit", "ms", withStore, reach,
			fmt.Sprintf("ceiling alone %.3f ms, one synced one-entry transaction of Badger %.3f ms", beside.Ceiling, stat.Median(store))),
		compared("post latency p50, 1 agent, against ceiling + bare sync", "ms", withRaw, reach,
			fmt.Sprintf("512 bytes appended to a file and synced %.3f ms; for information: no store writes so little", stat.Median(raw))),
	}, nil
}

// postLatency returns the median time of a post in ms.
func (r *run) postLatency(ctx context.Context, addr string) (float64, error) {
	cs, err := dial(ctx, addr, 1)
	if err != nil {
		return 0, err
	}
	defer cs.close()
	post, err := r.poster(cs[0], addr, agentName(0), bodyBytes)
	if err != nil {
		return 0, err
	}
	var times []float64
	timed := func() (int, error) {
		begin := time.Now()
		n, err := post()
		times = append(times, stat.Milliseconds(time.Since(begin)))
		return n, err
	}
	if _, err := r.drive(ctx, []turn{timed}, 0, r.warmUp()); err != nil {
		return 0, err
	}
	times = times[:0]
	_, err = r.drive(ctx, []turn{timed}, 0, r.Round)
	return stat.Median(times), err
}
