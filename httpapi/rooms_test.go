package httpapi_test

import (
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"hubcli/api"
	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
)

func walkRooms(t *testing.T, c, operator *client) {
	project := c.ok(201, "POST", "/v1/projects", `{"name":" Web Shop ","created_by":"lead"}`)
	if project.row("slug") != "web-shop" || project.row("name") != "Web Shop" {
		t.Errorf("the project is %s", project.Result)
	}
	again := c.refused(hub.CodeProjectExists, "POST", "/v1/projects", `{"name":"WEB SHOP"}`)
	if known, _ := again.Detail["project"].(map[string]any); known["project_id"] != project.row("project_id") {
		t.Errorf("the existing project is not named: %v", again.Detail)
	}
	c.refused(hub.CodeProjectExists, "POST", "/v1/projects", `{"name":"Another","slug":"web-shop"}`)
	c.refused(hub.CodeInvalid, "POST", "/v1/projects", `{"name":"Another","slug":"Web Shop"}`)
	c.refused(hub.CodeInvalid, "POST", "/v1/projects", `{"name":"  "}`)
	c.refused(hub.CodeReservedAgent, "POST", "/v1/projects", `{"name":"Another","created_by":"system"}`)
	c.ok(201, "POST", "/v1/projects", `{"name":"Another"}`)
	if n := c.ok(200, "GET", "/v1/projects", "").rows(); n != 2 {
		t.Errorf("%d projects", n)
	}
	for _, ref := range []string{fmt.Sprint(project.row("project_id")), "web-shop", "web%20shop"} {
		if got := c.ok(200, "GET", "/v1/projects/"+ref, ""); got.row("project_id") != project.row("project_id") {
			t.Errorf("project %s is %s", ref, got.Result)
		}
	}
	c.refused(hub.CodeProjectNotFound, "GET", "/v1/projects/none", "")

	room := c.ok(201, "POST", "/v1/rooms", `{"project":"web-shop","name":"Checkout flow","topic":"t","created_by":"lead"}`)
	id := fmt.Sprint(room.row("room_id"))
	if room.row("channel") != "room-"+id || room.row("slug") != "checkout-flow" || room.row("force_reason") != "" {
		t.Errorf("the room is %s", room.Result)
	}
	similar := c.refused(hub.CodeSimilarRoomExists, "POST", "/v1/rooms", `{"project":"web-shop","name":"checkout-Flow"}`)
	if candidates, _ := similar.Detail["candidates"].([]any); len(candidates) != 1 || similar.Fix == "" {
		t.Errorf("the look-alikes are %v, the fix %q", similar.Detail, similar.Fix)
	}
	c.refused(hub.CodeInvalid, "POST", "/v1/rooms", `{"project":"web-shop","name":"checkout-Flow","force":true}`)
	forced := c.ok(201, "POST", "/v1/rooms", `{"project":"web-shop","name":"checkout-Flow","force":true,"force_reason":"another team"}`)
	if forced.row("slug") != "checkout-flow-2" || forced.row("force_reason") != "another team" {
		t.Errorf("the forced room is %s", forced.Result)
	}
	c.ok(201, "POST", "/v1/rooms", `{"project":"web-shop","name":"Checkout-flow","force":true,"force_reason":"a third"}`)
	c.refused(hub.CodeProjectNotFound, "POST", "/v1/rooms", `{"project":"none","name":"x"}`)
	if n := c.ok(200, "GET", "/v1/rooms?project=Web+Shop", "").rows(); n != 3 {
		t.Errorf("%d rooms in the project", n)
	}
	if n := c.ok(200, "GET", "/v1/rooms", "").rows(); n != 3 {
		t.Errorf("%d rooms in all", n)
	}
	c.refused(hub.CodeProjectNotFound, "GET", "/v1/rooms?project=none", "")
	c.ok(200, "GET", "/v1/rooms/"+id, "")
	c.ok(200, "GET", "/v1/rooms/checkout-flow?project=web-shop", "")
	c.refused(hub.CodeRoomNotFound, "GET", "/v1/rooms/checkout-flow", "")
	c.refused(hub.CodeRoomNotFound, "GET", "/v1/rooms/CHECKOUT-FLOW?project=web-shop", "") // two rooms have the name
	c.refused(hub.CodeRoomNotFound, "GET", "/v1/rooms/"+id+"?project=another", "")
	c.refused(hub.CodeProjectNotFound, "GET", "/v1/rooms/"+id+"?project=none", "")

	walkBindings(t, c, operator, id, fmt.Sprint(forced.row("room_id")))
	posted := c.ok(201, "POST", "/v1/messages", `{"from_agent":"dev","channel":"room-`+id+`","body":"in the room"}`)
	if posted.row("room_id") != id {
		t.Errorf("the post is %s", posted.Result)
	}
	if n := c.ok(200, "GET", "/v1/events?agent_id=reader&timeout=0&room_id="+id, "").rows(); n != 1 {
		t.Errorf("%d messages in the room", n)
	}
	c.refused(hub.CodeChannelNotFound, "POST", "/v1/messages", `{"from_agent":"dev","channel":"room-r_0","body":"x"}`)
}

// TestThereIsALimitOfProjects: callers that the hub does not know get half of the projects,
// however many names they use. The refusal says who has how many, and has a fix. The operator
// goes on.
func TestThereIsALimitOfProjects(t *testing.T) {
	h := testhub.Start(t)
	c := newClient(t, h)
	var wg sync.WaitGroup
	for worker := range 20 {
		wg.Go(func() {
			for i := range hub.MaxProjects / 20 {
				c.call(http.MethodPost, "/v1/projects", fmt.Sprintf(`{"name":"p %d %d","created_by":"w%d"}`, worker, i, worker))
			}
		})
	}
	wg.Wait()
	if n := c.ok(200, "GET", "/v1/projects", "").rows(); n != hub.MaxProjects/2 {
		t.Fatalf("%d projects, want %d", n, hub.MaxProjects/2)
	}
	a := c.refused(hub.CodeLimitReached, "POST", "/v1/projects", `{"name":"one more","created_by":"late"}`)
	if a.Detail["limit"] != float64(hub.MaxProjects/2) || a.Detail["own"] != 0.0 || len(a.Detail["holders"].([]any)) != 3 {
		t.Errorf("the detail is %v", a.Detail)
	}
	c.with(api.HeaderOperator, h.Store.OperatorToken()).ok(201, "POST", "/v1/projects", `{"name":"one more","created_by":"late"}`)
}

func walkBindings(t *testing.T, c, operator *client, room, other string) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	body := `{"path":` + strconv.Quote(dir) + `,"agent_id":"lead"}`
	in := "?path=" + url.QueryEscape(filepath.Join(dir, "below"))
	if a := c.ok(200, "GET", "/v1/resolve"+in, ""); a.row("bound") != false || a.row("room") != nil {
		t.Errorf("nothing is bound: %s", a.Result)
	}
	c.refused(hub.CodeOperatorRequired, "PUT", "/v1/rooms/"+room+"/locks", `{"locks":"refuse","agent_id":"lead"}`)
	if got := operator.ok(200, "PUT", "/v1/rooms/"+room+"/locks", `{"locks":"refuse"}`); got.row("locks") != "refuse" {
		t.Errorf("the room is %s", got.Result)
	}
	c.refused(hub.CodeInvalid, "PUT", "/v1/rooms/"+room+"/locks", `{"locks":"maybe"}`)
	operator.refused(hub.CodeRoomNotFound, "PUT", "/v1/rooms/r_zzz/locks", `{"locks":"warn"}`)
	c.ok(201, "PUT", "/v1/rooms/"+room+"/binding", body)
	c.ok(200, "PUT", "/v1/rooms/"+room+"/binding", body)
	taken := c.refused(hub.CodeAlreadyBound, "PUT", "/v1/rooms/"+other+"/binding", body)
	if held, _ := taken.Detail["room"].(map[string]any); held["room_id"] != room {
		t.Errorf("the room that has the folder is not named: %v", taken.Detail)
	}
	if a := c.ok(200, "GET", "/v1/resolve"+in, ""); a.row("bound") != true || a.row("room_id") != room || a.row("bound_path") != dir {
		t.Errorf("resolved %s", a.Result)
	}
	c.refused(hub.CodePathNotFound, "PUT", "/v1/rooms/"+room+"/binding", `{"path":`+strconv.Quote(filepath.Join(dir, "none"))+`}`)
	c.refused(hub.CodeInvalid, "PUT", "/v1/rooms/"+room+"/binding", `{"path":"relative"}`)
	c.refused(hub.CodeInvalid, "PUT", "/v1/rooms/"+room+"/binding", `{}`)
	c.refused(hub.CodeReservedAgent, "PUT", "/v1/rooms/"+room+"/binding", `{"path":"/","agent_id":"hub"}`)
	c.refused(hub.CodeRoomNotFound, "PUT", "/v1/rooms/r_0/binding", body)
	c.refused(hub.CodeRoomNotFound, "DELETE", "/v1/rooms/r_0/binding", body)
	c.refused(hub.CodeInvalid, "GET", "/v1/resolve", "")
	c.refused(hub.CodeInvalid, "GET", "/v1/resolve?path=x", "")
	c.refused(hub.CodeInvalid, "GET", "/v1/resolve?path=%2Fa%00b", "")
	c.refused(hub.CodeInvalid, "GET", "/v1/resolve?path=%2F%ff", "")
	// An agent in a sandbox may ask for the room of a folder, but may not bind
	// one.
	relayed := c.with(api.HeaderRelay, "mine")
	relayed.refused(hub.CodeForbiddenRelay, "PUT", "/v1/rooms/"+room+"/binding", `{"path":`+strconv.Quote(dir)+`}`)
	relayed.refused(hub.CodeForbiddenRelay, "DELETE", "/v1/rooms/"+room+"/binding", `{"path":`+strconv.Quote(dir)+`}`)
	if a := relayed.ok(200, "GET", "/v1/resolve"+in, ""); a.row("room_id") != room {
		t.Errorf("resolved through a spool: %s", a.Result)
	}
	c.ok(200, "DELETE", "/v1/rooms/"+room+"/binding", body)
	c.refused(hub.CodeNotBound, "DELETE", "/v1/rooms/"+room+"/binding", body)
}
