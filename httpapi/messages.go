package httpapi

import (
	"net/http"

	"hubcli/api"
	"hubcli/hub"
)

func messageHandlers() handlers {
	return handlers{
		"pollEvents":   pollEvents,
		"getInbox":     getInbox,
		"readLog":      readLog,
		"listMessages": listMessages,
		"postMessage":  postMessage,
		"getMessage":   getMessage,
		"getReceipt":   getReceipt,
		"listThreads":  listThreads,
		"getThread":    getThread,
	}
}

func postMessage(c *call) (reply, error) {
	var in hub.PostInput
	if err := c.input(&in, &in.FromAgent, func() error { return api.ValidatePost(&in, c.server.config.Limits, c.caller.Operator) }); err != nil {
		return reply{}, err
	}
	out, err := c.service().Post(c.context(), in)
	return reply{status: http.StatusCreated, row: out.Row, replayed: out.Replayed, recipient: out.Recipient, muted: out.Muted}, err
}

func getMessage(c *call) (reply, error) {
	id, err := c.id("message_id", hub.CodeMessageNotFound)
	if err != nil {
		return reply{}, err
	}
	query := c.query()
	viewer := c.view(query)
	if err := query.Err(); err != nil {
		return reply{}, err
	}
	row, err := c.service().Message(c.context(), id, viewer)
	return reply{row: row}, err
}

func getReceipt(c *call) (reply, error) {
	id, err := c.id("message_id", hub.CodeMessageNotFound)
	if err != nil {
		return reply{}, err
	}
	query := c.query()
	viewer := c.view(query)
	if err := query.Err(); err != nil {
		return reply{}, err
	}
	return oneRow(c.service().Receipt(c.context(), id, viewer))
}

func listMessages(c *call) (reply, error) {
	query := c.query()
	q := hub.MessagesQuery{
		Channel:  hub.ChannelName(query.Name("channel", hub.MaxNameChars)),
		ThreadID: query.Thread(),
		Since:    query.Cursor("since_id"),
		Limit:    query.Limit(),
		Tail:     query.Bool("tail"),
		Wait:     query.Wait(0),
	}
	if q.Channel == "" && q.ThreadID == "" {
		query.Keep(hub.Invalid("channel", "a listing needs channel or thread_id").WithFix("name a channel or a thread"))
	}
	c.view(query)
	if err := query.Err(); err != nil {
		return reply{}, err
	}
	c.parksRead(&q.Wait)
	page, err := c.service().Messages(c.context(), q)
	return reply{page: &page}, err
}

// reader is view for a call that needs an agent.
func (c *call) reader(q *api.Query) hub.AgentID {
	agent := q.Agent("agent_id")
	if agent == "" && c.own() == "" {
		q.Keep(hub.CheckAgentID("agent_id", agent))
	}
	return c.view(q)
}

func pollEvents(c *call) (reply, error) {
	q, err := c.eventsQuery()
	if err != nil {
		return reply{}, err
	}
	c.parksRead(&q.Wait)
	page, err := c.service().Events(c.context(), q)
	return reply{page: &page}, err
}

func (c *call) eventsQuery() (hub.EventsQuery, error) {
	query := c.query()
	q := hub.EventsQuery{
		RoomID:      hub.RoomID(query.Name("room_id", hub.MaxNameChars)),
		ThreadID:    query.Thread(),
		Since:       query.Cursor("since_id"),
		ExcludeSelf: query.Bool("exclude_self"),
		Limit:       query.Limit(),
		MaxChars:    query.MaxChars(),
		Wait:        query.Wait(c.route.Wait.Default),
		Peek:        query.Bool("peek"),
		Awaits:      query.Cursor("awaits"),
	}
	q.Channels = channels(query.Names("channel", hub.MaxNameChars))
	if len(q.Channels) != 0 && q.RoomID != "" {
		query.Keep(hub.Invalid("room_id", "channel and room_id exclude each other").WithFix("send one of them"))
	}
	q.Agent = c.reader(query)
	return q, query.Err()
}

func channels(names []string) []hub.ChannelName {
	if len(names) == 0 {
		return nil
	}
	list := make([]hub.ChannelName, len(names))
	for i, name := range names {
		list[i] = hub.ChannelName(name)
	}
	return list
}

// readLog returns messages for a spectator. Direct messages of all agents are shown to
// the operator alone, and then the call is logged.
func readLog(c *call) (reply, error) {
	query := c.query()
	q := hub.LogQuery{
		RoomID:   hub.RoomID(query.Name("room_id", hub.MaxNameChars)),
		Channel:  hub.ChannelName(query.Name("channel", hub.MaxNameChars)),
		ThreadID: query.Thread(),
		Agent:    query.Agent("agent"),
		Direct:   query.Bool("direct"),
		SinceID:  query.Cursor("since_id"),
		BeforeID: query.Cursor("before_id"),
		Since:    query.Time("since"),
		Until:    query.Time("until"),
		Tail:     query.Bool("tail"),
		Limit:    query.Limit(),
		Wait:     query.Wait(0),
	}
	scopes := 0
	for _, named := range []bool{q.RoomID != "", q.Channel != "", q.ThreadID != ""} {
		if named {
			scopes++
		}
	}
	if scopes > 1 {
		query.Keep(hub.Invalid("room_id", "room_id, channel and thread_id exclude each other").WithFix("send one of them"))
	}
	if err := query.Err(); err != nil {
		return reply{}, err
	}
	if q.Direct {
		c.logged, c.agent = true, hub.AgentOperator
		if !c.caller.Operator {
			return reply{}, c.needsOperator("direct messages of all agents are shown to the operator alone")
		}
	}
	if c.agent == "" { // to look at the log is no sign of life
		c.agent = c.own()
	}
	if err := c.takeTurn(); err != nil {
		return reply{}, err
	}
	c.parksRead(&q.Wait)
	page, err := c.service().Log(c.context(), q)
	return reply{page: &page}, err
}

// getInbox returns the direct messages of an agent. With as_operator the
// operator gets those of all agents, and then the call is logged.
func getInbox(c *call) (reply, error) {
	agent := hub.AgentID(c.param)
	if err := hub.CheckAgentID("agent_id", agent); err != nil {
		return reply{}, err
	}
	query := c.query()
	q := hub.InboxQuery{
		Agent: agent,
		Since: query.Cursor("since_id"),
		Limit: query.Limit(),
		Tail:  query.Bool("tail"),
		Peek:  query.Bool("peek"),
	}
	asOperator := query.Bool("as_operator") || agent.Reserved()
	if err := query.Err(); err != nil {
		return reply{}, err
	}
	if asOperator {
		c.logged, c.agent = true, hub.AgentOperator
		if !c.caller.Operator {
			return reply{}, c.needsOperator("this inbox is shown to the operator alone")
		}
	} else if err := c.actAs(agent); err != nil {
		return reply{}, err
	}
	page, err := c.service().Inbox(c.context(), q)
	return reply{page: &page}, err
}

func listThreads(c *call) (reply, error) {
	query := c.query()
	var q hub.ThreadsQuery
	q.Cursor, q.Limit = query.Page(hub.DefaultPageRows)
	q.Viewer = c.view(query)
	return readList(c, query, q, c.service().Threads)
}

func getThread(c *call) (reply, error) {
	id := hub.ThreadID(c.param)
	if hub.CheckThread("thread_id", id) != nil {
		return reply{}, hub.NewError(hub.CodeThreadNotFound, "there is no such thread")
	}
	query := c.query()
	viewer := c.view(query)
	if err := query.Err(); err != nil {
		return reply{}, err
	}
	row, err := c.service().Thread(c.context(), id, viewer)
	row.Messages, row.Tasks = list(row.Messages), list(row.Tasks)
	row.Claims, row.Locks = list(row.Claims), list(row.Locks)
	return reply{result: row}, err
}
