package client_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"hubcli/api/client"
	"hubcli/hub"
)

func init() { methods = append(methods, recordMethods...) }

// helloSum is the SHA-256 of "hello".
const helloSum = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"

var recordMethods = []asked{
	{
		name: "AddDecision", method: "POST", uri: "/v1/decisions", body: `{"room_id":"r_1","title":"t","note":"n","by":"a","metadata":{"x":1}}`,
		answer: says(201, `{"ok":true,"result":{"decision_id":"d_1"}}`),
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return c.AddDecision(ctx, hub.DecisionInput{RoomID: "r_1", Title: "t", Note: "n", By: "a", Metadata: []byte(`{"x":1}`)})
		},
		want: hub.Outcome[hub.Decision]{Created: true, Row: hub.Decision{DecisionID: "d_1"}},
	},
	{
		name: "Decisions", method: "GET", uri: "/v1/decisions?agent_id=me&limit=3&room_id=r_1",
		answer: says(200, `{"ok":true,"result":[{"decision_id":"d_1"}]}`),
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return rowsOf(c.Decisions(ctx, hub.DecisionsQuery{RoomID: "r_1", Limit: 3}))
		},
		want: []hub.Decision{{DecisionID: "d_1"}},
	},
	{
		name: "AddArtifact", method: "POST", uri: "/v1/artifacts", body: `{"room_id":"r_1","title":"t","kind":"k","body":""}`,
		answer: says(201, `{"ok":true,"result":{"artifact_id":"a_1"}}`),
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return c.AddArtifact(ctx, hub.ArtifactInput{RoomID: "r_1", Title: "t", Kind: "k", Body: ptr("")})
		},
		want: hub.Outcome[hub.Artifact]{Created: true, Row: hub.Artifact{ArtifactID: "a_1"}},
	},
	{
		name: "Artifacts", method: "GET", uri: "/v1/artifacts?agent_id=me&kind=k&latest=true&limit=3&room_id=r_1&title=a+plan",
		answer: says(200, `{"ok":true,"result":[{"artifact_id":"a_1"}]}`),
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return rowsOf(c.Artifacts(ctx, hub.ArtifactsQuery{RoomID: "r_1", Title: "a plan", Kind: "k", Latest: true, Limit: 3}))
		},
		want: []hub.Artifact{{ArtifactID: "a_1"}},
	},
	{
		name: "Artifact", method: "GET", uri: "/v1/artifacts/a_1?agent_id=me", answer: says(200, `{"ok":true,"result":{"artifact_id":"a_1"}}`),
		call: func(ctx context.Context, c *client.Client) (any, error) { return c.Artifact(ctx, "a_1") },
		want: hub.Artifact{ArtifactID: "a_1"},
	},
	{
		name: "ArtifactContent", method: "GET", uri: "/v1/artifacts/a_1/content?agent_id=me&encoding=base64",
		answer: says(200, `{"ok":true,"result":{"artifact":{"sha256":"`+helloSum+`"},"content_base64":"aGVsbG8="}}`),
		call:   func(ctx context.Context, c *client.Client) (any, error) { return c.ArtifactContent(ctx, "a_1") },
		want:   hub.Content{Artifact: hub.Artifact{SHA256: helloSum}, Data: []byte("hello")},
	},
	{
		name: "CreateInvite", method: "POST", uri: "/v1/invites", body: `{"project":"p","room":"r","role":"x","max_uses":2}`,
		answer: says(201, `{"ok":true,"result":{"invite_id":"i_1","code":"AAAA-0000"}}`),
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return c.CreateInvite(ctx, hub.InviteInput{Project: "p", Room: "r", Role: "x", MaxUses: 2})
		},
		want: hub.Outcome[hub.Invite]{Created: true, Row: hub.Invite{InviteID: "i_1", Code: "AAAA-0000"}},
	},
	{
		name: "Invites", method: "GET", uri: "/v1/invites?agent_id=me&limit=3&project=p&room=r&state=active",
		answer: says(200, `{"ok":true,"result":[{"invite_id":"i_1"}]}`),
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return rowsOf(c.Invites(ctx, hub.InvitesQuery{Project: "p", Room: "r", State: hub.InviteActive, Limit: 3}))
		},
		want: []hub.Invite{{InviteID: "i_1"}},
	},
	{
		name: "PreviewInvite", method: "GET", uri: "/v1/invites/AAAA%200000",
		answer: says(200, `{"ok":true,"result":{"invite":{"invite_id":"i_1"}}}`),
		call:   func(ctx context.Context, c *client.Client) (any, error) { return c.PreviewInvite(ctx, "AAAA 0000") },
		want:   hub.InvitePreview{Invite: hub.Invite{InviteID: "i_1"}},
	},
	{
		name: "RevokeInvite", method: "POST", uri: "/v1/invites/i_1/revoke", body: `{}`,
		answer: says(200, `{"ok":true,"result":{"invite_id":"i_1"}}`),
		call:   func(ctx context.Context, c *client.Client) (any, error) { return c.RevokeInvite(ctx, "i_1") },
		want:   hub.Outcome[hub.Invite]{Row: hub.Invite{InviteID: "i_1"}},
	},
	{
		name: "AcceptInvite", method: "POST", uri: "/v1/invites/AAAA-0000/accept", body: `{"agent_id":"a"}`,
		answer: says(201, `{"ok":true,"result":{"session":{"session_id":"s.x"},"resume_key":"k","requested":"b"}}`),
		call: func(ctx context.Context, c *client.Client) (any, error) {
			return c.AcceptInvite(ctx, "AAAA-0000", hub.AcceptInput{AgentID: "a"})
		},
		want: hub.Outcome[hub.Joined]{Created: true, Row: hub.Joined{Session: hub.Session{SessionID: "s.x"}, ResumeKey: "k", Requested: "b"}},
	},
}

// TestContentIsCompared: bytes that are not those of the artifact are not taken
// for it.
func TestContentIsCompared(t *testing.T) {
	sum := sha256.Sum256([]byte("hello"))
	if hex.EncodeToString(sum[:]) != helloSum {
		t.Fatal("helloSum is wrong")
	}
	h := newFakeHub(t, says(200, `{"ok":true,"result":{"artifact":{"sha256":"`+helloSum+`"},"content_base64":"aGVsbG8h"}}`))
	if got, err := h.client(t, nil).ArtifactContent(t.Context(), "a_1"); err == nil {
		t.Errorf("%q was taken", got.Data)
	}
}

// TestPathsOfNames: a name that would change the path is asked of no hub.
func TestPathsOfNames(t *testing.T) {
	h := newFakeHub(t)
	c := h.client(t, nil)
	for _, name := range []string{"", ".", "..", "a/b"} {
		_, err1 := c.PreviewInvite(t.Context(), name)
		_, err2 := c.RevokeInvite(t.Context(), name)
		_, err3 := c.AcceptInvite(t.Context(), name, hub.AcceptInput{})
		_, err4 := c.Artifact(t.Context(), hub.ArtifactID(name))
		_, err5 := c.ArtifactContent(t.Context(), hub.ArtifactID(name))
		for i, err := range []error{err1, err2, err3, err4, err5} {
			if err == nil {
				t.Errorf("call %d took the name %q", i, name)
			}
		}
	}
	if n := len(h.requests()); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}
