package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"hubcli/hub"
	"hubcli/internal/osfile"
	"hubcli/internal/pause"
	"hubcli/relay"
	"hubcli/relay/forwarder"
	"hubcli/stress/stat"
	"hubcli/stress/target"
)

// relayAgents is how many agents are parked behind one forwarder.
const relayAgents = 200

// relay measures posts through a forwarder of its own process, with and without
// the system's notification of new files, and what parked agents cost it.
func (r *run) relay(ctx context.Context) (results []Result, err error) {
	if r.Itself {
		return nil, errors.New("the ceiling has no relay")
	}
	server, err := r.hub(ctx, r.newStore())
	if err != nil {
		return nil, err
	}
	defer server.Kill()
	files, err := r.fileCeiling()
	if err != nil {
		return nil, err
	}
	beside := fmt.Sprintf("the disk takes %.3f ms for two files written, synced, renamed and their folder synced", files)
	for _, side := range []struct {
		name, flag string
		apart      time.Duration
		limit      float64
	}{
		{"with notification", "", 0, 15},
		{"by polling alone", "--no-notify", 0, 265},
		{"by polling alone, seconds apart", "--no-notify", 1100 * time.Millisecond, 265},
	} {
		times, err := r.relayPosts(ctx, server, side.flag, side.apart)
		if err != nil {
			return results, err
		}
		results = append(results, absolute("post through the relay, "+side.name+", median", stat.Median(times), atMost(side.limit, "ms"),
			fmt.Sprintf("p99 %.3g ms of %d posts; %s", stat.Percentile(times, 99), len(times), beside)))
	}
	parked, err := r.relayParked(ctx, server)
	return append(results, parked...), err
}

// relayPosts returns the times of one agent's posts in ms, one right after the
// other or so far apart. Without notification neither side of the spool has it.
func (r *run) relayPosts(ctx context.Context, server *target.Process, flag string, apart time.Duration) ([]float64, error) {
	spool, relayed, err := r.forwarder(ctx, server, flag)
	if err != nil {
		return nil, err
	}
	defer relayed.Kill()
	c, transport, err := relay.NewClient(relay.TransportConfig{Dir: spool, Agent: "bench", NoNotify: flag != ""})
	if err != nil {
		return nil, err
	}
	defer transport.CloseIdleConnections()
	var times []float64
	for end := time.Now().Add(time.Duration(r.Rounds) * r.Round); time.Now().Before(end); {
		begin := time.Now()
		if _, err := c.Post(ctx, hub.PostInput{FromAgent: "bench", Channel: hub.DefaultChannel, Body: strings.Repeat("x", bodyBytes)}); err != nil {
			return nil, err
		}
		times = append(times, stat.Milliseconds(time.Since(begin)))
		if apart > 0 { // and at any moment between two looks
			pause.For(ctx, apart+rand.N(forwarder.DefaultPollInterval))
		}
	}
	return times, ctx.Err()
}

// forwarder starts one on a new spool.
func (r *run) forwarder(ctx context.Context, server *target.Process, flags ...string) (spool string, p *target.Process, err error) {
	if spool, err = os.MkdirTemp(r.dir, "spool-"); err != nil {
		return "", nil, err
	}
	if len(flags) == 1 && flags[0] == "" {
		flags = nil
	}
	p, err = r.exe.StartRelay(ctx, server, spool, flags...)
	return spool, p, err
}

// relayParked measures the memory of a forwarder whose agents are all parked.
func (r *run) relayParked(ctx context.Context, server *target.Process) ([]Result, error) {
	since, err := latest(ctx, server.Addr)
	if err != nil {
		return nil, err
	}
	spool, relayed, err := r.forwarder(ctx, server)
	if err != nil {
		return nil, err
	}
	defer relayed.Kill()
	pause.For(ctx, r.Settle)
	empty, err := relayed.Anonymous()
	if err != nil {
		return nil, err
	}
	for i := range relayAgents {
		if err := parkThrough(spool, hub.AgentID(agentName(i)), since); err != nil {
			return nil, err
		}
	}
	if err := countParked(ctx, server.Addr, relayAgents, nil); err != nil {
		return nil, err
	}
	pause.For(ctx, r.Settle)
	full, err := relayed.Anonymous()
	if err != nil {
		return nil, err
	}
	return []Result{absolute(fmt.Sprintf("anonymous memory of a forwarder with %d parked agents", relayAgents),
		float64(full)/megabyte, atMost(60, "MB"), fmt.Sprintf("%.1f MB before they came", float64(empty)/megabyte))}, nil
}

// parkThrough writes the request of a long-poll into the spool.
func parkThrough(spool string, agent hub.AgentID, since int64) error {
	id := relay.NewRequestID()
	content, err := json.Marshal(relay.Request{
		RequestID: id, AgentID: agent, Method: "GET", CreatedAt: hub.TimeOf(time.Now()),
		Path: fmt.Sprintf("/v1/events?agent_id=%s&timeout=20&since_id=%d", agent, since),
	})
	if err != nil {
		return err
	}
	dir := filepath.Join(spool, relay.RequestsDir, relay.Folder(agent))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return osfile.Replace(osfile.Disk{}, filepath.Join(dir, string(id)+".json"),
		osfile.Content{Write: osfile.Bytes(content), Prefix: relay.TempPrefix})
}

// fileCeiling returns the median milliseconds that the disk takes for the files
// of one call: a request and an answer, each written whole and made durable.
func (r *run) fileCeiling() (float64, error) {
	dir, err := os.MkdirTemp(r.dir, "files-")
	if err != nil {
		return 0, err
	}
	var times []float64
	for i := range commits {
		begin := time.Now()
		for _, name := range []string{"request", "response"} {
			path := filepath.Join(dir, fmt.Sprintf("%s-%d", name, i))
			if err := osfile.Replace(osfile.Disk{}, path, osfile.Content{Write: osfile.Bytes(make([]byte, entryBytes))}); err != nil {
				return 0, err
			}
		}
		times = append(times, stat.Milliseconds(time.Since(begin)))
	}
	return stat.Median(times), nil
}
