package client

import (
	"context"
	"net/url"

	"hubcli/hub"
)

// Remember stores a memory.
func (c *Client) Remember(ctx context.Context, in hub.MemoryInput) (hub.Outcome[hub.Memory], error) {
	return write[hub.Memory](ctx, c, to("remember"), in)
}

// Recall returns memories.
func (c *Client) Recall(ctx context.Context, q hub.MemoryQuery) ([]hub.Memory, hub.Cursor, error) {
	v := values{}
	v.text("room_id", string(q.RoomID))
	v.text("memory_id", string(q.MemoryID))
	v.text("scope", string(q.Scope))
	v.text("key", q.Key)
	v.text("tag", q.Tag)
	v.text("query", q.Query)
	v.flag("history", q.History)
	v.number("max_chars", int64(q.MaxChars))
	return list[hub.Memory](ctx, c, to("recall"), v, q.Cursor, q.Limit)
}

// Search finds rows by their words.
func (c *Client) Search(ctx context.Context, q hub.SearchQuery) (hub.SearchPage, error) {
	v := values{}
	v.text("q", q.Text)
	v.text("agent_id", string(c.viewer(q.Viewer)))
	v.text("room_id", string(q.RoomID))
	v.text("channel", string(q.Channel))
	v.text("from_agent", string(q.FromAgent))
	v.text("kind", q.Kind)
	for _, t := range q.Types {
		url.Values(v).Add("type", string(t))
	}
	if q.Since != 0 {
		v.text("since", q.Since.String())
	}
	v.number("limit", int64(q.Limit))
	rows, got, err := result[[]hub.Found](ctx, c, call{target: to("search"), query: v})
	page := hub.SearchPage{Rows: rows}
	if got.Behind != nil {
		page.Behind = *got.Behind
	}
	return page, err
}
