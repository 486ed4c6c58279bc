package actors

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/hub"
)

// AddDecision records what a room has agreed on; see hub.Records.
func (h *Hub) AddDecision(ctx context.Context, in hub.DecisionInput) (hub.Outcome[hub.Decision], error) {
	if _, err := h.view.Room(in.RoomID); err != nil {
		return hub.Outcome[hub.Decision]{}, err
	}
	by := taskActor(ctx, in.By)
	row, replayed, err := engine.Submit(ctx, h.engine, muting(ctx, h, in.RoomID, unpaused(ctx, h, in.RoomID, opened(h.view, in.RoomID, engine.Command[*core.Room, hub.Decision, hub.Decision]{
		Owner: core.RoomOwner(in.RoomID), Agent: in.By, Size: len(in.Note) + len(in.Metadata),
		Decide: func(r *core.Room, _ core.Now) (core.Decision[hub.Decision], error) {
			return r.AddDecision(in, by), nil
		},
		Answer: func(d hub.Decision, _ *core.Record) hub.Decision { return d },
		Codec:  engine.JSONCodec[hub.Decision](engine.EffectDecision),
	}))))
	return hub.Outcome[hub.Decision]{Row: row, Created: true, Replayed: replayed}, err
}

// AddArtifact stores the next version of a title; see hub.Records.
func (h *Hub) AddArtifact(ctx context.Context, in hub.ArtifactInput) (hub.Outcome[hub.Artifact], error) {
	if _, err := h.view.Room(in.RoomID); err != nil {
		return hub.Outcome[hub.Artifact]{}, err
	}
	content, err := in.Content()
	if err != nil {
		return hub.Outcome[hub.Artifact]{}, err
	}
	sum := sha256.Sum256(content)
	command := core.ArtifactCommand{
		Title: in.Title, Kind: in.Kind, ContentType: in.ContentType,
		Content: content, SHA256: hex.EncodeToString(sum[:]),
	}
	by := taskActor(ctx, in.By)
	row, replayed, err := engine.Submit(ctx, h.engine, muting(ctx, h, in.RoomID, unpaused(ctx, h, in.RoomID, opened(h.view, in.RoomID, engine.Command[*core.Room, hub.Artifact, hub.Artifact]{
		Owner: core.RoomOwner(in.RoomID), Agent: in.By, Size: 2 * len(content), // a second copy is held during the write
		Decide: func(r *core.Room, _ core.Now) (core.Decision[hub.Artifact], error) {
			return r.AddArtifact(command, by)
		},
		Answer: func(a hub.Artifact, _ *core.Record) hub.Artifact { return a },
		Codec:  engine.JSONCodec[hub.Artifact](engine.EffectArtifact),
	}))))
	return hub.Outcome[hub.Artifact]{Row: row, Created: true, Replayed: replayed}, err
}
