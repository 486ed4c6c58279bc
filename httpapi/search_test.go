package httpapi_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
)

// TestSearchFindsWhatRoomsKeep: decisions are found by title, note and
// metadata, artifacts by title and text, memories and messages of a room by
// their text. Each hit has its type and its room. Only the parties find a
// direct message.
func TestSearchFindsWhatRoomsKeep(t *testing.T) {
	c := newClient(t, testhub.Start(t))
	testhub.AwaitSearch(t, c.base)
	kitchen, cellar := newRoom(c, "House", "Kitchen"), newRoom(c, "House", "Cellar of wine")
	yard := newRoom(c, "Farm", "Yard")
	post := func(path, body string) answer {
		t.Helper()
		return c.ok(201, "POST", path, strings.NewReplacer("KITCHEN", kitchen, "CELLAR", cellar, "YARD", yard).Replace(body))
	}
	decision := fmt.Sprint(post("/v1/decisions", `{"room_id":"KITCHEN","title":"Bake with sourdough","note":"because leavening is slow","by":"chef","metadata":{"ticket":"BREAD-77","tags":["gl\u00fchend"],"weight":1250}}`).row("decision_id"))
	artifact := fmt.Sprint(post("/v1/artifacts", `{"room_id":"KITCHEN","title":"recipe.md","kind":"doc","by":"chef","body":"# Loaf\nKnead for twelve minutes, parseOven(220)."}`).row("artifact_id"))
	binary := fmt.Sprint(post("/v1/artifacts", `{"room_id":"KITCHEN","title":"photo of crust","kind":"image","content_base64":"/9j/4AAQa25lYWQ="}`).row("artifact_id"))
	memory := fmt.Sprint(post("/v1/memory", `{"room_id":"KITCHEN","key":"oven.heat","text":"preheat for an hour","tags":["gas"],"by":"chef"}`).row("memory_id"))
	shared := fmt.Sprint(post("/v1/memory", `{"room_id":"CELLAR","text":"preheat nothing in this house","scope":"project"}`).row("memory_id"))
	elsewhere := fmt.Sprint(post("/v1/memory", `{"room_id":"YARD","text":"preheat the tractor","scope":"project"}`).row("memory_id"))
	said := fmt.Sprint(post("/v1/messages", `{"from_agent":"chef","channel":"room-KITCHEN","body":"preheat now"}`).row("id"))
	secret := fmt.Sprint(post("/v1/messages", `{"from_agent":"chef","to_agent":"boss","channel":"room-KITCHEN","body":"preheat secretly"}`).row("id"))

	for _, q := range []struct {
		query string
		want  []string // type and id
	}{
		{"q=sourdough&type=decision", []string{"decision " + decision}},
		{"q=leavening&type=decision&from_agent=chef", []string{"decision " + decision}},
		{"q=leavening&type=decision&from_agent=boss", nil},
		{"q=bread-77", []string{"decision " + decision}},
		{"q=glühend+1250", []string{"decision " + decision}},
		{"q=twelve+minutes", []string{"artifact " + artifact}},
		{"q=parseoven", []string{"artifact " + artifact}},
		{"q=recipe.md&type=artifact", []string{"artifact " + artifact}},
		{"q=knead", []string{"artifact " + artifact}}, // not the bytes of the photo
		{"q=crust&type=artifact&kind=image", []string{"artifact " + binary}},
		{"q=oven.heat", []string{"memory " + memory}},
		{"q=gas", []string{"memory " + memory}},
		{"q=preheat", []string{"memory " + memory, "memory " + shared, "memory " + elsewhere, "message " + said}},
		{"q=preheat&room_id=" + kitchen, []string{"memory " + memory, "memory " + shared, "message " + said}},
		{"q=preheat&room_id=" + cellar, []string{"memory " + shared}},
		{"q=preheat&room_id=" + yard, []string{"memory " + elsewhere}},
		{"q=preheat&room_id=" + kitchen + "&agent_id=boss&type=message", []string{"message " + said, "message " + secret}},
		{"q=preheat&type=message&agent_id=chef", []string{"message " + said, "message " + secret}},
		{"q=secretly", nil},
		{"q=secretly&agent_id=spy", nil},
		{"q=secretly&agent_id=boss", []string{"message " + secret}},
	} {
		found := c.ok(200, "GET", "/v1/search?"+strings.ReplaceAll(q.query, "ü", url.QueryEscape("ü")), "")
		var rows []hub.Found
		require.NoError(t, json.Unmarshal(found.Result, &rows))
		got := []string{}
		for _, r := range rows {
			got = append(got, string(r.Type)+" "+r.ID)
			if len(r.Matches) == 0 || r.Snippet == "" {
				t.Errorf("%s: %+v shows no match", q.query, r)
			}
		}
		slices.Sort(got)
		slices.Sort(q.want)
		if !slices.Equal(got, q.want) {
			t.Errorf("%s finds %q, want %q", q.query, got, q.want)
		}
	}
	var rows []hub.Found
	if err := json.Unmarshal(c.ok(200, "GET", "/v1/search?q=leavening&type=decision", "").Result, &rows); err != nil || len(rows) != 1 {
		t.Fatalf("%+v, %v", rows, err)
	}
	if r := rows[0]; r.Title != "Bake with sourdough" || r.FromAgent != "chef" || r.RoomID == nil || string(*r.RoomID) != kitchen || !strings.Contains(r.Snippet, "because leavening is slow") {
		t.Errorf("the decision is found as %+v", r)
	}
}
