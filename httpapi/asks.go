package httpapi

import (
	"hubcli/api"
	"hubcli/hub"
)

func askHandlers() handlers {
	return handlers{
		"listAsks":       listAsks,
		"ask":            postAsk,
		"getAsk":         getAsk,
		"answerAsk":      answerAsk,
		"takeBackAnswer": takeBackAnswer,
		"withdrawAsk":    withdrawAsk,
	}
}

func listAsks(c *call) (reply, error) {
	query := c.query()
	q := hub.AsksQuery{
		State:  hub.AskState(query.Text("state")),
		RoomID: hub.RoomID(query.Name("room_id", hub.MaxNameChars)),
	}
	q.Cursor, q.Limit = query.Page(hub.DefaultPageRows)
	query.Keep(api.ValidateAsks(&q))
	q.AgentID = c.view(query)
	return readList(c, query, q, c.service().Asks)
}

func postAsk(c *call) (reply, error) {
	var in hub.AskInput
	return writeRow(c, &in, &in.AgentID, anyone(api.ValidateAsk), c.service().Ask, created)
}

func getAsk(c *call) (reply, error) {
	query := c.query()
	viewer := c.view(query)
	return readRow(c, query, viewer, of(hub.AskID(c.param), c.service().AskByID))
}

func answerAsk(c *call) (reply, error) {
	var in hub.AskAnswerInput
	return writeRow(c, &in, nil, anyone(api.ValidateAskAnswer), of(hub.AskID(c.param), c.service().AnswerAsk), changed)
}

func takeBackAnswer(c *call) (reply, error) {
	var in hub.AskTakeBackInput
	return writeRow(c, &in, nil, anyone(api.ValidateAskTakeBack), of(hub.AskID(c.param), c.service().TakeBackAnswer), changed)
}

func withdrawAsk(c *call) (reply, error) {
	var in hub.AskWithdrawInput
	return writeRow(c, &in, &in.AgentID, api.ValidateAskWithdraw, of(hub.AskID(c.param), c.service().WithdrawAsk), changed)
}
