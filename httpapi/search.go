package httpapi

import (
	"hubcli/api"
	"hubcli/hub"
)

func searchHandlers() handlers {
	return handlers{
		"search": search,
	}
}

func search(c *call) (reply, error) {
	query := c.query()
	q := hub.SearchQuery{
		Text:      query.Text("q"),
		RoomID:    hub.RoomID(query.Name("room_id", hub.MaxNameChars)),
		Channel:   hub.ChannelName(query.Name("channel", hub.MaxNameChars)),
		FromAgent: query.Agent("from_agent"),
		Kind:      query.Name("kind", hub.MaxNameChars),
		Since:     query.Time("since"),
		Limit:     query.LimitOf(api.DefaultSearchRows, api.MaxSearchRows),
	}
	for _, t := range query.Names("type", hub.MaxNameChars) {
		q.Types = append(q.Types, hub.FoundType(t))
	}
	query.Keep(api.ValidateSearch(&q))
	q.Viewer = c.view(query)
	if err := query.Err(); err != nil {
		return reply{}, err
	}
	page, err := c.service().Search(c.context(), q)
	return reply{result: list(page.Rows), behind: &page.Behind}, err
}
