package httpapi_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"hubcli/api"
	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
)

// planned returns what a plan finds.
func planned(t *testing.T, operator *client, body string) (plan hub.ClearPlan) {
	t.Helper()
	require.NoError(t, json.Unmarshal(operator.ok(200, "POST", "/v1/clear/plan", body).Result, &plan))
	return plan
}

// confirmation is the body that closes the things of a plan.
func confirmation(plan *hub.ClearPlan) string {
	in := hub.ClearConfirmInput{Kind: plan.Kind, Digest: plan.Digest, Delete: plan.Delete}
	for _, row := range plan.Rows {
		in.IDs = append(in.IDs, row.ID)
	}
	body, _ := json.Marshal(in)
	return string(body)
}

// walkClear makes each error of clearing.
func walkClear(_ *testing.T, c *client, h *testhub.Hub) {
	operator := c.with(api.HeaderOperator, h.Store.OperatorToken())
	c.refused(hub.CodeOperatorRequired, "POST", "/v1/clear/plan", `{"kind":"rooms"}`)
	c.refused(hub.CodeOperatorRequired, "POST", "/v1/clear", `{"kind":"rooms","ids":["r_1"],"digest":"x"}`)
	for _, body := range []string{
		`{}`, `{"kind":"agents"}`, `{"kind":"rooms","by":"a","unnamed":true}`, `{"kind":"rooms","older_sec":0}`,
		`{"kind":"channels","room_id":"r_1"}`, `{"kind":"projects","project":"shop"}`, `{"kind":"questions","project":"shop"}`,
		`{"kind":"seats","archived":true}`,
		`{"kind":"rooms","room_id":"r_1"}`, `{"kind":"seats","project":"shop","room_id":"r_1"}`,
	} {
		operator.refused(hub.CodeInvalid, "POST", "/v1/clear/plan", body)
	}
	operator.refused(hub.CodeProjectNotFound, "POST", "/v1/clear/plan", `{"kind":"rooms","project":"no-such"}`)
	operator.refused(hub.CodeRoomNotFound, "POST", "/v1/clear/plan", `{"kind":"seats","room_id":"r_zzz"}`)
	for _, body := range []string{
		`{"kind":"rooms","ids":["r_1"]}`, `{"kind":"rooms","digest":"x"}`, `{"kind":"rooms","ids":["r_1","r_1"],"digest":"x"}`,
		`{"kind":"invites","ids":["i_1"],"digest":"x","delete":true}`,
	} {
		operator.refused(hub.CodeInvalid, "POST", "/v1/clear", body)
	}
	operator.refused(hub.CodePlanChanged, "POST", "/v1/clear", `{"kind":"rooms","ids":["r_zzz"],"digest":"x"}`)
	operator.refused(hub.CodePlanChanged, "POST", "/v1/clear", `{"kind":"channels","ids":["general"],"digest":"x"}`)
	operator.ok(200, "POST", "/v1/clear/plan", `{"kind":"questions","by":"nobody-here"}`)
}

// TestClear: the operator closes what one agent has made, of every kind, and nothing else. A
// plan changes nothing, a confirmation closes what the plan showed, and a repetition is
// answered the same.
func TestClear(t *testing.T) {
	h := testhub.Start(t)
	c := newClient(t, h)
	operator := c.with(api.HeaderOperator, h.Store.OperatorToken())
	c.ok(201, "POST", "/v1/projects", `{"name":"Shop","created_by":"honest"}`)
	room := c.ok(201, "POST", "/v1/rooms", `{"project":"shop","name":"Hall","created_by":"honest"}`).row("room_id").(string)
	const each = 3
	for i := range each {
		for _, by := range []string{"looper", "honest"} {
			c.ok(201, "POST", "/v1/projects", fmt.Sprintf(`{"name":"%s %d","created_by":%q}`, by, i, by))
			c.ok(201, "POST", "/v1/rooms", fmt.Sprintf(`{"project":"shop","name":"%s %d","force":true,"force_reason":"x","created_by":%q}`, by, i, by))
			c.ok(201, "POST", "/v1/channels", fmt.Sprintf(`{"name":"%s-%d","created_by":%q}`, by, i, by))
			c.ok(201, "POST", "/v1/asks", fmt.Sprintf(`{"agent_id":%q,"question":"may I %d?"}`, by, i))
			code := c.ok(201, "POST", "/v1/invites", fmt.Sprintf(`{"project":"shop","room":"hall","by":%q,"max_uses":2}`, by)).row("code").(string)
			c.ok(201, "POST", "/v1/invites/"+code+"/accept", fmt.Sprintf(`{"agent_id":"%s-joiner-%d"}`, by, i))
		}
	}
	left := map[hub.ClearKind]int{hub.ClearProjects: each + 1, hub.ClearRooms: each + 1, hub.ClearSeats: each, hub.ClearChannels: each, hub.ClearQuestions: each, hub.ClearInvites: each}
	for _, kind := range hub.ClearKinds() {
		t.Run(string(kind), func(t *testing.T) {
			selection := fmt.Sprintf(`{"kind":%q,"by":"looper"}`, kind)
			plan := planned(t, operator, selection)
			if len(plan.Rows) != each || plan.More {
				t.Fatalf("the plan has %+v", plan)
			}
			if again := planned(t, operator, selection); again.Digest != plan.Digest {
				t.Error("a plan has changed something")
			}
			operator.refused(hub.CodePlanChanged, "POST", "/v1/clear", strings.Replace(confirmation(&plan), `"`+plan.Rows[0].ID+`",`, "", 1))
			keyed := operator.with("Idempotency-Key", "clear-"+string(kind))
			first := keyed.ok(200, "POST", "/v1/clear", confirmation(&plan))
			if first.row("closed") != float64(each) || len(first.row("failed").([]any)) != 0 {
				t.Fatalf("cleared %s", first.Result)
			}
			if again := keyed.ok(200, "POST", "/v1/clear", confirmation(&plan)); string(again.Result) != string(first.Result) {
				t.Errorf("the repetition says %s, and the first call %s", again.Result, first.Result)
			}
			if rest := planned(t, operator, selection); len(rest.Rows) != 0 {
				t.Errorf("there are left %+v", rest.Rows)
			}
			if rest := planned(t, operator, fmt.Sprintf(`{"kind":%q}`, kind)); len(rest.Rows) != left[kind] {
				t.Errorf("of others there are left %+v, want %d", rest.Rows, left[kind])
			}
		})
	}
	if n := c.ok(200, "GET", "/v1/rooms/"+room+"/status?all=1", ""); !strings.Contains(string(n.Result), "honest-joiner-0") {
		t.Error("a seat of another is gone")
	}
	if plan := planned(t, operator, `{"kind":"projects","older_sec":3600}`); len(plan.Rows) != 0 {
		t.Errorf("older than an hour are %+v", plan.Rows)
	}
	c.ok(201, "POST", "/v1/projects", `{"name":"of nobody"}`)
	plan := planned(t, operator, `{"kind":"projects","unnamed":true}`)
	if len(plan.Rows) != 1 || plan.Rows[0].Name != "of nobody" {
		t.Errorf("of nobody are %+v", plan.Rows)
	}
	operator.ok(200, "PUT", "/v1/projects/"+plan.Rows[0].ID+"/name", `{"name":"renamed"}`)
	operator.refused(hub.CodePlanChanged, "POST", "/v1/clear", confirmation(&plan))
}

// TestDeleteWhatHoldsNothing: the operator deletes archived things that hold nothing. A thing
// that holds something is in no plan, and stays if a confirmation names it all the same. The
// names of deleted things are free.
func TestDeleteWhatHoldsNothing(t *testing.T) {
	h := testhub.Start(t)
	c := newClient(t, h)
	operator := c.with(api.HeaderOperator, h.Store.OperatorToken())
	c.ok(201, "POST", "/v1/projects", `{"name":"Shop","created_by":"honest"}`)
	room := func(name string) string {
		return c.ok(201, "POST", "/v1/rooms", fmt.Sprintf(`{"project":"shop","name":%q,"force":true,"force_reason":"x","created_by":"honest"}`, name)).row("room_id").(string)
	}
	empty, open := room("empty"), room("open")
	holds := map[string]func(id string){
		"message": func(id string) {
			c.ok(201, "POST", "/v1/messages", fmt.Sprintf(`{"from_agent":"a","channel":%q,"body":"here"}`, hub.RoomID(id).Channel()))
		},
		"memory": func(id string) {
			c.ok(201, "POST", "/v1/memory", fmt.Sprintf(`{"room_id":%q,"text":"kept"}`, id))
		},
		"decision": func(id string) {
			c.ok(201, "POST", "/v1/decisions", fmt.Sprintf(`{"room_id":%q,"title":"t"}`, id))
		},
		"artifact": func(id string) {
			c.ok(201, "POST", "/v1/artifacts", fmt.Sprintf(`{"room_id":%q,"title":"t","kind":"k","body":""}`, id))
		},
		"seat": func(string) {
			code := c.ok(201, "POST", "/v1/invites", `{"project":"shop","room":"seat","by":"honest"}`).row("code").(string)
			c.ok(201, "POST", "/v1/invites/"+code+"/accept", `{"agent_id":"joiner"}`)
		},
		"question": func(id string) {
			c.ok(201, "POST", "/v1/asks", fmt.Sprintf(`{"agent_id":"a","question":"may I?","room_id":%q}`, id))
		},
		"run": func(id string) {
			c.ok(201, "POST", "/v1/runs", fmt.Sprintf(`{"room_id":%q,"title":"t"}`, id))
		},
	}
	full := map[string]string{}
	for name, put := range holds {
		full[name] = room(name)
		put(full[name])
	}
	archive := func(id string) { operator.ok(200, "PUT", "/v1/rooms/"+id+"/archived", `{"archived":true}`) }
	archive(empty)
	for _, id := range full {
		archive(id)
	}
	plan := planned(t, operator, `{"kind":"rooms","archived":true}`)
	if len(plan.Rows) != 1 || plan.Rows[0].ID != empty || !plan.Delete {
		t.Fatalf("the plan has %+v, want the room %s alone", plan, empty)
	}
	for name, id := range full {
		one := hub.ClearPlan{Kind: hub.ClearRooms, Delete: true, Rows: []hub.Clearable{{ID: id}}}
		one.Digest = digestOf(&one)
		out := operator.ok(200, "POST", "/v1/clear", confirmation(&one))
		if !strings.Contains(string(out.Result), `"closed":0`) || !strings.Contains(string(out.Result), `"code":"plan_changed"`) {
			t.Errorf("a room with a %s: %s", name, out.Result)
		}
	}
	one := hub.ClearPlan{Kind: hub.ClearRooms, Delete: true, Rows: []hub.Clearable{{ID: open}}}
	one.Digest = digestOf(&one)
	if out := operator.ok(200, "POST", "/v1/clear", confirmation(&one)); !strings.Contains(string(out.Result), `"code":"plan_changed"`) {
		t.Errorf("a room that is not archived: %s", out.Result)
	}
	for range 2 { // what is gone already counts as deleted
		if out := operator.ok(200, "POST", "/v1/clear", confirmation(&plan)); out.row("closed") != float64(1) {
			t.Errorf("deleted %s", out.Result)
		}
	}
	c.refused(hub.CodeRoomNotFound, "GET", "/v1/rooms/"+empty, "")
	c.refused(hub.CodeChannelNotFound, "POST", "/v1/messages", fmt.Sprintf(`{"from_agent":"a","channel":%q,"body":"late"}`, hub.RoomID(empty).Channel()))

	c.ok(201, "POST", "/v1/channels", `{"name":"builds","created_by":"a"}`)
	c.ok(201, "POST", "/v1/channels", `{"name":"said","created_by":"a"}`)
	c.ok(201, "POST", "/v1/messages", `{"from_agent":"a","channel":"said","body":"here"}`)
	for _, name := range []string{"builds", "said"} {
		operator.ok(200, "PUT", "/v1/channels/archived", fmt.Sprintf(`{"channel":%q,"archived":true}`, name))
	}
	if plan = planned(t, operator, `{"kind":"channels","archived":true}`); len(plan.Rows) != 1 || plan.Rows[0].ID != "builds" {
		t.Fatalf("the plan has %+v", plan)
	}
	operator.ok(200, "POST", "/v1/clear", confirmation(&plan))
	c.refused(hub.CodeChannelNotFound, "POST", "/v1/messages", `{"from_agent":"a","channel":"builds","body":"late"}`)

	c.ok(201, "POST", "/v1/projects", `{"name":"Bare","created_by":"honest"}`)
	c.ok(201, "POST", "/v1/rooms", `{"project":"bare","name":"Hall","created_by":"honest"}`)
	for _, project := range []string{"bare", "shop"} {
		operator.ok(200, "PUT", "/v1/projects/"+project+"/archived", `{"archived":true}`)
	}
	if plan = planned(t, operator, `{"kind":"projects","archived":true}`); len(plan.Rows) != 1 || plan.Rows[0].Name != "Bare" {
		t.Fatalf("the plan has %+v", plan)
	}
	operator.ok(200, "POST", "/v1/clear", confirmation(&plan))
	c.ok(201, "POST", "/v1/projects", `{"name":"Bare","created_by":"honest"}`)
	c.ok(201, "POST", "/v1/channels", `{"name":"builds","created_by":"b"}`)
}

// digestOf is the digest of a plan that deletes rooms or projects. It is over their ids.
func digestOf(plan *hub.ClearPlan) string {
	text := string(plan.Kind) + "\x00delete"
	for _, row := range plan.Rows {
		text += "\n" + row.ID + "\x00"
	}
	sum := sha256.Sum256([]byte(text))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// TestArchivedRoomTakesNothingNew: what would be kept in an archived room is refused, for nobody
// is shown it there. What ends or takes away goes on.
func TestArchivedRoomTakesNothingNew(t *testing.T) {
	h := testhub.Start(t)
	c := newClient(t, h)
	operator := c.with(api.HeaderOperator, h.Store.OperatorToken())
	c.ok(201, "POST", "/v1/projects", `{"name":"Shop"}`)
	room := c.ok(201, "POST", "/v1/rooms", `{"project":"shop","name":"Hall"}`).row("room_id").(string)
	folder := t.TempDir()
	c.ok(201, "POST", "/v1/memory", fmt.Sprintf(`{"room_id":%q,"key":"k","text":"kept"}`, room))
	code := c.ok(201, "POST", "/v1/invites", fmt.Sprintf(`{"project":"shop","room":%q}`, room)).row("code").(string)
	bind, err := json.Marshal(map[string]string{"path": folder})
	require.NoError(t, err)
	c.ok(201, "PUT", "/v1/rooms/"+room+"/binding", string(bind))
	operator.ok(200, "PUT", "/v1/rooms/"+room+"/archived", `{"archived":true}`)
	for _, call := range []struct{ method, path, body string }{
		{"POST", "/v1/decisions", `{"room_id":"ROOM","title":"t"}`},
		{"POST", "/v1/artifacts", `{"room_id":"ROOM","title":"t","kind":"k","body":""}`},
		{"POST", "/v1/memory", `{"room_id":"ROOM","key":"k","text":"again"}`},
		{"POST", "/v1/invites", `{"project":"shop","room":"ROOM"}`},
		{"POST", "/v1/invites/" + code + "/accept", `{"agent_id":"late"}`},
		{"POST", "/v1/asks", `{"agent_id":"a","question":"may I?","room_id":"ROOM"}`},
		{"POST", "/v1/rooms/ROOM/seats", `{"agent_id":"a"}`},
		{"PUT", "/v1/rooms/ROOM/binding", `{"path":"` + t.TempDir() + `"}`},
	} {
		c.refused(hub.CodeArchived, call.method, strings.ReplaceAll(call.path, "ROOM", room), strings.ReplaceAll(call.body, "ROOM", room))
	}
	c.ok(201, "POST", "/v1/memory", fmt.Sprintf(`{"room_id":%q,"key":"k","text":""}`, room)) // forgets
	c.ok(200, "DELETE", "/v1/rooms/"+room+"/binding", string(bind))
	operator.ok(200, "PUT", "/v1/rooms/"+room+"/archived", `{"archived":false}`)
	c.ok(201, "POST", "/v1/decisions", fmt.Sprintf(`{"room_id":%q,"title":"t"}`, room))
}
