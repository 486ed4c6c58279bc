package client

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/url"

	"hubcli/hub"
)

// AddDecision records what a room has agreed on.
func (c *Client) AddDecision(ctx context.Context, in hub.DecisionInput) (hub.Outcome[hub.Decision], error) {
	return post[hub.Decision](ctx, c, "/v1/decisions", in)
}

// Decisions lists decisions, latest first.
func (c *Client) Decisions(ctx context.Context, q hub.DecisionsQuery) ([]hub.Decision, hub.Cursor, error) {
	v := values{}
	v.text("room_id", string(q.RoomID))
	v.text("before", string(q.Before))
	v.text("agent_id", string(c.viewer("")))
	return list[hub.Decision](ctx, c, "/v1/decisions", v, q.Cursor, q.Limit)
}

// AddArtifact stores the next version of a title.
func (c *Client) AddArtifact(ctx context.Context, in hub.ArtifactInput) (hub.Outcome[hub.Artifact], error) {
	return post[hub.Artifact](ctx, c, "/v1/artifacts", in)
}

// Artifacts lists artifacts without content, latest first.
func (c *Client) Artifacts(ctx context.Context, q hub.ArtifactsQuery) ([]hub.Artifact, hub.Cursor, error) {
	v := values{}
	v.text("room_id", string(q.RoomID))
	v.text("before", string(q.Before))
	v.text("title", q.Title)
	v.text("kind", q.Kind)
	v.number("version", q.Version)
	if q.Latest {
		v.text("latest", "true")
	}
	v.text("agent_id", string(c.viewer("")))
	return list[hub.Artifact](ctx, c, "/v1/artifacts", v, q.Cursor, q.Limit)
}

// Artifact returns one artifact without content.
func (c *Client) Artifact(ctx context.Context, id hub.ArtifactID) (hub.Artifact, error) {
	if !segment(string(id)) {
		return hub.Artifact{}, errNoArtifact(id)
	}
	row, _, err := get[hub.Artifact](ctx, c, artifactPath(id), c.asViewer(), 0)
	return row, err
}

// ArtifactContent returns an artifact with its bytes, which are compared with
// their sum.
func (c *Client) ArtifactContent(ctx context.Context, id hub.ArtifactID) (hub.Content, error) {
	if !segment(string(id)) {
		return hub.Content{}, errNoArtifact(id)
	}
	v := c.asViewer()
	v.Set("encoding", "base64")
	content, _, err := get[hub.Content](ctx, c, artifactPath(id)+"/content", v, 0)
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
	return hub.NewError(hub.CodeArtifactNotFound, "this is no id of an artifact").With("artifact_id", id).
		WithFix("list the artifacts of a room with their ids: hubcli artifact list --room <room_id>")
}

// asViewer is the query of a read that needs no more than who reads.
func (c *Client) asViewer() url.Values {
	v := values{}
	v.text("agent_id", string(c.viewer("")))
	return url.Values(v)
}

func artifactPath(id hub.ArtifactID) string { return "/v1/artifacts/" + url.PathEscape(string(id)) }
