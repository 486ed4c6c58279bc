package client_test

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"hubcli/hub"
)

func init() { methods = append(methods, recordMethods...) }

// helloSum is the SHA-256 of "hello".
const helloSum = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"

var recordMethods = []asked{
	row("AddDecision", in(hub.DecisionInput{RoomID: "r_1", Title: "t", Note: "n", By: "a", Metadata: []byte(`{"x":1}`)}),
		sent{op: "addDecision", body: `{"room_id":"r_1","title":"t","note":"n","by":"a","metadata":{"x":1}}`},
		says(201, `{"ok":true,"result":{"decision_id":"d_1"}}`), hub.Outcome[hub.Decision]{Created: true, Row: hub.Decision{DecisionID: "d_1"}}),
	row("Decisions", in(hub.DecisionsQuery{RoomID: "r_1", Limit: 3}), sent{op: "listDecisions", query: "agent_id=me&limit=3&room_id=r_1"},
		says(200, `{"ok":true,"result":[{"decision_id":"d_1"}]}`), []hub.Decision{{DecisionID: "d_1"}}),
	row("Decision", in("d_1"), sent{op: "getDecision", param: "d_1", query: "agent_id=me"}, says(200, `{"ok":true,"result":{"decision_id":"d_1"}}`),
		hub.Decision{DecisionID: "d_1"}),
	row("AddArtifact", in(hub.ArtifactInput{RoomID: "r_1", Title: "t", Kind: "k", Body: ptr("")}),
		sent{op: "addArtifact", body: `{"room_id":"r_1","title":"t","kind":"k","body":""}`}, says(201, `{"ok":true,"result":{"artifact_id":"a_1"}}`),
		hub.Outcome[hub.Artifact]{Created: true, Row: hub.Artifact{ArtifactID: "a_1"}}),
	row("Artifacts", in(hub.ArtifactsQuery{RoomID: "r_1", Title: "a plan", Kind: "k", Latest: true, Limit: 3}),
		sent{op: "listArtifacts", query: "agent_id=me&kind=k&latest=true&limit=3&room_id=r_1&title=a+plan"},
		says(200, `{"ok":true,"result":[{"artifact_id":"a_1"}]}`), []hub.Artifact{{ArtifactID: "a_1"}}),
	row("Artifact", in("a_1"), sent{op: "getArtifact", param: "a_1", query: "agent_id=me"}, says(200, `{"ok":true,"result":{"artifact_id":"a_1"}}`),
		hub.Artifact{ArtifactID: "a_1"}),
	row("ArtifactContent", in("a_1"), sent{op: "getArtifactContent", param: "a_1", query: "agent_id=me&encoding=base64"},
		says(200, `{"ok":true,"result":{"artifact":{"sha256":"`+helloSum+`"},"content_base64":"aGVsbG8="}}`),
		hub.Content{Artifact: hub.Artifact{SHA256: helloSum}, Data: []byte("hello")}),
	row("CreateInvite", in(hub.InviteInput{Project: "p", Room: "r", Role: "x", MaxUses: 2}),
		sent{op: "createInvite", body: `{"project":"p","room":"r","role":"x","max_uses":2}`},
		says(201, `{"ok":true,"result":{"invite_id":"i_1","code":"AAAA-0000"}}`),
		hub.Outcome[hub.Invite]{Created: true, Row: hub.Invite{InviteID: "i_1", Code: "AAAA-0000"}}),
	row("Invites", in(hub.InvitesQuery{Project: "p", Room: "r", State: hub.InviteActive, Limit: 3}),
		sent{op: "listInvites", query: "agent_id=me&limit=3&project=p&room=r&state=active"}, says(200, `{"ok":true,"result":[{"invite_id":"i_1"}]}`),
		[]hub.Invite{{InviteID: "i_1"}}),
	row("PreviewInvite", in("AAAA 0000"), sent{op: "previewInvite", param: "AAAA 0000"}, says(200, `{"ok":true,"result":{"invite":{"invite_id":"i_1"}}}`),
		hub.InvitePreview{Invite: hub.Invite{InviteID: "i_1"}}),
	row("RevokeInvite", in("i_1"), sent{op: "revokeInvite", param: "i_1", body: `{}`}, says(200, `{"ok":true,"result":{"invite_id":"i_1"}}`),
		hub.Outcome[hub.Invite]{Row: hub.Invite{InviteID: "i_1"}}),
	row("AcceptInvite", in("AAAA-0000", hub.AcceptInput{AgentID: "a"}), sent{op: "acceptInvite", param: "AAAA-0000", body: `{"agent_id":"a"}`},
		says(201, `{"ok":true,"result":{"session":{"session_id":"s.x"},"resume_key":"k","requested":"b"}}`),
		hub.Outcome[hub.Joined]{Created: true, Row: hub.Joined{Session: hub.Session{SessionID: "s.x"}, ResumeKey: "k", Requested: "b"}}),
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
