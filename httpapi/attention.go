package httpapi

import (
	"hubcli/api"
	"hubcli/hub"
)

var attentionHandlers = handlers{
	"getAttention": getAttention,
	"tellAgent":    postAttention,
}

func getAttention(c *call) (reply, error) {
	query, err := c.query()
	if err != nil {
		return reply{}, err
	}
	q := hub.AttentionQuery{Room: hub.RoomID(query.Name("room_id", hub.MaxNameChars))}
	if q.Agent, err = c.reader(query); err != nil {
		return reply{}, err
	}
	row, err := c.server.config.Service.Attention(c.context(), q)
	row.Directed, row.Tasks = list(row.Directed), list(row.Tasks)
	row.Claims, row.Proposals = list(row.Claims), list(row.Proposals)
	return reply{result: row}, err
}

func postAttention(c *call) (reply, error) {
	var in hub.ToldInput
	if err := c.input(&in, &in.AgentID, func() error { return api.ValidateTold(&in) }); err != nil {
		return reply{}, err
	}
	row, err := c.server.config.Service.Tell(c.context(), in)
	return reply{result: row}, err
}
