package mcp

import "sync"

// hints are words under which a search should find a tool, beside those of its
// title and description. The hub's own search and that of harnesses which defer
// tools use them.
var hints = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"hub_start":              "begin session, who am I, inbox, mail, my work, teammates, who else is working",
		"hub_take":               "start work on a task, assign to me, lock files before editing, next task",
		"hub_done":               "finish complete task, report result, answer a request, release claims and locks",
		"hub_plan":               "split work into tasks with dependencies, create several tasks, run, batch",
		"hub_ask_human":          "ask my user, operator, person, approval, permission, decision, question to a human",
		"hub_browser_open":       "open web page URL, browse, website, browser, local dev server",
		"hub_browser_snapshot":   "look at web page elements, accessibility tree, refs, browser",
		"hub_browser_click":      "click button or link on web page, browser",
		"hub_browser_type":       "type text into form field of web page, fill in, browser",
		"hub_browser_press":      "press key on web page, keyboard, Enter, browser",
		"hub_browser_select":     "select option of dropdown list on web page, browser",
		"hub_browser_screenshot": "screenshot, picture of web page, see how it looks, browser",
		"hub_browser_back":       "go back to previous web page, history, browser",
		"hub_browser_close":      "close web page, release browser for others",
		"hub_whoami":             "who am I, my own identity, name, unread count",
		"hub_list_agents":        "who else is working, online, teammates, other agents, colleagues, presence",
		"hub_poll_messages":      "read inbox, new mail, messages from teammates, wait for a reply",
		"hub_post_message":       "send message to teammates, tell everyone, broadcast, announce, create open new task, reply",
		"hub_dm":                 "send a message, direct private message to one agent",
		"hub_rpc_call":           "ask another agent and wait for the answer, delegate",
		"hub_get_message":        "full text of a message",
		"hub_get_thread":         "conversation, discussion",
		"hub_create_channel":     "new public channel",
		"hub_room_status":        "who else is working, overview, dashboard, what is going on, status of the team, which files are locked",
		"hub_list_rooms":         "find rooms, projects, workspaces",
		"hub_create_project":     "new project",
		"hub_create_room":        "open new room, workspace",
		"hub_create_invite":      "bring another agent into the room, code",
		"hub_join":               "enter a room, invite code, change identity",
		"hub_claim":              "reserve work, mutual exclusion, avoid duplicate work",
		"hub_refresh_claim":      "renew extend reservation",
		"hub_release":            "give up drop a claim",
		"hub_lock":               "before editing a file, reserve file, avoid conflicts overwritten edits",
		"hub_unlock":             "release file lock",
		"hub_list_tasks":         "open work, to-do, backlog, ready tasks, assigned to me",
		"hub_update_task":        "assign, take over, hand over, handoff, delegate, change status, accept, decline, dependencies",
		"hub_complete_task":      "finish, mark done",
		"hub_watch":              "wait in the background, wake me, sleep until a message or tasks finish",
		"hub_record_decision":    "agree, decide, architecture choice, write down",
		"hub_list_decisions":     "what was decided, agreed, decision log",
		"hub_add_artifact":       "save share plan, report, document, file",
		"hub_get_artifact":       "open shared plan, report, document, file",
		"hub_remember":           "store knowledge, note for later sessions, learn",
		"hub_forget":             "delete outdated memory",
		"hub_recall":             "look up knowledge, what do we know, how to, memory",
		"hub_search":             "find text in history, full-text search",
		"hub_spawn":              "start launch a new agent, sub-agent in another program",
	}
})
