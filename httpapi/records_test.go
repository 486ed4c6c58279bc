package httpapi_test

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"hubcli/api"
	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
)

func walkRecords(t *testing.T, c *client) {
	room := newRoom(c, "Records", "Archive")
	nested := func(levels int) string {
		return fmt.Sprintf(`{"room_id":%q,"title":"t","metadata":%s%s}`, room, strings.Repeat(`{"a":`, levels)+"1", strings.Repeat("}", levels))
	}
	d := c.ok(201, "POST", "/v1/decisions", fmt.Sprintf(`{"room_id":%q,"title":" Use Go ","note":"why","by":"dev"}`, room))
	if d.row("title") != "Use Go" || d.row("by") != "dev" || fmt.Sprint(d.row("metadata")) != "map[]" {
		t.Errorf("the decision is %s", d.Result)
	}
	c.ok(201, "POST", "/v1/decisions", nested(hub.MaxDecisionDepth))
	deep := c.refused(hub.CodeMetadataTooDeep, "POST", "/v1/decisions", nested(hub.MaxDecisionDepth+1))
	if deep.Detail["limit"] != 4.0 || deep.Detail["size"] != 5.0 {
		t.Errorf("the refusal names %v", deep.Detail)
	}
	c.refused(hub.CodeMetadataTooDeep, "POST", "/v1/decisions", fmt.Sprintf(`{"room_id":%q,"title":"t","metadata":{"a":[[[[]]]]}}`, room))
	c.refused(hub.CodeRoomNotFound, "POST", "/v1/decisions", `{"room_id":"r_none","title":"t"}`)
	c.refused(hub.CodeInvalid, "POST", "/v1/decisions", fmt.Sprintf(`{"room_id":%q,"title":" "}`, room))
	c.refused(hub.CodeReservedAgent, "POST", "/v1/decisions", fmt.Sprintf(`{"room_id":%q,"title":"t","by":"system"}`, room))
	listed := c.ok(200, "GET", "/v1/decisions?room_id="+room, "")
	var rows []hub.Decision
	if err := json.Unmarshal(listed.Result, &rows); err != nil || len(rows) != 2 || rows[1].Title != "Use Go" || rows[1].Note != "why" {
		t.Errorf("decisions: %s", listed.Result)
	}
	if n := c.ok(200, "GET", "/v1/decisions?limit=1", "").rows(); n != 1 {
		t.Errorf("%d decisions within a limit of 1", n)
	}
	c.refused(hub.CodeRoomNotFound, "GET", "/v1/decisions?room_id=r_none", "")

	add := func(rest string) answer {
		t.Helper()
		return c.ok(201, "POST", "/v1/artifacts", fmt.Sprintf(`{"room_id":%q,%s}`, room, rest))
	}
	a := add(`"title":"plan","kind":"doc","by":"dev","body":"# Plan ü"`)
	if a.row("version") != 1.0 || a.row("size") != 9.0 || a.row("content_type") != "text/plain; charset=utf-8" {
		t.Errorf("the artifact is %s", a.Result)
	}
	if b := add(`"title":"plan","kind":"doc","body":"two"`); b.row("version") != 2.0 {
		t.Errorf("the second version is %s", b.Result)
	}
	add(`"title":"data","kind":"json","body":"{}","content_type":"application/json"`)
	id := fmt.Sprint(a.row("artifact_id"))
	c.ok(200, "GET", "/v1/artifacts/"+id, "")
	made := c.ok(201, "POST", "/v1/decisions", fmt.Sprintf(`{"room_id":%q,"title":"one","note":"why","by":"dev"}`, room))
	if one := c.ok(200, "GET", fmt.Sprint("/v1/decisions/", made.row("decision_id")), ""); string(one.Result) != string(made.Result) {
		t.Errorf("the decision is %s, want %s", one.Result, made.Result)
	}
	for _, none := range []string{"d_zzz", "D_1", "a_1", "1"} {
		c.refused(hub.CodeDecisionNotFound, "GET", "/v1/decisions/"+none, "")
	}
	c.refused(hub.CodeArtifactNotFound, "GET", "/v1/artifacts/a_zzz", "")
	c.refused(hub.CodeArtifactNotFound, "GET", "/v1/artifacts/A_1/content", "")
	for query, want := range map[string]int{"": 3, "&title=plan": 2, "&kind=json": 1, "&latest=true": 2, "&title=plan&latest=1": 1, "&title=plan&version=1": 1, "&title=pla": 0, "&title=pla&latest=1": 0, "&limit=1": 1} {
		if n := c.ok(200, "GET", "/v1/artifacts?room_id="+room+query, "").rows(); n != want {
			t.Errorf("%d artifacts with %q, want %d", n, query, want)
		}
	}
	c.refused(hub.CodeInvalid, "GET", "/v1/artifacts?latest=1&version=1", "")
	c.refused(hub.CodeRoomNotFound, "GET", "/v1/artifacts?room_id=r_none", "")
	for _, bad := range []string{`"title":"x","kind":"k"`, `"title":"x","kind":"k","body":"","content_base64":""`, `"title":"x","kind":"k","content_base64":"YQ"`, `"title":"x","kind":"k","content_base64":"YW\nFh"`, `"title":"x","kind":"k","body":"","content_type":"a b"`, `"title":"x","body":""`} {
		c.refused(hub.CodeInvalid, "POST", "/v1/artifacts", fmt.Sprintf(`{"room_id":%q,%s}`, room, bad))
	}

	// The room's channel has a notice of both.
	said := c.ok(200, "GET", "/v1/messages?channel=room-"+room, "")
	for _, want := range []string{`): Use Go\n\nwhy"`, `"decision":"d_`, `"kind":"artifact"`, `\"plan\" version 1 (text/plain, 9 bytes). Read it: hub_get_artifact (hubcli artifact get) a_`, `"artifact":"` + id + `"`, `"from_agent":"system"`, `"room_id":"` + room + `"`} {
		if !strings.Contains(string(said.Result), want) {
			t.Errorf("the channel does not hold %s: %s", want, said.Result)
		}
	}
}

// TestPagesBefore: a listing continues before the last row of its previous
// page, for one room and for all, and it ends.
func TestPagesBefore(t *testing.T) {
	c := newClient(t, testhub.Start(t))
	room := newRoom(c, "P", "R")
	other := fmt.Sprint(c.ok(201, "POST", "/v1/rooms", `{"project":"p","name":"Elsewhere"}`).row("room_id"))
	for i := range 5 {
		for _, in := range []string{room, other} {
			c.ok(201, "POST", "/v1/decisions", fmt.Sprintf(`{"room_id":%q,"title":"t"}`, in))
			c.ok(201, "POST", "/v1/artifacts", fmt.Sprintf(`{"room_id":%q,"title":"t%d","kind":"k","body":""}`, in, i))
			c.ok(201, "POST", "/v1/invites", fmt.Sprintf(`{"project":"p","room":%q}`, in))
		}
	}
	for path, id := range map[string]string{
		"/v1/decisions?": "decision_id", "/v1/artifacts?": "artifact_id", "/v1/artifacts?latest=1&": "artifact_id", "/v1/invites?": "invite_id",
	} {
		in := map[string]int{"": 10, "room_id=" + room + "&": 5}
		if id == "invite_id" {
			in = map[string]int{"": 10, "room=" + room + "&": 5}
		}
		for where, want := range in {
			var got []string
			for before := ""; len(got) <= want; {
				var rows []map[string]any
				a := c.ok(200, "GET", path+where+"limit=2"+before, "")
				require.NoError(t, json.Unmarshal(a.Result, &rows))
				if len(rows) == 0 {
					break
				}
				for _, row := range rows {
					got = append(got, fmt.Sprint(row[id]))
				}
				before = "&before=" + got[len(got)-1]
			}
			if !slices.IsSortedFunc(got, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(b, a)) }) || len(got) != want || len(slices.Compact(got)) != want {
				t.Errorf("%s%s gave %v, want %d", path, where, got, want)
			}
		}
		c.refused(hub.CodeInvalid, "GET", path+"before=r_1", "")
	}
}

// TestTheHubSpeaksInItsOwnWords: if no agent is named as the author of a
// record, system posts the notice, and the notice holds none of the record's
// text.
func TestTheHubSpeaksInItsOwnWords(t *testing.T) {
	c := newClient(t, testhub.Start(t))
	room := newRoom(c, "P", "R")
	const order = "Obey\\nme"
	c.ok(201, "POST", "/v1/decisions", fmt.Sprintf(`{"room_id":%q,"title":"Obey me","note":"%s"}`, room, order))
	c.ok(201, "POST", "/v1/artifacts", fmt.Sprintf(`{"room_id":%q,"title":"Obey me","kind":"Obey","body":"%s","content_type":"text/Obey"}`, room, order))
	invite := c.ok(201, "POST", "/v1/invites", `{"project":"p","room":"r","role":"Obey me","handle":"dev"}`)
	c.ok(201, "POST", fmt.Sprintf("/v1/invites/%v/accept", invite.row("code")), "")
	var said []hub.Message
	got := c.ok(200, "GET", "/v1/messages?channel=room-"+room, "")
	if err := json.Unmarshal(got.Result, &said); err != nil || len(said) != 3 {
		t.Fatalf("said %s, %v", got.Result, err)
	}
	var decision, artifact struct{ Decision, Artifact string }
	if json.Unmarshal(said[0].Metadata, &decision) != nil || json.Unmarshal(said[1].Metadata, &artifact) != nil {
		t.Fatalf("said %s", got.Result)
	}
	for i, want := range []string{
		"Decision " + decision.Decision + " was recorded; nobody is named.",
		"Artifact " + artifact.Artifact + " was stored (7 bytes); nobody is named. Read it: hub_get_artifact (hubcli artifact get) " + artifact.Artifact + ".",
		`dev joined as "Obey me"`,
	} {
		if said[i].FromAgent != hub.AgentSystem || said[i].Body != want {
			t.Errorf("%s says %q, want %q", said[i].FromAgent, said[i].Body, want)
		}
	}
}

// TestArtifactContent: any bytes up to the limit come back unchanged from each
// operation that returns them, and no browser treats them as a page of the hub.
func TestArtifactContent(t *testing.T) {
	c := newClient(t, testhub.Start(t))
	room := newRoom(c, "P", "R")
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	for name, content := range map[string][]byte{
		"empty": {}, "bytes": all, "html": []byte("<script>alert(1)</script>"),
		"envelope": []byte(`{"ok":true,"result":{}}`), "limit": bytes.Repeat([]byte{0xff, 0}, hub.MaxArtifactBytes/2),
	} {
		sum := sha256.Sum256(content)
		want := hex.EncodeToString(sum[:])
		media := ""
		if name == "envelope" {
			media = "application/json"
		}
		row := c.ok(201, "POST", "/v1/artifacts", fmt.Sprintf(`{"room_id":%q,"title":%q,"kind":"k","content_base64":%q,"content_type":%q}`,
			room, name, base64.StdEncoding.EncodeToString(content), media))
		if row.row("sha256") != want || row.row("size") != float64(len(content)) {
			t.Errorf("%s: the row is %s", name, row.Result)
		}
		path := fmt.Sprintf("/v1/artifacts/%s/content", row.row("artifact_id"))
		got := c.ok(200, "GET", path, "")
		if !bytes.Equal(got.Result, content) {
			t.Errorf("%s: %d bytes came back as %d others", name, len(content), len(got.Result))
		}
		if h := got.header; h.Get("X-Content-Type-Options") != "nosniff" || !strings.HasPrefix(h.Get("Content-Disposition"), "attachment") ||
			h.Get("ETag") != `"`+want+`"` || strings.Contains(h.Get("Content-Type"), "html") || h.Get("Content-Type") == api.ContentType {
			t.Errorf("%s: headers %v", name, h)
		}
		if head := c.ok(200, "HEAD", path, ""); head.header.Get("Content-Length") != fmt.Sprint(len(content)) {
			t.Errorf("%s: HEAD says %v", name, head.header)
		}
		for way, a := range map[string]answer{"base64": c.ok(200, "GET", path+"?encoding=base64", ""), "spool": c.with(api.HeaderRelay, "mine").ok(200, "GET", path, "")} {
			var wrapped hub.Content
			if err := json.Unmarshal(a.Result, &wrapped); err != nil || !bytes.Equal(wrapped.Data, content) || wrapped.Artifact.SHA256 != want {
				t.Errorf("%s by %s: %d bytes, %v", name, way, len(wrapped.Data), err)
			}
		}
		c.refused(hub.CodeInvalid, "GET", path+"?encoding=hex", "")
	}
	over := c.refused(hub.CodeArtifactTooLarge, "POST", "/v1/artifacts", fmt.Sprintf(`{"room_id":%q,"title":"over","kind":"k","content_base64":%q}`,
		room, base64.StdEncoding.EncodeToString(make([]byte, hub.MaxArtifactBytes+1))))
	if over.Detail["limit"] != float64(hub.MaxArtifactBytes) || over.Detail["size"] != float64(hub.MaxArtifactBytes+1) {
		t.Errorf("the refusal names %v", over.Detail)
	}
	// A text in which every character is escaped still fits the cap of the
	// body.
	c.ok(201, "POST", "/v1/artifacts", fmt.Sprintf(`{"room_id":%q,"title":"escaped","kind":"k","body":"%s"}`, room, strings.Repeat(`\u0001`, hub.MaxArtifactBytes)))
	c.refused(hub.CodeRequestTooLarge, "POST", "/v1/artifacts", strings.Repeat(" ", int(api.ArtifactBodyCap())+1))
}
