package httpapi

import "hubcli/hub"

func getRoomStatus(c *call) (reply, error) {
	query, err := c.query()
	if err != nil {
		return reply{}, err
	}
	viewer, err := c.view(query)
	if err != nil {
		return reply{}, err
	}
	row, err := c.server.config.Service.RoomStatus(c.context(), hub.StatusQuery{RoomID: hub.RoomID(c.params.ByName("room_id")), Viewer: viewer})
	return reply{result: row}, err
}
