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
	query, err := c.query()
	if err != nil {
		return reply{}, err
	}
	q := hub.StatusQuery{RoomID: hub.RoomID(c.param), All: query.Bool("all")}
	if q.Viewer, err = c.view(query); err != nil {
		return reply{}, err
	}
	row, err := c.server.config.Service.RoomStatus(c.context(), q)
	return reply{result: row}, err
}

// sit always answers 200, also when it is repeated: afterwards the seat exists.
func sit(c *call) (reply, error) {
	var in hub.SitInput
	if err := c.input(&in, &in.AgentID, func() error { return api.ValidateSit(&in) }); err != nil {
		return reply{}, err
	}
	out, err := c.server.config.Service.Sit(c.context(), hub.RoomID(c.param), in)
	return created(out, false), err
}
