package httpapi

import (
	"hubcli/api"
	"hubcli/hub"
)

func watchHandlers() handlers {
	return handlers{
		"watch": getWatch,
	}
}

// getWatch waits until all conditions hold. If the wait is over or the hub
// stops first, the answer is a success too and shows which conditions do not
// hold.
func getWatch(c *call) (reply, error) {
	query := c.query()
	q := hub.WatchQuery{
		Room:  hub.RoomID(query.Name("room_id", hub.MaxNameChars)),
		Label: query.Name("label", hub.MaxWatchLabelChars),
		Wait:  query.WaitUpTo(c.route.Wait.Default, hub.MaxWatchWait),
		Began: query.Time("began"), Stream: query.Bool("stream"), After: query.Cursor("after_id"),
	}
	until := query.Texts("until")
	q.Agent = c.reader(query)
	query.Keep(api.ValidateWatch(&q, until))
	if err := query.Err(); err != nil {
		return reply{}, err
	}
	c.parksRead(&q.Wait)
	row, err := c.service().Watch(c.context(), q)
	row.Conditions, row.Messages = list(row.Conditions), list(row.Messages)
	return reply{result: row}, err
}
