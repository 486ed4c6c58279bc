package actors

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"math"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/actors/view"
	"hubcli/hub"
)

// AddDecision records what a room has agreed on; see hub.Records.
func (h *Hub) AddDecision(ctx context.Context, in hub.DecisionInput) (hub.Outcome[hub.Decision], error) {
	if _, err := h.view.Room(in.RoomID); err != nil {
		return hub.Outcome[hub.Decision]{}, err
	}
	by := taskActor(ctx, in.By)
	row, replayed, err := engine.Submit(ctx, h.engine, engine.Command[*core.Room, hub.Decision, hub.Decision]{
		Owner: core.RoomOwner(in.RoomID), Agent: in.By, Size: len(in.Note) + len(in.Metadata),
		Decide: func(r *core.Room, _ core.Now) (core.Decision[hub.Decision], error) {
			return r.AddDecision(in, by), nil
		},
		Answer: func(d hub.Decision, _ *core.Record) hub.Decision { return d },
		Codec:  engine.JSONCodec[hub.Decision](engine.EffectDecision),
	})
	return hub.Outcome[hub.Decision]{Row: row, Created: true, Replayed: replayed}, err
}

// Decisions lists decisions, latest first; see hub.Records.
func (h *Hub) Decisions(_ context.Context, q hub.DecisionsQuery) ([]hub.Decision, hub.Cursor, error) {
	if q.RoomID != "" {
		if _, err := h.view.Room(q.RoomID); err != nil {
			return nil, "", err
		}
	}
	before, err := h.beforeSeq(listDecisions, q.Cursor, core.PrefixDecision, string(q.Before))
	if err != nil {
		return nil, "", err
	}
	out, n := []hub.Decision{}, pageRows(q.Limit)
	err = view.LatestRows(h.rows, core.TableDecision, core.TableDecisionByRoom, q.RoomID, before, func(d hub.Decision) bool {
		out = append(out, d)
		return len(out) <= n
	})
	out, next := paged(h, listDecisions, out, n, func(d *hub.Decision) []byte { return view.IDKey(core.PrefixDecision, d.DecisionID) })
	return out, next, err
}

// beforeSeq reads where a listing goes on: behind its cursor and before an id;
// without either it begins with the latest. The thing need not exist. invalid.
func (h *Hub) beforeSeq(list listOf, c hub.Cursor, prefix, id string) (hub.Seq, error) {
	place, err := h.numberPlace(list, c)
	if err != nil {
		return 0, err
	}
	before, err := beforeID(prefix, id)
	return min(before, hub.Seq(place)), err
}

// beforeID is beforeSeq without a cursor.
func beforeID(prefix, id string) (hub.Seq, error) {
	if id == "" {
		return math.MaxUint64, nil
	}
	seq, ok := core.SeqOf(prefix, id)
	if !ok {
		return 0, hub.Invalid("before", "before is no id of what is listed").
			WithFix("give the id of the last row of the answer before: " + prefix + "_…; or go on with cursor")
	}
	return seq, nil
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
	row, replayed, err := engine.Submit(ctx, h.engine, engine.Command[*core.Room, hub.Artifact, hub.Artifact]{
		Owner: core.RoomOwner(in.RoomID), Agent: in.By, Size: 2 * len(content), // it is held once more while it is written
		Decide: func(r *core.Room, _ core.Now) (core.Decision[hub.Artifact], error) {
			return r.AddArtifact(command, by)
		},
		Answer: func(a hub.Artifact, _ *core.Record) hub.Artifact { return a },
		Codec:  engine.JSONCodec[hub.Artifact](engine.EffectArtifact),
	})
	return hub.Outcome[hub.Artifact]{Row: row, Created: true, Replayed: replayed}, err
}

// Artifact returns one without content; see hub.Records.
func (h *Hub) Artifact(_ context.Context, id hub.ArtifactID) (hub.Artifact, error) {
	seq, ok := core.SeqOf(core.PrefixArtifact, string(id))
	if !ok {
		return hub.Artifact{}, errArtifactNotFound(id)
	}
	a, err := view.StoredRow[hub.Artifact](h.rows, core.TableArtifact, core.SeqKey(seq))
	if errors.Is(err, core.ErrNotFound) {
		return a, errArtifactNotFound(id)
	}
	return a, err
}

// ArtifactContent returns one with its bytes; see hub.Records. corrupt_record if
// they are not what was stored.
func (h *Hub) ArtifactContent(ctx context.Context, id hub.ArtifactID) (hub.Content, error) {
	a, err := h.Artifact(ctx, id)
	if err != nil {
		return hub.Content{}, err
	}
	seq, _ := core.SeqOf(core.PrefixArtifact, string(id))
	data, err := h.rows.Row(core.TableArtifactContent, core.SeqKey(seq))
	if err != nil && !errors.Is(err, core.ErrNotFound) {
		return hub.Content{}, err
	}
	if sum := sha256.Sum256(data); err != nil || hex.EncodeToString(sum[:]) != a.SHA256 {
		return hub.Content{}, hub.NewError(hub.CodeCorruptRecord, "the content of the artifact is not what was stored").
			With("artifact_id", id)
	}
	if data == nil {
		data = []byte{}
	}
	return hub.Content{Artifact: a, Data: data}, nil
}

func errArtifactNotFound(id hub.ArtifactID) error {
	return hub.NewError(hub.CodeArtifactNotFound, "there is no such artifact").With("artifact_id", id).
		WithFix("GET /v1/artifacts?room_id= lists the artifacts of a room with their ids")
}
