package client

import (
	"context"
	"crypto/sha256"
	"encoding/hex"

	"hubcli/hub"
)

// Decisions lists decisions, latest first.
func (c *Client) Decisions(ctx context.Context, q hub.DecisionsQuery) ([]hub.Decision, hub.Cursor, error) {
	return list[hub.Decision](ctx, c, to("listDecisions"), params("room_id", q.RoomID, "before", q.Before,
		"agent_id", c.viewer("")), q.Cursor, q.Limit)
}

// Decision returns one decision.
func (c *Client) Decision(ctx context.Context, id hub.DecisionID) (hub.Decision, error) {
	if !segment(string(id)) {
		return hub.Decision{}, hub.NewError(hub.CodeDecisionNotFound, "this is no id of a decision").With("decision_id", id)
	}
	return get[hub.Decision](ctx, c, at("getDecision", id), params("agent_id", c.viewer("")))
}

// Artifacts lists artifacts without content, latest first.
func (c *Client) Artifacts(ctx context.Context, q hub.ArtifactsQuery) ([]hub.Artifact, hub.Cursor, error) {
	return list[hub.Artifact](ctx, c, to("listArtifacts"), params("room_id", q.RoomID, "before", q.Before, "title", q.Title,
		"kind", q.Kind, "version", q.Version, "latest", q.Latest, "agent_id", c.viewer("")), q.Cursor, q.Limit)
}

// Artifact returns one artifact without content.
func (c *Client) Artifact(ctx context.Context, id hub.ArtifactID) (hub.Artifact, error) {
	if !segment(string(id)) {
		return hub.Artifact{}, errNoArtifact(id)
	}
	return get[hub.Artifact](ctx, c, at("getArtifact", id), params("agent_id", c.viewer("")))
}

// ArtifactContent returns an artifact with its bytes, and compares the bytes
// with their checksum.
func (c *Client) ArtifactContent(ctx context.Context, id hub.ArtifactID) (hub.Content, error) {
	if !segment(string(id)) {
		return hub.Content{}, errNoArtifact(id)
	}
	content, err := get[hub.Content](ctx, c, at("getArtifactContent", id), params("agent_id", c.viewer(""), "encoding", "base64"))
	if err != nil {
		return hub.Content{}, err
	}
	if sum := sha256.Sum256(content.Data); hex.EncodeToString(sum[:]) != content.Artifact.SHA256 {
		return hub.Content{}, c.notAHub("the content that it sent is not that of the artifact")
	}
	if content.Data == nil {
		content.Data = []byte{}
	}
	return content, nil
}

func errNoArtifact(id hub.ArtifactID) error {
	return hub.NewError(hub.CodeArtifactNotFound, "this is no id of an artifact").With("artifact_id", id)
}
