package client

import (
	"context"

	"hubcli/hub"
)

// Recall returns memories.
func (c *Client) Recall(ctx context.Context, q hub.MemoryQuery) ([]hub.Memory, hub.Cursor, error) {
	return list[hub.Memory](ctx, c, to("recall"), params("room_id", q.RoomID, "memory_id", q.MemoryID, "scope", q.Scope,
		"key", q.Key, "tag", q.Tag, "query", q.Query, "history", q.History, "max_chars", q.MaxChars), q.Cursor, q.Limit)
}

// Search finds rows that hold words of the query.
func (c *Client) Search(ctx context.Context, q hub.SearchQuery) (hub.SearchPage, error) {
	query := params("q", q.Text, "agent_id", c.viewer(q.Viewer), "room_id", q.RoomID, "channel", q.Channel,
		"from_agent", q.FromAgent, "kind", q.Kind, "type", q.Types, "since", q.Since, "limit", q.Limit)
	rows, got, err := result[[]hub.Found](ctx, c, call{target: to("search"), query: query})
	page := hub.SearchPage{Rows: rows}
	if got.Behind != nil {
		page.Behind = *got.Behind
	}
	return page, err
}
