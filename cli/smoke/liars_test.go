package smoke_test

import (
	"net/http"
	"strings"

	"hubcli/cli/smoke"
)

// liars are what the steps must notice.
var liars = []liar{
	{name: "speaks another protocol", step: "hub-info", lie: func(e *exchange) {
		if e.is("GET", "/v1/hub-info") {
			e.row()["protocol_version"] = "2"
		}
	}},
	{name: "lacks a kind", step: "hub-info", lie: func(e *exchange) {
		if e.is("GET", "/v1/hub-info") {
			e.row()["message_kinds"] = []any{"chat"}
		}
	}},
	{name: "registers two sessions", step: "register", lie: func(e *exchange) {
		if e.is("POST", "/v1/sessions") && e.in["replace"] == false {
			e.answer(201, object{"session_id": "x.y", "agent_id": e.in["agent_id"], "active": true})
		}
	}},
	{name: "keeps the displaced session", step: "register", lie: func(e *exchange) {
		if e.is("DELETE", "/v1/sessions/") && e.status == 404 {
			e.answer(200, object{"session_id": "x", "deleted": true})
		}
	}},
	{name: "believes the displaced session", step: "register", lie: func(e *exchange) {
		if e.is("GET", "/v1/agents") && e.status == 409 {
			e.answer(200, []any{})
		}
	}},
	{name: "makes a channel twice", step: "meet", lie: func(e *exchange) {
		if e.is("POST", "/v1/channels") {
			e.status = 201
		}
	}},
	{name: "forgets an agent", step: "presence", lie: func(e *exchange) {
		if e.is("GET", "/v1/agents") {
			e.drop(func(row any) bool { return row.(object)["agent_id"] == "smoke-b" })
		}
	}},
	{name: "lists the secrets of sessions", step: "presence", lie: func(e *exchange) {
		if e.is("POST", "/v1/sessions") && e.status == 201 {
			e.memory.rows[e.in["agent_id"].(string)] = e.row()["session_id"]
		}
		if e.is("GET", "/v1/agents") && e.status == 200 {
			for _, row := range e.rows() {
				row.(object)["session_id"] = e.memory.rows[row.(object)["agent_id"].(string)]
			}
		}
	}},
	{name: "repeats a message", step: "channel", lie: func(e *exchange) {
		if e.is("GET", "/v1/events") && e.of(smoke.RoleA) && len(e.rows()) > 0 {
			if old := e.memory.rows["line"]; old != nil {
				e.out["result"] = append(e.rows(), old)
			}
			for _, row := range e.rows() {
				if word(row) == "line" {
					e.memory.rows["line"] = row
				}
			}
		}
	}},
	{name: "loses a message", step: "channel", late: true, lie: func(e *exchange) {
		if e.is("GET", "/v1/events") && e.of(smoke.RoleA) {
			e.drop(func(row any) bool { return row.(object)["body"] == "line 2 of smoke-b" })
		}
	}},
	{name: "swaps two messages", step: "channel", lie: func(e *exchange) {
		if rows := e.rows(); e.is("GET", "/v1/events") && len(rows) > 1 && word(rows[0]) == "line" {
			rows[0], rows[1] = rows[1], rows[0]
		}
	}},
	{name: "changes a message for one agent", step: "channel", lie: func(e *exchange) {
		if e.is("GET", "/v1/events") && e.of(smoke.RoleC) {
			for _, row := range e.rows() {
				if row.(object)["body"] == "line 3 of smoke-a" {
					row.(object)["metadata"].(object)["smoke"].(object)["n"] = 4.0
				}
			}
		}
	}},
	{name: "lists fewer messages than it shows", step: "channel", lie: func(e *exchange) {
		if e.is("GET", "/v1/messages") {
			e.drop(func(row any) bool { return row.(object)["body"] == "line 1 of smoke-c" })
		}
	}},
	{name: "forgets idempotency keys", step: "channel", ask: func(r *http.Request) {
		r.Header.Del("Idempotency-Key")
	}},
	{name: "loses a reply", step: "thread", lie: func(e *exchange) {
		if e.is("GET", "/v1/threads/") && e.status == 200 {
			messages := e.row()["messages"].([]any)
			e.row()["messages"] = messages[:len(messages)-1]
		}
	}},
	{name: "miscounts a thread", step: "thread", lie: func(e *exchange) {
		if e.is("GET", "/v1/threads/") && e.status == 200 {
			e.row()["thread"].(object)["message_count"] = 2.0
		}
	}},
	{name: "forgets what a reply answers", step: "thread", lie: func(e *exchange) {
		if e.is("GET", "/v1/events") {
			for _, row := range e.rows() {
				row.(object)["reply_to"] = nil
			}
		}
	}},
	{name: "leaks a direct message in polls", step: "direct", lie: func(e *exchange) {
		if e.is("POST", "/v1/messages") && word(e.out["result"]) == "secret" { // before anybody posts behind it
			e.memory.rows["secret"] = e.out["result"]
		}
		if secret := e.memory.rows["secret"]; secret != nil && e.is("GET", "/v1/events") && e.of(smoke.RoleC) {
			e.out["result"] = append([]any{secret}, e.rows()...)
		}
	}},
	{name: "leaks a direct message in the thread's listing", step: "direct", lie: func(e *exchange) {
		if e.is("GET", "/v1/messages") && e.r.URL.Query().Has("thread_id") {
			e.out["result"] = append(e.rows(), object{"id": sinceOf(e) + 1, "body": "between us"})
		}
	}},
	{name: "shows a direct message by its id", step: "direct", ask: func(r *http.Request) {
		if r.Method == "GET" && strings.HasPrefix(r.URL.Path, "/v1/messages/") {
			r.Header.Del("X-Hub-Session")
			r.URL.RawQuery = "agent_id=smoke-b"
		}
	}},
	{name: "loses a direct message", step: "direct", lie: func(e *exchange) {
		if e.is("GET", "/v1/events") {
			e.drop(func(row any) bool { return word(row) == "secret" })
		}
	}},
	{name: "empties the inbox", step: "direct", lie: func(e *exchange) {
		if e.is("GET", "/v1/inbox/") {
			e.out["result"] = []any{}
		}
	}},
	{name: "grants a claim twice", step: "claim-race", lie: func(e *exchange) {
		if e.is("POST", "/v1/claims") && e.out["acquired"] == false {
			e.status, e.out["acquired"] = 201, true
			e.row()["owner_agent_id"] = e.in["owner_agent_id"]
		}
	}},
	{name: "names the wrong holder", step: "claim-race", lie: func(e *exchange) {
		if e.is("POST", "/v1/claims") && e.out["acquired"] == false {
			e.row()["owner_agent_id"] = "somebody"
		}
	}},
	{name: "shows another fence to the losers", step: "claim-race", lie: func(e *exchange) {
		if e.is("POST", "/v1/claims") && e.out["acquired"] == false {
			e.row()["fence"] = number(e.row(), "fence") + 1
		}
	}},
	{name: "grants a held claim to who waits", step: "hand-over", lie: func(e *exchange) {
		if e.is("POST", "/v1/claims") && e.in["wait_sec"] != nil && e.out["acquired"] == false {
			e.status, e.out["acquired"] = 201, true
			e.row()["owner_agent_id"] = e.in["owner_agent_id"]
			e.row()["fence"] = number(e.row(), "fence") + 1
		}
	}},
	{name: "grants with the fence before", step: "hand-over", ask: func(r *http.Request) {
		change(r, "/v1/claims/release", func(in object) { delete(in, "fence") })
	}, lie: func(e *exchange) {
		if e.is("POST", "/v1/claims") {
			e.row()["fence"] = 1.0
		}
	}},
	{name: "releases twice", step: "hand-over", lie: func(e *exchange) {
		if e.is("POST", "/v1/claims/release") && e.in["fence"] == nil && e.memory.rows["released"] != nil {
			e.answer(200, object{"claim_key": "x"})
		}
		if e.is("POST", "/v1/claims/release") && e.in["fence"] != nil {
			e.memory.rows["released"] = true
		}
	}},
	{name: "takes a result of nothing", step: "task", ask: func(r *http.Request) {
		change(r, "/v1/messages", func(in object) {
			if in["kind"] == "task_result" && in["reply_to"] == nil {
				in["kind"] = "chat"
			}
		})
	}},
	{name: "leaves an answered task open", step: "task", lie: func(e *exchange) {
		if e.is("GET", "/v1/tasks/") && e.status == 200 && e.row()["assignee"] != nil {
			e.row()["status"] = "open"
		}
	}},
	{name: "does not mark what a result completes", step: "task", lie: func(e *exchange) {
		if e.is("GET", "/v1/events") {
			for _, row := range e.rows() {
				if row.(object)["kind"] == "task_result" {
					delete(row.(object)["metadata"].(object), "task_completed")
				}
			}
		}
	}},
	{name: "shows a private task", step: "task", lie: func(e *exchange) {
		if e.is("GET", "/v1/tasks/") && e.status == 404 {
			e.answer(200, object{"task_id": 1.0})
		}
	}},
	{name: "drops a rollup", step: "rollup", lie: func(e *exchange) {
		if e.is("GET", "/v1/tasks/") && e.status == 200 && e.row()["title"] == "the whole" {
			e.row()["status"] = "open"
		}
	}},
	{name: "rolls up early", step: "rollup", lie: func(e *exchange) {
		if e.is("GET", "/v1/tasks/") && e.status == 200 && e.row()["title"] == "the whole" {
			e.row()["status"] = "done"
		}
	}},
	{name: "forgets the notice", step: "rollup", lie: func(e *exchange) {
		if e.is("GET", "/v1/events") {
			e.drop(func(row any) bool { return row.(object)["from_agent"] == "system" })
		}
	}},
	{name: "locks for two", step: "lock", lie: func(e *exchange) {
		if e.is("POST", "/v1/locks") && e.out["acquired"] == false {
			e.status, e.out["acquired"] = 201, true
			e.row()["agent_id"] = e.in["agent_id"]
		}
	}},
	{name: "keeps a lock that was released", step: "lock", lie: func(e *exchange) {
		if e.is("POST", "/v1/locks") && e.out["acquired"] == true && e.in["agent_id"] == "smoke-b" {
			e.status, e.out["acquired"] = 200, false
			e.row()["agent_id"] = "smoke-a"
		}
	}},
	{name: "unlocks for who has not locked", step: "lock", lie: func(e *exchange) {
		if e.is("POST", "/v1/locks/release") && e.in["agent_id"] == "smoke-c" && e.memory.rows["locked"] != nil {
			e.answer(200, object{"file_path": "x"})
		}
		if e.is("POST", "/v1/locks") {
			e.memory.rows["locked"] = true
		}
	}},
	{name: "lists who has left", step: "leave", late: true, lie: func(e *exchange) {
		if !e.is("GET", "/v1/agents") || e.status != 200 {
			return
		}
		for _, row := range e.rows() {
			if row.(object)["agent_id"] == "smoke-c" {
				e.memory.rows["smoke-c"] = row
				return
			}
		}
		if row := e.memory.rows["smoke-c"]; row != nil {
			e.out["result"] = append(e.rows(), row)
		}
	}},
	{name: "drops all who are there when one leaves", step: "leave", lie: func(e *exchange) {
		if e.is("GET", "/v1/agents") && len(e.rows()) == 2 && e.memory.rows["all"] != nil {
			e.out["result"] = []any{}
		}
		if e.is("GET", "/v1/agents") && len(e.rows()) == 3 {
			e.memory.rows["all"] = true
		}
	}},
	{name: "keeps a claim that was released", step: "end", lie: func(e *exchange) {
		if e.is("GET", "/v1/claims") {
			e.out["result"] = append(e.rows(), object{"claim_key": string(smoke.DefaultClaim), "owner_agent_id": "smoke-b"})
		}
	}},
	{name: "keeps a lock in its list", step: "end", lie: func(e *exchange) {
		if e.is("GET", "/v1/locks") {
			e.out["result"] = append(e.rows(), object{"file_path": "smoke/" + string(smoke.DefaultClaim), "agent_id": "smoke-b"})
		}
	}},
}
