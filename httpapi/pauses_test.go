package httpapi_test

import (
	"fmt"
	"strings"
	"testing"

	"hubcli/api"
	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
)

func walkPauses(t *testing.T, c *client, h *testhub.Hub) {
	operator := c.with(api.HeaderOperator, h.Store.OperatorToken())
	c.refused(hub.CodeOperatorRequired, "POST", "/v1/pauses", `{"all":true,"words":"x"}`)
	c.refused(hub.CodeOperatorRequired, "POST", "/v1/pauses/resume", `{"all":true}`)
	for _, body := range []string{
		`{}`, `{"words":"x"}`, `{"all":true}`, `{"all":true,"words":" "}`, `{"all":true,"agent_id":"a","words":"x"}`,
		`{"all":true,"words":"` + strings.Repeat("x", hub.MaxPauseWords+1) + `"}`,
	} {
		operator.refused(hub.CodeInvalid, "POST", "/v1/pauses", body)
	}
	operator.refused(hub.CodeRoomNotFound, "POST", "/v1/pauses", `{"room_id":"r_999","words":"x"}`)
	operator.refused(hub.CodeNotPaused, "POST", "/v1/pauses/resume", `{"agent_id":"paul"}`)

	operator.ok(200, "POST", "/v1/pauses", `{"agent_id":"paul","words":"merge first"}`)
	e := c.refused(hub.CodePaused, "POST", "/v1/messages", `{"from_agent":"paul","body":"hello"}`)
	if !strings.Contains(e.Error, "operator has paused agent paul since 2") || !strings.HasSuffix(e.Error, ": merge first") || e.Detail["pause"] == nil {
		t.Errorf("the refusal is %+v", e)
	}
	c.refused(hub.CodePaused, "POST", "/v1/claims", `{"owner_agent_id":"paul","claim_key":"pauls"}`)
	operator.ok(201, "POST", "/v1/messages", `{"body":"the operator is never paused"}`)
	c.ok(200, "GET", "/v1/events?agent_id=paul&timeout=0", "")
	if a := c.ok(200, "GET", "/v1/attention?agent_id=paul", ""); a.row("paused") == nil {
		t.Errorf("the attention of a paused agent is %s", a.Result)
	}
	if a := c.ok(200, "GET", "/v1/pauses", ""); !strings.Contains(string(a.Result), `"agent_id":"paul"`) {
		t.Errorf("the pauses are %s", a.Result)
	}
	operator.ok(200, "POST", "/v1/pauses/resume", `{"agent_id":"paul"}`)
	c.ok(201, "POST", "/v1/messages", `{"from_agent":"paul","body":"hello"}`)
}

func walkBreaks(t *testing.T, c *client, h *testhub.Hub) {
	operator := c.with(api.HeaderOperator, h.Store.OperatorToken())
	first := c.ok(201, "POST", "/v1/claims", `{"owner_agent_id":"paul","claim_key":"stuck"}`)
	c.ok(201, "POST", "/v1/locks", `{"agent_id":"paul","file_path":"src/stuck.go"}`)
	c.refused(hub.CodeOperatorRequired, "POST", "/v1/claims/break", `{"claim_key":"stuck","reason":"x"}`)
	c.refused(hub.CodeOperatorRequired, "POST", "/v1/locks/break", `{"file_path":"src/stuck.go","reason":"x"}`)
	for _, body := range []string{`{}`, `{"claim_key":"stuck"}`, `{"claim_key":"stuck","reason":" "}`, `{"reason":"x"}`} {
		operator.refused(hub.CodeInvalid, "POST", "/v1/claims/break", body)
	}
	operator.refused(hub.CodeInvalid, "POST", "/v1/locks/break", `{"file_path":"src/stuck.go"}`)
	if a := operator.ok(200, "POST", "/v1/claims/break", `{"claim_key":"stuck","reason":"it hangs"}`); a.row("released_at") == nil || a.row("owner_agent_id") != "paul" {
		t.Errorf("the broken claim is %s", a.Result)
	}
	operator.refused(hub.CodeNotHolder, "POST", "/v1/claims/break", `{"claim_key":"stuck","reason":"it hangs"}`)
	operator.ok(200, "POST", "/v1/locks/break", `{"file_path":"./src/stuck.go","reason":"it hangs"}`)
	c.refused(hub.CodeNotHolder, "POST", "/v1/claims/refresh", `{"owner_agent_id":"paul","claim_key":"stuck"}`)
	if a := c.ok(201, "POST", "/v1/claims", `{"owner_agent_id":"mary","claim_key":"stuck"}`); a.row("fence").(float64) <= first.row("fence").(float64) {
		t.Errorf("the next grant is %s after %s", a.Result, first.Result)
	}
}

func walkRenames(t *testing.T, c *client, h *testhub.Hub) {
	operator := c.with(api.HeaderOperator, h.Store.OperatorToken())
	project := c.ok(201, "POST", "/v1/projects", `{"name":"Old name"}`).row("project_id").(string)
	room := c.ok(201, "POST", "/v1/rooms", `{"project":"old-name","name":"Old room"}`).row("room_id").(string)
	c.ok(201, "POST", "/v1/rooms", `{"project":"old-name","name":"Kitchen"}`)
	c.refused(hub.CodeOperatorRequired, "PUT", "/v1/projects/"+project+"/name", `{"name":"x"}`)
	c.refused(hub.CodeOperatorRequired, "PUT", "/v1/rooms/"+room+"/name", `{"name":"x"}`)
	operator.refused(hub.CodeInvalid, "PUT", "/v1/rooms/"+room+"/name", `{"name":" "}`)
	operator.refused(hub.CodeRoomNotFound, "PUT", "/v1/rooms/r_999/name", `{"name":"x"}`)
	operator.refused(hub.CodeProjectNotFound, "PUT", "/v1/projects/nowhere/name", `{"name":"x"}`)
	operator.refused(hub.CodeSimilarRoomExists, "PUT", "/v1/rooms/"+room+"/name", `{"name":"KITCHEN"}`)
	if a := operator.ok(200, "PUT", "/v1/projects/old-name/name", `{"name":" New name "}`); a.row("name") != "New name" || a.row("slug") != "old-name" {
		t.Errorf("the project is %s", a.Result)
	}
	if a := operator.ok(200, "PUT", "/v1/rooms/"+room+"/name", `{"name":"New room"}`); a.row("name") != "New room" || a.row("slug") != "old-room" || a.row("channel") != "room-"+room {
		t.Errorf("the room is %s", a.Result)
	}
	for _, ref := range []string{"old-name", "New%20name", project} {
		c.ok(200, "GET", "/v1/projects/"+ref, "")
	}
	for _, ref := range []string{"old-room", "new%20room", room} {
		c.ok(200, "GET", "/v1/rooms/"+ref+"?project=old-name", "")
	}
	c.refused(hub.CodeProjectExists, "POST", "/v1/projects", `{"name":"new name"}`)
}

func walkArchive(t *testing.T, c *client, h *testhub.Hub) {
	operator := c.with(api.HeaderOperator, h.Store.OperatorToken())
	c.ok(201, "POST", "/v1/projects", `{"name":"Attic"}`)
	room := c.ok(201, "POST", "/v1/rooms", `{"project":"attic","name":"Boxes"}`).row("room_id").(string)
	c.refused(hub.CodeOperatorRequired, "PUT", "/v1/rooms/"+room+"/archived", `{"archived":true}`)
	operator.refused(hub.CodeRoomNotFound, "PUT", "/v1/rooms/r_999/archived", `{"archived":true}`)
	since := c.ok(201, "POST", "/v1/messages", `{"from_agent":"paul","channel":"room-`+room+`","body":"in the attic"}`).row("id")
	poll := func(scope string) string {
		return string(c.ok(200, "GET", "/v1/events?agent_id=mary&timeout=0&peek=1&since_id="+fmt.Sprintf("%.0f", since.(float64)-1)+scope, "").Result)
	}
	shown := func() (unscoped, scoped, listed bool) {
		return strings.Contains(poll(""), "in the attic"), strings.Contains(poll("&room_id="+room), "in the attic"),
			strings.Contains(string(c.ok(200, "GET", "/v1/rooms?project=attic", "").Result), room)
	}
	if unscoped, scoped, listed := shown(); !unscoped || !scoped || !listed {
		t.Errorf("before: unscoped %v, scoped %v, listed %v", unscoped, scoped, listed)
	}
	operator.ok(200, "PUT", "/v1/rooms/"+room+"/archived", `{"archived":true}`)
	if unscoped, scoped, listed := shown(); unscoped || !scoped || listed {
		t.Errorf("archived: unscoped %v, scoped %v, listed %v", unscoped, scoped, listed)
	}
	if !strings.Contains(string(c.ok(200, "GET", "/v1/rooms?project=attic&archived=true", "").Result), room) {
		t.Error("a list of archived rooms lacks it")
	}
	c.ok(200, "GET", "/v1/rooms/boxes?project=attic", "")
	posts := func(more string) string {
		return `{"from_agent":"paul","channel":"room-` + room + `","body":"again"` + more + `}`
	}
	c.refused(hub.CodeArchived, "POST", "/v1/messages", posts(""))
	c.refused(hub.CodeArchived, "POST", "/v1/messages", posts(`,"to_agent":"mary","kind":"task_request"`))
	c.refused(hub.CodeArchived, "POST", "/v1/runs", `{"room_id":"`+room+`","title":"sort"}`)
	c.ok(201, "POST", "/v1/messages", posts(`,"to_agent":"mary"`))
	operator.ok(200, "PUT", "/v1/rooms/"+room+"/archived", `{"archived":false}`)
	if unscoped, _, listed := shown(); !unscoped || !listed {
		t.Errorf("back: unscoped %v, listed %v", unscoped, listed)
	}
	walkArchivedProject(t, c, operator, room)
	walkArchivedChannel(t, c, operator)
}

// walkArchivedProject archives the project of a room.
func walkArchivedProject(t *testing.T, c, operator *client, room string) {
	lists := func(query string) bool {
		return strings.Contains(string(c.ok(200, "GET", "/v1/projects"+query, "").Result), `"attic"`)
	}
	c.refused(hub.CodeOperatorRequired, "PUT", "/v1/projects/attic/archived", `{"archived":true}`)
	operator.refused(hub.CodeProjectNotFound, "PUT", "/v1/projects/p_999/archived", `{"archived":true}`)
	operator.ok(200, "PUT", "/v1/projects/attic/archived", `{"archived":true}`)
	if lists("") || !lists("?archived=true") {
		t.Error("the archived project is listed, or not among those that are archived")
	}
	if row := c.ok(200, "GET", "/v1/rooms/"+room, ""); row.row("archived") != true || row.row("archived_with_project") != true {
		t.Errorf("its room is %s", row.Result)
	}
	c.refused(hub.CodeArchived, "POST", "/v1/rooms", `{"project":"attic","name":"Trunks"}`)
	operator.refused(hub.CodeArchived, "PUT", "/v1/rooms/"+room+"/archived", `{"archived":false}`)
	operator.ok(200, "PUT", "/v1/projects/attic/archived", `{"archived":false}`)
	if row := c.ok(200, "GET", "/v1/rooms/"+room, ""); row.row("archived") != nil || !lists("") {
		t.Errorf("back: %s", row.Result)
	}
}

func walkArchivedChannel(t *testing.T, c, operator *client) {
	const path, archived = "/v1/channels/archived", `{"channel":"chest","archived":true}`
	lists := func(query string) bool {
		return strings.Contains(string(c.ok(200, "GET", "/v1/channels"+query, "").Result), `"chest"`)
	}
	operator.refused(hub.CodeChannelNotFound, "PUT", path, archived)
	c.ok(201, "POST", "/v1/channels", `{"name":"chest"}`)
	c.refused(hub.CodeOperatorRequired, "PUT", path, archived)
	for _, name := range []string{"", "general", "direct", "room-r_1"} {
		operator.refused(hub.CodeInvalid, "PUT", path, `{"channel":"`+name+`","archived":true}`)
	}
	for range 2 {
		operator.ok(200, "PUT", path, archived)
	}
	if lists("") || !lists("?archived=true") {
		t.Error("the archived channel is listed, or not among those that are archived")
	}
	c.refused(hub.CodeArchived, "POST", "/v1/messages", `{"from_agent":"paul","channel":"chest","body":"again"}`)
	operator.ok(200, "PUT", path, `{"channel":"chest","archived":false}`)
	if !lists("") {
		t.Error("the channel is not back")
	}
}

// TestArchiveSurvives: after a restart an archived room, project and channel are still out of lists and
// unscoped polls.
func TestArchiveSurvives(t *testing.T) {
	h := testhub.Start(t)
	c := newClient(t, h)
	c.ok(201, "POST", "/v1/projects", `{"name":"Attic"}`)
	room := c.ok(201, "POST", "/v1/rooms", `{"project":"attic","name":"Boxes"}`).row("room_id").(string)
	c.ok(201, "POST", "/v1/messages", `{"from_agent":"paul","channel":"room-`+room+`","body":"in the attic"}`)
	operator := c.with(api.HeaderOperator, h.Store.OperatorToken())
	operator.ok(200, "PUT", "/v1/rooms/"+room+"/archived", `{"archived":true}`)
	c.ok(201, "POST", "/v1/channels", `{"name":"chest"}`)
	c.ok(201, "POST", "/v1/messages", `{"from_agent":"paul","channel":"chest","body":"in the attic"}`)
	operator.ok(200, "PUT", "/v1/channels/archived", `{"channel":"chest","archived":true}`)
	operator.ok(200, "PUT", "/v1/projects/attic/archived", `{"archived":true}`)
	require.NoError(t, h.Stop())
	again := newClient(t, testhub.Start(t, testhub.Dir(h.Dir)))
	if a := again.ok(200, "GET", "/v1/events?agent_id=mary&timeout=0&since_id=0", ""); strings.Contains(string(a.Result), "attic") {
		t.Errorf("a poll shows %s", a.Result)
	}
	for _, list := range []string{"rooms", "projects", "channels"} {
		a := again.ok(200, "GET", "/v1/"+list, "")
		if text := string(a.Result); strings.Contains(text, room) || strings.Contains(text, "attic") || strings.Contains(text, "chest") {
			t.Errorf("the list of %s is %s", list, text)
		}
	}
}

func walkEnds(t *testing.T, c *client, h *testhub.Hub) {
	operator := c.with(api.HeaderOperator, h.Store.OperatorToken())
	c.ok(201, "POST", "/v1/sessions", `{"agent_id":"enid"}`)
	c.refused(hub.CodeOperatorRequired, "POST", "/v1/sessions/enid/end", `{"reason":"x"}`)
	operator.refused(hub.CodeInvalid, "POST", "/v1/sessions/enid/end", `{"reason":" "}`)
	operator.refused(hub.CodeSessionNotFound, "POST", "/v1/sessions/nobody-here/end", `{"reason":"x"}`)
	operator.ok(200, "POST", "/v1/sessions/enid/end", `{"reason":"the work is done"}`)
	operator.refused(hub.CodeSessionNotFound, "POST", "/v1/sessions/enid/end", `{"reason":"x"}`)
}

// TestEndedSessionIsTold: the next calls of a session that the operator ended are refused with the
// reason, also after a restart, and a new session of the agent works.
func TestEndedSessionIsTold(t *testing.T) {
	h := testhub.Start(t)
	c := newClient(t, h)
	operator := c.with(api.HeaderOperator, h.Store.OperatorToken())
	session := c.ok(201, "POST", "/v1/sessions", `{"agent_id":"ann"}`).row("session_id").(string)
	ann := c.with(api.HeaderSession, session)
	ann.ok(201, "POST", "/v1/messages", `{"body":"hello"}`)
	operator.ok(200, "POST", "/v1/sessions/ann/end", `{"reason":"the work is done"}`)
	if e := ann.refused(hub.CodeSessionEnded, "POST", "/v1/messages", `{"body":"hello"}`); !strings.HasSuffix(e.Error, ": the work is done") {
		t.Errorf("the refusal is %+v", e)
	}
	c.ok(200, "GET", "/v1/events?agent_id=ann&timeout=0", "") // a call that proves nothing revives nothing
	if a := c.ok(200, "GET", "/v1/inbox/ann", ""); !strings.Contains(string(a.Result), "I have ended your session: the work is done") {
		t.Errorf("the inbox is %s", a.Result)
	}
	require.NoError(t, h.Stop())
	again := newClient(t, testhub.Start(t, testhub.Dir(h.Dir)))
	again.with(api.HeaderSession, session).refused(hub.CodeSessionEnded, "POST", "/v1/messages", `{"body":"hello"}`)
	fresh := again.ok(201, "POST", "/v1/sessions", `{"agent_id":"ann"}`).row("session_id").(string)
	again.with(api.HeaderSession, fresh).ok(201, "POST", "/v1/messages", `{"body":"hello"}`)
	again.with(api.HeaderSession, session).refused(hub.CodeSessionReplaced, "POST", "/v1/messages", `{"body":"hello"}`)
}

// TestPauseSurvives: a pause that was acknowledged holds after a restart, and one that was
// ended does not.
func TestPauseSurvives(t *testing.T) {
	h := testhub.Start(t)
	c := newClient(t, h).with(api.HeaderOperator, h.Store.OperatorToken())
	c.ok(200, "POST", "/v1/pauses", `{"agent_id":"ann","words":"wait"}`)
	c.ok(200, "POST", "/v1/pauses", `{"agent_id":"ben","words":"wait"}`)
	c.ok(200, "POST", "/v1/pauses/resume", `{"agent_id":"ben"}`)
	require.NoError(t, h.Stop())
	again := newClient(t, testhub.Start(t, testhub.Dir(h.Dir)))
	again.refused(hub.CodePaused, "POST", "/v1/messages", `{"from_agent":"ann","body":"hello"}`)
	again.ok(201, "POST", "/v1/messages", `{"from_agent":"ben","body":"hello"}`)
}

// walkRetires retires an agent that has a claim and makes no call any more.
func walkRetires(t *testing.T, c *client, h *testhub.Hub) {
	operator := c.with(api.HeaderOperator, h.Store.OperatorToken())
	c.ok(201, "POST", "/v1/claims", `{"claim_key":"of-rita","owner_agent_id":"rita","ttl_sec":600}`)
	c.refused(hub.CodeOperatorRequired, "GET", "/v1/agents/idle", "")
	c.refused(hub.CodeOperatorRequired, "POST", "/v1/agents/rita/retire", `{}`)
	operator.refused(hub.CodeInvalid, "GET", "/v1/agents/idle?idle_sec=0", "")
	operator.refused(hub.CodeReservedAgent, "POST", "/v1/agents/operator/retire", `{}`)
	operator.refused(hub.CodeSessionNotFound, "POST", "/v1/agents/nobody-here/retire", `{}`)
	operator.refused(hub.CodeNotGone, "POST", "/v1/agents/rita/retire", `{"reason":"long gone"}`)
	if a := operator.ok(200, "GET", "/v1/agents/idle?idle_sec=600", ""); strings.Contains(string(a.Result), "rita") {
		t.Errorf("an agent that has just called is idle: %s", a.Result)
	}
	task := c.ok(201, "POST", "/v1/messages", `{"from_agent":"paul","to_agent":"gus","kind":"task_request","body":"dig"}`).row("id")
	c.refused(hub.CodeOperatorRequired, "GET", "/v1/agents/gus", "")
	operator.refused(hub.CodeInvalidAgentID, "GET", "/v1/agents/-", "")
	if r := operator.ok(200, "GET", "/v1/agents/gus", ""); r.row("state") != "never_registered" {
		t.Errorf("an agent that was only given work is %s", r.Result)
	}
	row := operator.ok(200, "POST", "/v1/agents/gus/retire", `{}`)
	if tasks, _ := row.row("tasks").([]any); len(tasks) != 1 || tasks[0] != task {
		t.Errorf("an agent that has one task: %s", row.Result)
	}
	if left := operator.ok(200, "GET", fmt.Sprintf("/v1/tasks/%.0f", task), ""); left.row("assignee") != nil {
		t.Errorf("its task is %s", left.Result)
	}
}
