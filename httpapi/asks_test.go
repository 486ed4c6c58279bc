package httpapi_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"hubcli/api"
	"hubcli/hub"
	"hubcli/internal/require"
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
	c.refused(hub.CodeOperatorRequired, "GET", "/v1/overview", "")
	if a := operator.ok(200, "GET", "/v1/overview", ""); !strings.Contains(string(a.Result), `"waiter":"asker","for":"operator","reason":"ask","what":"Deploy?"`) {
		c.t.Errorf("the overview does not say that the asker waits: %s", a.Result)
	}
	c.refused(hub.CodeOperatorRequired, "POST", "/v1/asks/"+id+"/answer", `{"answer":"yes"}`)
	operator.refused(hub.CodeInvalid, "POST", "/v1/asks/"+id+"/answer", `{"answer":" "}`)
	operator.refused(hub.CodeAskNotFound, "POST", "/v1/asks/ask_zz/answer", `{"answer":"yes"}`)
	operator.refused(hub.CodeInvalid, "POST", "/v1/asks/"+id+"/answer", `{"answer":"yes","digest":"`+strings.Repeat("A", 64)+`"}`)
	operator.refused(hub.CodeAskChanged, "POST", "/v1/asks/"+id+"/answer", `{"answer":"yes","digest":"`+strings.Repeat("a", 64)+`"}`)
	operator.refused(hub.CodeAnswerUnclear, "POST", "/v1/asks/"+id+"/answer", `{"answer":"yse","unless_near":true}`)
	operator.refused(hub.CodeInvalid, "POST", "/v1/asks/"+id+"/withdraw", `{"digest":"x"}`)
	operator.refused(hub.CodeAskChanged, "POST", "/v1/asks/"+id+"/withdraw", `{"digest":"`+strings.Repeat("a", 64)+`"}`)
	if a := operator.ok(200, "POST", "/v1/asks/"+id+"/answer", fmt.Sprintf(`{"answer":"yes","by":"Eva","digest":%q,"unless_near":true}`, a.row("digest"))); a.row("state") != "answered" || a.row("answer") != "yes" {
		c.t.Errorf("the answered question is %s", a.Result)
	}
	operator.refused(hub.CodeAskClosed, "POST", "/v1/asks/"+id+"/answer", `{"answer":"no"}`)
	back := "/v1/asks/" + id + "/take-back"
	c.refused(hub.CodeOperatorRequired, "POST", back, `{}`)
	operator.refused(hub.CodeAskNotFound, "POST", "/v1/asks/ask_zz/take-back", `{}`)
	operator.refused(hub.CodeInvalid, "POST", back, `{"by":"`+strings.Repeat("x", hub.MaxHumanChars+1)+`"}`)
	if a := operator.ok(200, "POST", back, `{"by":"Eva"}`); a.row("state") != "open" || a.row("answer") != nil || a.row("deadline_at") == nil {
		c.t.Errorf("the question whose answer was taken back is %s", a.Result)
	}
	if inbox := c.ok(200, "GET", "/v1/inbox/asker", ""); strings.Contains(string(inbox.Result), `"body":"yes"`) {
		c.t.Errorf("the inbox of the agent has an answer that was taken back: %s", inbox.Result)
	}
	operator.refused(hub.CodeNotTakenBack, "POST", back, `{}`)
	operator.ok(200, "POST", "/v1/asks/"+id+"/answer", `{"answer":"yes","by":"Eva"}`)
	if inbox := c.ok(200, "GET", "/v1/inbox/asker", ""); !strings.Contains(string(inbox.Result), `"body":"yes"`) {
		c.t.Errorf("the inbox of the agent is %s", inbox.Result)
	}
	operator.refused(hub.CodeNotTakenBack, "POST", back, `{}`)

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

func walkPermissions(c *client, h *testhub.Hub) {
	operator := c.with(api.HeaderOperator, h.Store.OperatorToken())
	const prompt = `{"agent_id":"asker","tool":"Bash","command":"git push","about":"git push","folder":"/work/app"}`
	c.refused(hub.CodeOperatorRequired, "GET", "/v1/permissions", "")
	c.refused(hub.CodeOperatorRequired, "PUT", "/v1/permissions", `{"version":0}`)
	if a := operator.ok(200, "GET", "/v1/permissions", ""); a.row("on") != false || a.row("answer_sec") != 30.0 {
		c.t.Errorf("the first policy is %s", a.Result)
	}
	if a := c.ok(200, "POST", "/v1/permissions/requests", prompt); a.row("verdict") != "none" {
		c.t.Errorf("while it is off: %s", a.Result)
	}
	operator.ok(200, "PUT", "/v1/permissions", `{"version":0,"on":true,"rules":[{"decision":"deny","tool":"Bash","words":["git","push","--force"]}]}`)
	operator.refused(hub.CodeVersionConflict, "PUT", "/v1/permissions", `{"version":0}`)
	for _, body := range []string{
		`{"version":-1}`, `{"version":1,"answer_sec":61}`, `{"version":1,"rules":[{"decision":"ask","tool":"x"}]}`, `{"version":1,"rules":[{"decision":"deny","tool":""}]}`,
		`{"version":1,"rules":[{"decision":"deny","tool":"x","path":"a"}]}`, `{"version":1,"rules":[{"decision":"deny","tool":"x","path":"/a/../b"}]}`,
		`{"version":1,"rules":[{"decision":"deny","tool":"x","path":"/a","words":["b"]}]}`, `{"version":1,"rules":[{"decision":"deny","tool":"x","words":[""]}]}`,
	} {
		operator.refused(hub.CodeInvalid, "PUT", "/v1/permissions", body)
	}
	for _, body := range []string{
		`{"agent_id":"asker","tool":""}`, `{"tool":"x"}`, `{"agent_id":"asker","tool":"x","command":"` + strings.Repeat("x", hub.MaxPermissionCommand+1) + `"}`,
		`{"agent_id":"asker","tool":"x","about":"` + strings.Repeat("x", hub.MaxPermissionAbout+1) + `"}`,
	} {
		c.refused(hub.CodeInvalid, "POST", "/v1/permissions/requests", body)
	}
	ask := c.ok(200, "POST", "/v1/permissions/requests", prompt)
	id := fmt.Sprint(ask.row("ask_id"))
	if ask.row("verdict") != "ask" || ask.row("wait_sec") != 30.0 {
		c.t.Errorf("the prompt is %s", ask.Result)
	}
	operator.refused(hub.CodeInvalid, "POST", "/v1/asks/"+id+"/answer", `{"answer":"perhaps"}`)
	operator.ok(200, "POST", "/v1/asks/"+id+"/answer", `{"answer":"allow","by":"Eva"}`)
	await := "/v1/permissions/requests/" + id + "/await"
	if a := c.ok(200, "POST", await, `{"agent_id":"asker","wait_sec":5}`); a.row("verdict") != "allow" || a.row("by") != "Eva" {
		c.t.Errorf("the answer is %s", a.Result)
	}
	c.refused(hub.CodeAskNotFound, "POST", await, `{"agent_id":"other","wait_sec":5}`)
	c.refused(hub.CodeInvalid, "POST", await, `{"agent_id":"asker","wait_sec":61}`)
	forced := c.ok(200, "POST", "/v1/permissions/requests", strings.Replace(prompt, "git push", "git push --force", 1))
	if forced.row("verdict") != "deny" || forced.row("by") != "rule 1: deny Bash git push --force" {
		c.t.Errorf("by a rule: %s", forced.Result)
	}
	c.refused(hub.CodeInvalid, "POST", "/v1/permissions/requests", `{"agent_id":"asker","tool":"x","nonce":"short"}`)
	c.refused(hub.CodeInvalid, "POST", await, `{"agent_id":"asker","nonce":"with a blank in it"}`)
}

// TestVerdictsAreProved: an answer about a permission prompt has a MAC if the caller sent a
// nonce, and no change of the answer, the nonce or the body leaves it valid.
func TestVerdictsAreProved(t *testing.T) {
	h := testhub.Start(t)
	c, token := newClient(t, h), h.Store.OperatorToken()
	operator := c.with(api.HeaderOperator, token)
	operator.ok(200, "PUT", "/v1/permissions", `{"version":0,"on":true,"rules":[{"decision":"deny","tool":"Read"}]}`)
	ask := func(path, body string) hub.Permission {
		var p hub.Permission
		require.NoError(t, json.Unmarshal(c.ok(200, "POST", path, body).Result, &p))
		return p
	}
	const nonce = "0123456789abcdef"
	sum := func(body string) [32]byte { return sha256.Sum256([]byte(body)) }
	without := `{"agent_id":"asker","tool":"Read"}`
	if p := ask("/v1/permissions/requests", without); p.MAC != "" {
		t.Errorf("without a nonce: %+v", p)
	}
	body := `{"agent_id":"asker", "tool":"Read","nonce":"` + nonce + `"}`
	denied := ask("/v1/permissions/requests", body)
	if denied.Verdict != hub.PermissionDeny || !api.VerdictHolds(token, nonce, sum(body), &denied) {
		t.Errorf("by a rule: %+v", denied)
	}
	other := hub.AskID("ask_x")
	for name, change := range map[string]func(p *hub.Permission){
		"verdict": func(p *hub.Permission) { p.Verdict = hub.PermissionAllow }, "question": func(p *hub.Permission) { p.AskID = &other },
		"by": func(p *hub.Permission) { p.By, p.Reason = "", p.By }, "reason": func(p *hub.Permission) { p.Reason = "do as I say" },
		"no MAC": func(p *hub.Permission) { p.MAC = "" },
	} {
		p := denied
		if change(&p); api.VerdictHolds(token, nonce, sum(body), &p) {
			t.Errorf("with another %s it holds", name)
		}
	}
	if api.VerdictHolds(token, nonce, sum(without), &denied) || api.VerdictHolds(token, nonce+"x", sum(body), &denied) || api.VerdictHolds("", nonce, sum(body), &denied) {
		t.Error("it holds for another body, nonce or token")
	}

	body = `{"agent_id":"asker","tool":"Bash","command":"make","nonce":"` + nonce + `"}`
	asked := ask("/v1/permissions/requests", body)
	if asked.Verdict != hub.PermissionAsk || !api.VerdictHolds(token, nonce, sum(body), &asked) {
		t.Fatalf("to the operator: %+v", asked)
	}
	operator.ok(200, "POST", "/v1/asks/"+string(*asked.AskID)+"/answer", `{"answer":"allow","by":"Eva"}`)
	body = `{"agent_id":"asker","wait_sec":5,"nonce":"` + nonce + `"}`
	allowed := ask("/v1/permissions/requests/"+string(*asked.AskID)+"/await", body)
	if allowed.Verdict != hub.PermissionAllow || !api.VerdictHolds(token, nonce, sum(body), &allowed) {
		t.Errorf("the operator's answer: %+v", allowed)
	}
}
