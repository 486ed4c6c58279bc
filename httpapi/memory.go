package httpapi

import (
	"hubcli/api"
	"hubcli/hub"
)

func memoryHandlers() handlers {
	return handlers{
		"recall":   recall,
		"remember": remember,
	}
}

func remember(c *call) (reply, error) {
	var in hub.MemoryInput
	return writeRow(c, &in, &in.By, api.ValidateMemory, c.service().Remember, created)
}

func recall(c *call) (reply, error) {
	query := c.query()
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
	c.readAs(query, c.own())
	return readList(c, query, q, c.service().Recall)
}
