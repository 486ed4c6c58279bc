package actors

import (
	"context"
	"encoding/base64"
	"sync"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/hub"
	"hubcli/internal/bounded"
)

// maxBrowsed is how many steps are remembered, so that a repeated call does none twice. A
// step is no record: it is forgotten with the process, and so is its page.
const maxBrowsed = 64

// browses remembers steps by the keys of their calls.
type browses struct {
	mu    sync.Mutex
	known *bounded.Map[browseKey, *browsed]
}

type browseKey struct {
	agent hub.AgentID
	room  hub.RoomID
	key   string
}

// browsed is a step that was done, or is under way.
type browsed struct {
	hash [32]byte
	done chan struct{}
	page hub.BrowsePage // after done
	err  error
}

func newBrowses() *browses {
	return &browses{known: bounded.New[browseKey, *browsed](maxBrowsed)}
}

// once does a step, or returns what the same call has got before. Refusals are not kept.
func (b *browses) once(ctx context.Context, room hub.RoomID, in *hub.BrowseInput, do func() (hub.BrowsePage, error)) (hub.BrowsePage, error) {
	key := hub.CallerOf(ctx).Idempotency
	if key == nil {
		return do()
	}
	at := browseKey{in.AgentID, room, key.Key}
	b.mu.Lock()
	step, known := b.known.Get(at)
	if !known {
		step = &browsed{hash: key.Hash, done: make(chan struct{})}
		b.known.Put(at, step)
	}
	b.mu.Unlock()
	if known && step.hash != key.Hash {
		return hub.BrowsePage{}, hub.NewError(hub.CodeIdempotencyConflict, "this idempotency key was used with another body").With("key", key.Key)
	}
	if known {
		select {
		case <-step.done:
			return step.page, step.err
		case <-ctx.Done():
			return hub.BrowsePage{}, context.Cause(ctx)
		}
	}
	step.page, step.err = do()
	if step.err != nil {
		b.mu.Lock()
		b.known.Delete(at)
		b.mu.Unlock()
	}
	close(step.done)
	return step.page, step.err
}

// Browse does one step with the page of a room; see hub.Browses.
func (h *Hub) Browse(ctx context.Context, room hub.RoomID, in hub.BrowseInput) (hub.BrowsePage, error) {
	if h.options.Browser == nil {
		return hub.BrowsePage{}, hub.NewError(hub.CodeBrowserFailed, "this hub has no browser").WithFix("go on without a browser")
	}
	if _, err := h.view.Room(room); err != nil {
		return hub.BrowsePage{}, err
	}
	return h.browses.once(ctx, room, &in, func() (hub.BrowsePage, error) {
		caller := *hub.CallerOf(ctx)
		caller.Idempotency = nil // it is the step's, and not that of the claim and the artifact
		return h.browse(hub.WithCaller(ctx, &caller), room, &in)
	})
}

// browse does a step for the agent that drives the page.
func (h *Hub) browse(ctx context.Context, room hub.RoomID, in *hub.BrowseInput) (hub.BrowsePage, error) {
	held, err := h.drive(ctx, room, in.AgentID)
	if err != nil {
		return hub.BrowsePage{}, err
	}
	row, err := h.view.Room(room) // after the claim: what the operator has taken back meanwhile is gone
	if err != nil {
		return hub.BrowsePage{}, err
	}
	out, picture, err := h.options.Browser.Step(ctx, room, row.AllowedHosts, in)
	if in.Action == hub.BrowseClose {
		_, released := h.ReleaseClaim(ctx, hub.ClaimHoldInput{ClaimKey: hub.BrowseClaim(room), AgentID: in.AgentID})
		if err == nil {
			err = released
		}
		return out, err
	}
	if err != nil {
		return hub.BrowsePage{}, err
	}
	out.ExpiresAt = &held
	if picture != nil {
		content := base64.StdEncoding.EncodeToString(picture.Data)
		kept, err := h.AddArtifact(ctx, hub.ArtifactInput{
			RoomID: room, Title: "Screenshot of the browser", Kind: "screenshot", By: in.AgentID,
			ContentBase64: &content, ContentType: picture.ContentType,
		})
		if err != nil {
			return hub.BrowsePage{}, err
		}
		out.Artifact = &kept.Row
	}
	return out, nil
}

// drive makes the agent the driver of the page for a while, if nobody else is, and shows
// it in the room. It returns when that ends.
func (h *Hub) drive(ctx context.Context, room hub.RoomID, agent hub.AgentID) (hub.Time, error) {
	if err := h.view.RefusePaused(hub.CallerOf(ctx), agent, room); err != nil {
		return 0, err
	}
	grant, err := h.Claim(ctx, hub.ClaimInput{OwnerAgentID: agent, ClaimKey: hub.BrowseClaim(room), TTLSec: hub.BrowseClaimSec})
	if err != nil {
		return 0, err
	}
	if !grant.Acquired {
		return 0, hub.Errorf(hub.CodeBrowserBusy, "%s drives the page of the room until %s", grant.Row.OwnerAgentID, grant.Row.ExpiresAt).
			With("holder", grant.Row.OwnerAgentID).With("expires_at", grant.Row.ExpiresAt)
	}
	if grant.Created {
		if _, err := h.Sit(ctx, room, hub.SitInput{AgentID: agent}); err != nil {
			return 0, err
		}
	}
	return grant.Row.ExpiresAt, nil
}

// AllowHost changes what the browser of a room may reach; see hub.Browses.
func (h *Hub) AllowHost(ctx context.Context, room hub.RoomID, in hub.AllowHostInput) (hub.Outcome[hub.Room], error) {
	name, port, err := hub.ParseHost(string(in.Host))
	if err != nil {
		return hub.Outcome[hub.Room]{}, err
	}
	in.Host = hub.AllowedHost(hub.HostPort(name, port))
	row, replayed, err := engine.Submit(ctx, h.engine, engine.Command[*core.Projects, hub.Room, hub.Room]{
		Owner: core.ProjectsOwner(), Agent: hub.AgentOperator,
		Decide: func(p *core.Projects, _ core.Now) (core.Decision[hub.Room], error) { return p.AllowHost(room, in) },
		Answer: func(row hub.Room, _ *core.Record) hub.Room { return row },
		Codec:  engine.JSONCodec[hub.Room](engine.EffectRoom),
	})
	return hub.Outcome[hub.Room]{Row: row, Replayed: replayed}, err
}
