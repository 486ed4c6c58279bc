package httpapi

import (
	"net/http"

	"hubcli/api"
	"hubcli/hub"
)

var watchHandlers = handlers{
	"watch": getWatch,
}

// getWatch waits until all conditions hold. If the wait is over or the hub
// stops first, the answer is a success too and shows which conditions do not
// hold.
func getWatch(c *call) (reply, error) {
	query, err := c.query()
	if err != nil {
		return reply{}, err
	}
	q := hub.WatchQuery{
		Room:  hub.RoomID(query.Name("room_id", hub.MaxNameChars)),
		Label: query.Name("label", hub.MaxWatchLabelChars),
		Wait:  query.WaitUpTo(c.route.Wait.Default, hub.MaxWatchWait),
		Began: query.Time("began"),
	}
	until := query.Texts("until")
	if q.Agent, err = c.reader(query); err != nil {
		return reply{}, err
	}
	if err := api.ValidateWatch(&q, until); err != nil {
		return reply{}, err
	}
	if c.r.Method == http.MethodHead {
		q.Wait = 0
	}
	c.parks(q.Wait)
	row, err := c.server.config.Service.Watch(c.context(), q)
	row.Conditions, row.Messages = list(row.Conditions), list(row.Messages)
	return reply{result: row}, err
}
