package httpapi

import (
	"hubcli/api"
	"hubcli/hub"
)

func seatHandlers() handlers {
	return handlers{
		"sit":           sit,
		"getRoomStatus": getRoomStatus,
		"getRoomMoment": getRoomMoment,
	}
}

func getRoomMoment(c *call) (reply, error) {
	query := c.query()
	q := hub.MomentQuery{
		RoomID: hub.RoomID(c.param), Seq: hub.Seq(query.ID("seq")), At: query.Time("ts"),
		SinceID: query.Cursor("since_id"), BeforeID: query.ID("before_id"), Limit: query.Limit(),
	}
	if q.Seq != 0 && q.At != 0 {
		query.Keep(hub.Invalid("seq", "seq and ts exclude each other").WithFix("send one of them, or none for now"))
	}
	if q.SinceID != 0 && q.BeforeID != 0 {
		query.Keep(hub.Invalid("since_id", "since_id and before_id exclude each other").WithFix("send one of them"))
	}
	q.Viewer = c.view(query)
	return readRow(c, query, q, c.service().Moment)
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
