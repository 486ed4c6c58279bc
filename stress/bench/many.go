package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"hubcli/api"
	"hubcli/internal/pause"
	"hubcli/stress/stat"
	"hubcli/stress/target"
	"hubcli/stress/wire"
)

// The figure many has Things agents and as many claims. Of channels, rooms and seats it has
// a tenth, as a hub may have 10,000 rooms.
const (
	fewer       = 10
	listings    = 50
	projectHas  = 1_000 // rooms, the most
	roomsSeated = 10    // rooms that have the seats
	aPage       = "a page of 1000"
)

// thing is something of which a hub has many.
type thing struct {
	name string
	n    int
	list string // the path that lists some of them
	page string // what that path lists
	// request builds the call that makes the i-th one over the connection of caller c.
	request func(addr string, c, i int) (*wire.Request, error)
	bytes   float64 // the most that one may take; half as much again as was measured at 100,000 and 10,000
}

// many measures what it costs to have many of everything: memory, listings and starts.
func (r *run) many(ctx context.Context) (results []Result, err error) {
	if r.Itself {
		return nil, nil // the ceiling stores nothing
	}
	store := r.newStore()
	p, err := r.hub(ctx, store)
	if err != nil {
		return nil, err
	}
	defer func() { p.Kill() }() // p changes
	operator, err := operatorOf(store)
	if err != nil {
		return nil, err
	}
	rooms, err := r.someRooms(ctx, p.Addr, operator)
	if err != nil {
		return nil, err
	}
	for _, t := range r.things(rooms, operator) {
		of, err := r.have(ctx, p, &t)
		if err != nil {
			return results, fmt.Errorf("%s: %w", t.name, err)
		}
		results = append(results, of...)
	}
	p.Kill()
	if p, err = r.hub(ctx, store); err != nil {
		return results, err
	}
	results = append(results, absolute("all of these, start after SIGKILL", p.Ready.Seconds(), atMost(3, "s")))
	if err := p.Stop(); err != nil {
		return results, err
	}
	if p, err = r.hub(ctx, store); err != nil {
		return results, err
	}
	pause.For(ctx, r.Settle+startWork)
	anonymous, err := p.Anonymous()
	if err != nil {
		return results, err
	}
	return append(results,
		absolute("all of these, start after a clean stop", p.Ready.Seconds(), atMost(2, "s")),
		absolute("all of these, anonymous memory after it", float64(anonymous)/megabyte, atMost(320, "MB")),
	), p.Stop()
}

// have makes so many of a thing, and measures what they cost.
func (r *run) have(ctx context.Context, p *target.Process, t *thing) ([]Result, error) {
	pause.For(ctx, r.Settle)
	before, err := p.Anonymous()
	if err != nil {
		return nil, err
	}
	took, err := r.make(ctx, p.Addr, t)
	if err != nil {
		return nil, err
	}
	pause.For(ctx, r.Settle)
	after, err := p.Anonymous()
	if err != nil {
		return nil, err
	}
	page, err := r.listing(ctx, p.Addr, t.list)
	if err != nil {
		return nil, err
	}
	what := fmt.Sprintf("%d %s", t.n, t.name)
	made := fmt.Sprintf("made in %v", took.Round(100*time.Millisecond))
	return []Result{
		absolute(what+", memory of one", max(0, float64(after-before)/float64(t.n)), atMost(t.bytes, "bytes"), made),
		absolute(what+", p50 of "+t.page, page, atMost(50, "ms")),
	}, nil
}

// operatorOf returns the header of a call that is the operator's: a single caller may not have
// so many of everything.
func operatorOf(store string) ([]string, error) {
	token, err := os.ReadFile(filepath.Join(store, "operator.token"))
	return []string{api.HeaderOperator, strings.TrimSpace(string(token))}, err
}

// posting builds calls that make things, with these headers.
func posting(path string, body func(c, i int) map[string]any, headers ...string) func(string, int, int) (*wire.Request, error) {
	return func(addr string, c, i int) (*wire.Request, error) {
		return wire.Post(addr, path, body(c, i), headers...)
	}
}

// things are what a hub has many of. rooms are there already.
func (r *run) things(rooms, operator []string) []thing {
	return []thing{
		{"agents", r.Things, "/v1/agents?limit=1000", aPage, posting("/v1/sessions", func(_, i int) map[string]any {
			return map[string]any{"agent_id": fmt.Sprintf("many-%06d", i)}
		}), 4_000},
		{"claims", r.Things, "/v1/claims?active_only=1&limit=1000", aPage, posting("/v1/claims", func(c, i int) map[string]any {
			return map[string]any{"owner_agent_id": agentName(c), "claim_key": fmt.Sprintf("many/%06d", i), "ttl_sec": 86_400}
		}), 2_500},
		{"channels", r.Things / fewer, "/v1/channels?limit=1000", aPage, posting("/v1/channels", func(c, i int) map[string]any {
			return map[string]any{"name": fmt.Sprintf("many-%06d", i)}
		}, operator...), 6_000},
		{"rooms", r.Things/fewer - len(rooms), "/v1/rooms?limit=1000", aPage, posting("/v1/rooms", func(_, i int) map[string]any {
			return aRoom(i + len(rooms))
		}, operator...), 24_000},
		{"seats", r.Things / fewer, "/v1/rooms/" + rooms[0] + "/status?all=1", "the status of a room", func(addr string, _, i int) (*wire.Request, error) {
			return wire.Post(addr, "/v1/rooms/"+rooms[i%len(rooms)]+"/seats", map[string]any{"agent_id": fmt.Sprintf("many-%06d", i)}, operator...)
		}, 4_000},
	}
}

// aRoom is the body of the call that makes the i-th room.
func aRoom(i int) map[string]any {
	return map[string]any{
		"project": fmt.Sprintf("many-%d", i/projectHas), "name": fmt.Sprintf("room %06d", i),
		"force": true, "force_reason": "each is wanted",
	}
}

// someRooms makes the projects and the first rooms.
func (r *run) someRooms(ctx context.Context, addr string, operator []string) (ids []string, err error) {
	cs, err := dial(ctx, addr, 1)
	if err != nil {
		return nil, err
	}
	defer cs.close()
	call := func(path string, body map[string]any) (id string, err error) {
		request, err := wire.Post(addr, path, body, operator...)
		if err != nil {
			return "", err
		}
		_, answer, err := expect(cs[0], request.Bytes(), 201)
		var room struct {
			Result struct {
				ID string `json:"room_id"`
			} `json:"result"`
		}
		if err == nil {
			err = json.Unmarshal(answer, &room)
		}
		return room.Result.ID, err
	}
	for i := range (r.Things/fewer-1)/projectHas + 1 {
		if _, err := call("/v1/projects", map[string]any{"name": fmt.Sprintf("many-%d", i)}); err != nil {
			return nil, err
		}
	}
	for i := range min(roomsSeated, max(1, r.Things/fewer/2)) {
		id, err := call("/v1/rooms", aRoom(i))
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// make makes so many of a thing and returns the time it took.
func (r *run) make(ctx context.Context, addr string, t *thing) (time.Duration, error) {
	cs, err := dial(ctx, addr, r.Agents)
	if err != nil {
		return 0, err
	}
	defer cs.close()
	var next atomic.Int64
	var group sync.WaitGroup
	failed := make(chan error, len(cs))
	began := time.Now()
	for c, conn := range cs {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < t.n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				request, err := t.request(addr, c, i)
				if err == nil {
					err = conn.SetDeadline(time.Now().Add(ioTimeout))
				}
				if err == nil {
					_, _, err = expect(conn, request.Bytes(), 200, 201)
				}
				if err != nil {
					failed <- err
					return
				}
			}
		})
	}
	group.Wait()
	close(failed)
	for err := range failed {
		return 0, err
	}
	return time.Since(began), ctx.Err()
}

// listing is the median time of a page, in milliseconds.
func (r *run) listing(ctx context.Context, addr, path string) (float64, error) {
	cs, err := dial(ctx, addr, 1)
	if err != nil {
		return 0, err
	}
	defer cs.close()
	var took []float64
	for range listings {
		began := time.Now()
		if err := cs[0].SetDeadline(began.Add(ioTimeout)); err != nil {
			return 0, err
		}
		if _, _, err := expect(cs[0], wire.Get(addr, path).Bytes(), 200); err != nil {
			return 0, err
		}
		took = append(took, stat.Milliseconds(time.Since(began)))
	}
	return stat.Median(took), ctx.Err()
}
