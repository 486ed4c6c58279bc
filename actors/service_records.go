package actors

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/actors/gate"
	"hubcli/hub"
)

// AddDecision records what a room has agreed on; see hub.Records.
func (h *Hub) AddDecision(ctx context.Context, in hub.DecisionInput) (hub.Outcome[hub.Decision], error) {
	act := gate.Act{Op: "addDecision", Agent: in.By, Room: in.RoomID}
	return changeRoom(ctx, h, &act, engine.EffectDecision, len(in.Note)+len(in.Metadata), func() (roomDecision[hub.Decision], error) {
		by := taskActor(ctx, in.By)
		return func(r *core.Room) (core.Decision[hub.Decision], error) { return r.AddDecision(in, by), nil }, nil
	})
}

// AddArtifact stores the next version of a title; see hub.Records.
func (h *Hub) AddArtifact(ctx context.Context, in hub.ArtifactInput) (hub.Outcome[hub.Artifact], error) {
	content, err := in.Content()
	if err != nil {
		return hub.Outcome[hub.Artifact]{}, err
	}
	act := gate.Act{Op: "addArtifact", Agent: in.By, Room: in.RoomID}
	return changeRoom(ctx, h, &act, engine.EffectArtifact, 2*len(content), func() (roomDecision[hub.Artifact], error) { // a second copy is held during the write
		sum := sha256.Sum256(content)
		command := core.ArtifactCommand{
			Title: in.Title, Kind: in.Kind, ContentType: in.ContentType,
			Content: content, SHA256: hex.EncodeToString(sum[:]),
		}
		by := taskActor(ctx, in.By)
		return func(r *core.Room) (core.Decision[hub.Artifact], error) { return r.AddArtifact(command, by) }, nil
	})
}

type roomDecision[T any] = func(*core.Room) (core.Decision[T], error)

// changeRoom has the owner of the act's room make a row there.
func changeRoom[T any](ctx context.Context, h *Hub, act *gate.Act, kind uint8, size int, prepare func() (roomDecision[T], error)) (hub.Outcome[T], error) {
	row, replayed, err := gate.Do(ctx, h.gate, act, engine.JSONCodec[T](kind), func() (c engine.Command[*core.Room, T, T], err error) {
		if _, err := h.view.Room(act.Room); err != nil {
			return c, err
		}
		decide, err := prepare()
		return engine.Command[*core.Room, T, T]{
			Owner: core.RoomOwner(act.Room), Size: size, Answer: asDecided[T],
			Decide: func(r *core.Room, _ core.Now) (core.Decision[T], error) { return decide(r) },
		}, err
	})
	return hub.Outcome[T]{Row: row, Created: true, Replayed: replayed}, err
}
