package httpapi

import (
	"hubcli/api"
	"hubcli/hub"
)

var memoryHandlers = handlers{
	"recall":   recall,
	"remember": remember,
}

func remember(c *call) (reply, error) {
	var in hub.MemoryInput
	if err := c.input(&in, &in.By, func() error { return api.ValidateMemory(&in, c.caller.Operator) }); err != nil {
		return reply{}, err
	}
	out, err := c.server.config.Service.Remember(c.context(), in)
	return created(out, out.Created), err
}

func recall(c *call) (reply, error) {
	query, err := c.query()
	if err != nil {
		return reply{}, err
	}
	q := hub.MemoryQuery{
		RoomID:   hub.RoomID(query.Name("room_id", hub.MaxNameChars)),
		MemoryID: hub.MemoryID(query.Name("memory_id", hub.MaxNameChars)),
		Scope:    hub.MemoryScope(query.Text("scope")),
		Key:      query.Name("key", hub.MaxNameChars),
		Tag:      query.Name("tag", hub.MaxNameChars),
		Query:    query.Text("query"),
		History:  query.Bool("history"),
		MaxChars: query.MaxChars(),
	}
	q.Cursor, q.Limit = query.Page(api.DefaultRecallRows)
	query.Keep(api.ValidateRecall(&q))
	if err := query.Err(); err != nil {
		return reply{}, err
	}
	if err := c.actAs(c.own()); err != nil {
		return reply{}, err
	}
	return listed(c.server.config.Service.Recall(c.context(), q))
}
