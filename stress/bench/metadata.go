package bench

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"hubcli/hub"
	"hubcli/internal/pause"
	"hubcli/stress/target"
)

const (
	metadataRest   = 4     // times Settle: until a hub has given back what a burst of work took
	metadataMemory = 1024  // MB that a hub may take with all of it
	enough         = 1_000 // refusals of a kind, after which there is no place for more of it
	restartRatio   = 1.5   // of the memory before and after a restart, the larger to the smaller
	longest        = "𝔁"   // a character that takes as many bytes as any
)

// metadata makes Things channels, tasks, claims and sessions with the largest metadata, and as
// many rooms with the longest texts, and measures the resident memory of the hub, with the
// pages of mapped files. The calls that make channels, tasks and rooms are the operator's, who
// has no share. Limits of their bytes refuse most claims, sessions and rooms: what is refused is
// counted.
func (r *run) metadata(ctx context.Context) (results []Result, err error) {
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
	for _, t := range r.largeThings(operator) {
		began := time.Now()
		made, err := r.makeOrRefuse(ctx, p.Addr, &t)
		if err != nil {
			return results, fmt.Errorf("%s: %w", t.name, err)
		}
		took := time.Since(began).Round(time.Second)
		of, err := r.remembers(ctx, p, fmt.Sprintf("%d %s with the largest metadata, and those above", made, t.name),
			fmt.Sprintf("made in %v, of %d wanted", took, t.n))
		if err != nil {
			return results, err
		}
		results = append(results, of)
	}
	loaded := results[len(results)-1].Hub
	for _, how := range []string{"a clean stop", "SIGKILL"} {
		if how == "SIGKILL" {
			p.Kill()
		} else if err := p.Stop(); err != nil {
			return results, err
		}
		if p, err = r.hub(ctx, store); err != nil {
			return results, err
		}
		after, err := r.remembers(ctx, p, "all of these, memory after "+how)
		if err != nil {
			return results, err
		}
		ratio := max(loaded/after.Hub, after.Hub/loaded)
		results = append(results, after, absolute("all of these, memory before to memory after "+how+", the larger to the smaller", ratio, atMost(restartRatio, "times")))
	}
	return results, p.Stop()
}

// remembers measures the memory of a hub that has come to rest.
func (r *run) remembers(ctx context.Context, p *target.Process, what string, notes ...string) (Result, error) {
	pause.For(ctx, metadataRest*r.Settle)
	resident, err := p.Resident()
	if err != nil {
		return Result{}, err
	}
	anonymous, err := p.Anonymous()
	if err != nil {
		return Result{}, err
	}
	notes = append(notes, fmt.Sprintf("%.0f MB of it are in no file", float64(anonymous)/megabyte))
	of := absolute(what, float64(resident)/megabyte, atMost(metadataMemory, "MB"), notes...)
	r.say("  %s: %.0f MB; %s", of.Figure, of.Hub, strings.Join(of.Notes, "; "))
	return of, ctx.Err()
}

// largeThings are what a hub has many of, each as large as it may be.
func (r *run) largeThings(operator []string) []thing {
	name := func(i int) string {
		number := fmt.Sprintf("%06d", i)
		return number + strings.Repeat(longest, hub.MaxNameChars-len(number))
	}
	const frame = `{"m":""}`
	metadata := map[string]any{"m": strings.Repeat("x", hub.MaxMetadataBytes-len(frame))}
	projects := r.Things/projectHas + 1
	return []thing{
		{name: "channels", n: r.Things, request: posting("/v1/channels", func(c, i int) map[string]any {
			return map[string]any{"name": name(i), "created_by": agentName(c), "metadata": metadata}
		}, operator...)},
		{name: "tasks", n: r.Things, request: posting("/v1/messages", func(c, i int) map[string]any {
			return map[string]any{
				"from_agent": agentName(c), "kind": "task", "thread_id": fmt.Sprintf("large/%06d", i),
				"body": fmt.Sprintf("Write the part of the program that has the number %06d", i), "metadata": metadata,
			}
		}, operator...)},
		{name: "claims", n: r.Things, request: posting("/v1/claims", func(c, i int) map[string]any {
			return map[string]any{"owner_agent_id": agentName(c), "claim_key": fmt.Sprintf("large/%06d", i), "ttl_sec": hub.MaxTTLSec, "metadata": metadata}
		})},
		{name: "sessions", n: r.Things, request: posting("/v1/sessions", func(_, i int) map[string]any {
			return map[string]any{"agent_id": fmt.Sprintf("many-%06d", i), "metadata": metadata}
		})},
		{name: "projects", n: projects, request: posting("/v1/projects", func(_, i int) map[string]any {
			return map[string]any{"slug": fmt.Sprintf("many-%d", i), "name": name(i)}
		}, operator...)},
		{name: "rooms", n: r.Things, request: posting("/v1/rooms", func(_, i int) map[string]any {
			return map[string]any{
				"project": fmt.Sprintf("many-%d", i%projects), "name": name(i), "topic": strings.Repeat(longest, hub.MaxTopicChars),
				"force": true, "force_reason": strings.Repeat(longest, hub.MaxReasonChars),
			}
		}, operator...)},
	}
}

// makeOrRefuse makes so many of a thing and returns how many there are: a limit may refuse
// the others, and after enough refusals no more are tried.
func (r *run) makeOrRefuse(ctx context.Context, addr string, t *thing) (made int, err error) {
	cs, err := dial(ctx, addr, r.Agents)
	if err != nil {
		return 0, err
	}
	defer cs.close()
	var next, got, refused atomic.Int64
	var group sync.WaitGroup
	failed := make([]error, len(cs))
	for c, conn := range cs {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < t.n && ctx.Err() == nil && failed[c] == nil && refused.Load() < enough; i = int(next.Add(1)) - 1 {
				request, err := t.request(addr, c, i)
				if err == nil {
					err = conn.SetDeadline(time.Now().Add(ioTimeout))
				}
				status := 0
				var answer []byte
				if err == nil {
					status, answer, err = expect(conn, request.Bytes(), 200, 201, 409)
				}
				switch {
				case err != nil:
					failed[c] = err
				case status != 409:
					got.Add(1)
				case strings.Contains(string(answer), string(hub.CodeLimitReached)):
					refused.Add(1)
				default:
					failed[c] = fmt.Errorf("%w: %s", errStatus, firstBytes(answer))
				}
			}
		})
	}
	group.Wait()
	return int(got.Load()), errors.Join(append(failed, ctx.Err())...)
}
