package httpapi_test

import (
	"fmt"
	"strings"

	"hubcli/api"
	"hubcli/hub"
	"hubcli/internal/testhub"
)

func walkAsks(c *client, h *testhub.Hub) {
	operator := c.with(api.HeaderOperator, h.Store.OperatorToken())
	room := newRoom(c, "asking", "Council")
	a := c.ok(201, "POST", "/v1/asks", fmt.Sprintf(
		`{"agent_id":"asker","question":"Deploy?","options":["yes","no"],"default":"no","deadline_sec":600,"room_id":%q}`, room))
	id := fmt.Sprint(a.row("ask_id"))
	if a.row("state") != "open" || a.row("deadline_at") == nil || a.row("answer") != nil {
		c.t.Errorf("the question is %s", a.Result)
	}
	for _, body := range []string{
		`{"agent_id":"asker"}`, `{"agent_id":"asker","question":" \n"}`, `{"agent_id":"asker","question":"x","default":"d"}`,
		`{"agent_id":"asker","question":"x","deadline_sec":-1}`, `{"agent_id":"asker","question":"x","deadline_sec":99999999}`,
		`{"agent_id":"asker","question":"x","options":["a","a"]}`, `{"agent_id":"asker","question":"x","options":[""]}`,
		`{"agent_id":"asker","question":"` + strings.Repeat("x", hub.MaxAskChars+1) + `"}`,
	} {
		c.refused(hub.CodeInvalid, "POST", "/v1/asks", body)
	}
	c.refused(hub.CodeReservedAgent, "POST", "/v1/asks", `{"agent_id":"operator","question":"x"}`)
	c.refused(hub.CodeRoomNotFound, "POST", "/v1/asks", `{"agent_id":"asker","question":"x","room_id":"r_zz"}`)
	c.refused(hub.CodeTaskNotFound, "POST", "/v1/asks", `{"agent_id":"asker","question":"x","blocks":999999}`)
	c.refused(hub.CodeArtifactNotFound, "POST", "/v1/asks", `{"agent_id":"asker","question":"x","artifact_id":"a_zz"}`)

	c.refused(hub.CodeAskNotFound, "GET", "/v1/asks/"+id+"?agent_id=other", "")
	c.refused(hub.CodeInvalid, "GET", "/v1/asks?state=closed", "")
	c.ok(200, "GET", "/v1/asks/"+id+"?agent_id=asker", "")
	if n := operator.ok(200, "GET", "/v1/asks?state=open&room_id="+room, "").rows(); n != 1 {
		c.t.Errorf("the operator is shown %d questions", n)
	}
	c.refused(hub.CodeOperatorRequired, "POST", "/v1/asks/"+id+"/answer", `{"answer":"yes"}`)
	operator.refused(hub.CodeInvalid, "POST", "/v1/asks/"+id+"/answer", `{"answer":" "}`)
	operator.refused(hub.CodeAskNotFound, "POST", "/v1/asks/ask_zz/answer", `{"answer":"yes"}`)
	if a := operator.ok(200, "POST", "/v1/asks/"+id+"/answer", `{"answer":"yes","by":"Eva"}`); a.row("state") != "answered" || a.row("answer") != "yes" {
		c.t.Errorf("the answered question is %s", a.Result)
	}
	operator.refused(hub.CodeAskClosed, "POST", "/v1/asks/"+id+"/answer", `{"answer":"no"}`)
	if inbox := c.ok(200, "GET", "/v1/inbox/asker", ""); !strings.Contains(string(inbox.Result), `"body":"yes"`) {
		c.t.Errorf("the inbox of the agent is %s", inbox.Result)
	}

	c.refused(hub.CodeOperatorRequired, "GET", "/v1/notify", "")
	c.refused(hub.CodeOperatorRequired, "PUT", "/v1/notify", `{"version":0,"command":["/bin/true"]}`)
	c.refused(hub.CodeOperatorRequired, "POST", "/v1/notify/test", "")
	operator.refused(hub.CodeInvalid, "POST", "/v1/notify/test", "")
	for _, body := range []string{
		`{"version":-1}`, `{"version":0,"command":["true"]}`, `{"version":0,"command":["/x","a\u0000b"]}`, `{"version":0,"webhook":"ftp://127.0.0.1/"}`,
		`{"version":0,"webhook":"http://a:b@127.0.0.1/"}`, `{"version":0,"webhook":"https://example.com/"}`, `{"version":0,"webhook":"http://example.com/","remote":true}`,
	} {
		operator.refused(hub.CodeInvalid, "PUT", "/v1/notify", body)
	}
	operator.ok(200, "PUT", "/v1/notify", `{"version":0,"webhook":"http://127.0.0.1:1/"}`)
	operator.refused(hub.CodeVersionConflict, "PUT", "/v1/notify", `{"version":0}`)
	if a := operator.ok(200, "POST", "/v1/notify/test", ""); a.row("command_error") != "this hub sends no notifications" {
		c.t.Errorf("a hub without a notifier says %s", a.Result)
	}
	if a := operator.ok(200, "GET", "/v1/notify", ""); a.row("webhook") != "http://127.0.0.1:1/" || a.row("version") != 1.0 {
		c.t.Errorf("the setting is %s", a.Result)
	}
	withdrawn := fmt.Sprint(c.ok(201, "POST", "/v1/asks", `{"agent_id":"asker","question":"Which?"}`).row("ask_id"))
	c.refused(hub.CodeInvalid, "POST", "/v1/asks/"+withdrawn+"/withdraw", `{}`)
	c.refused(hub.CodeAskNotFound, "POST", "/v1/asks/"+withdrawn+"/withdraw", `{"agent_id":"other"}`)
	c.ok(200, "POST", "/v1/asks/"+withdrawn+"/withdraw", `{"agent_id":"asker"}`)
	c.refused(hub.CodeAskClosed, "POST", "/v1/asks/"+withdrawn+"/withdraw", `{"agent_id":"asker"}`)
	posted := c.ok(201, "POST", "/v1/messages", `{"from_agent":"asker","to_agent":"operator","body":"May I?"}`)
	if list := c.ok(200, "GET", "/v1/asks?agent_id=asker&state=open", ""); list.rows() != 1 || !strings.Contains(string(list.Result), "May I?") {
		c.t.Errorf("after the message %v the open questions are %s", posted.row("id"), list.Result)
	}
}
