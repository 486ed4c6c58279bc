package httpapi

import (
	"hubcli/api"
	"hubcli/hub"
)

func attentionHandlers() handlers {
	return handlers{
		"getAttention": getAttention,
		"tellAgent":    postAttention,

		"getAttentionLedger": getAttentionLedger,
		"noteTurn":           postTurn,
	}
}

func getAttention(c *call) (reply, error) {
	query := c.query()
	q := hub.AttentionQuery{Room: hub.RoomID(query.Name("room_id", hub.MaxNameChars))}
	q.Agent = c.reader(query)
	if err := query.Err(); err != nil {
		return reply{}, err
	}
	row, err := c.service().Attention(c.context(), q)
	row.Directed, row.Tasks = list(row.Directed), list(row.Tasks)
	row.Claims, row.Proposals = list(row.Claims), list(row.Proposals)
	return reply{result: row}, err
}

func getAttentionLedger(c *call) (reply, error) {
	query := c.query()
	if err := query.Err(); err != nil {
		return reply{}, err
	}
	row, err := c.service().AttentionLedger(c.context())
	row.Rows, row.Rooms = list(row.Rows), list(row.Rooms)
	return reply{result: row}, err
}

func postAttention(c *call) (reply, error) {
	var in hub.ToldInput
	return writeRow(c, &in, &in.AgentID, anyone(api.ValidateTold), c.service().Tell, plain)
}

func postTurn(c *call) (reply, error) {
	var in hub.TurnInput
	return writeRow(c, &in, &in.AgentID, anyone(api.ValidateTurn), c.service().NoteTurn, plain)
}
