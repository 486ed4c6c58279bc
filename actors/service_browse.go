package actors

import (
	"context"
	"encoding/base64"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/actors/gate"
	"hubcli/hub"
)

// Browse does one step with the page of a room; see hub.Browses. What it answers is kept, and not
// the page itself, which ends with the process.
func (h *Hub) Browse(ctx context.Context, room hub.RoomID, in hub.BrowseInput) (hub.BrowsePage, error) {
	act := gate.Act{Op: "browse", Agent: in.AgentID, Room: room, Frees: in.Action == hub.BrowseClose}
	page, _, err := gate.Once(ctx, h.gate, &act, func() (hub.BrowsePage, error) {
		if h.options.Browser == nil {
			return hub.BrowsePage{}, hub.NewError(hub.CodeBrowserFailed, "this hub has no browser").WithFix("go on without a browser")
		}
		if _, err := h.view.Room(room); err != nil {
			return hub.BrowsePage{}, err
		}
		caller := *hub.CallerOf(ctx)
		caller.Idempotency = nil // it is the step's, and not that of the claim and the artifact
		return h.browse(hub.WithCaller(ctx, &caller), room, &in)
	})
	return page, err
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
	return changeProjects(ctx, h, ruling("allowHost"), 0, engine.EffectRoom,
		func(p *core.Projects) (core.Decision[hub.Room], error) { return p.AllowHost(room, in) })
}
