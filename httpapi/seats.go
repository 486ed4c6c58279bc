package httpapi

import (
	"hubcli/api"
	"hubcli/hub"
)

var seatHandlers = handlers{
	"sit":           sit,
	"getRoomStatus": getRoomStatus,
}

func getRoomStatus(c *call) (reply, error) {
	query := c.query()
	q := hub.StatusQuery{RoomID: hub.RoomID(c.param), All: query.Bool("all")}
	q.Viewer = c.view(query)
	return readRow(c, query, q, c.service().RoomStatus)
}

// sit always answers 200, also when it is repeated: afterwards the seat exists.
func sit(c *call) (reply, error) {
	var in hub.SitInput
	return writeRow(c, &in, &in.AgentID, anyone(api.ValidateSit), of(hub.RoomID(c.param), c.service().Sit), changed)
}
