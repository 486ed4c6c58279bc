package client

import (
	"context"

	"hubcli/hub"
)

// Ask asks the operator.
func (c *Client) Ask(ctx context.Context, in hub.AskInput) (hub.Outcome[hub.Ask], error) {
	return write[hub.Ask](ctx, c, to("ask"), in)
}

// AnswerAsk answers a question. It carries the operator token.
func (c *Client) AnswerAsk(ctx context.Context, id hub.AskID, in hub.AskAnswerInput) (hub.Outcome[hub.Ask], error) {
	return write[hub.Ask](ctx, c, at("answerAsk", id), in)
}

// TakeBackAnswer takes an answer back. It carries the operator token.
func (c *Client) TakeBackAnswer(ctx context.Context, id hub.AskID, in hub.AskTakeBackInput) (hub.Outcome[hub.Ask], error) {
	return write[hub.Ask](ctx, c, at("takeBackAnswer", id), in)
}

// WithdrawAsk closes a question without an answer.
func (c *Client) WithdrawAsk(ctx context.Context, id hub.AskID, in hub.AskWithdrawInput) (hub.Outcome[hub.Ask], error) {
	return write[hub.Ask](ctx, c, at("withdrawAsk", id), in)
}

// Asks lists questions, newest first.
func (c *Client) Asks(ctx context.Context, q hub.AsksQuery) ([]hub.Ask, hub.Cursor, error) {
	return list[hub.Ask](ctx, c, to("listAsks"), params("agent_id", q.AgentID, "state", q.State, "room_id", q.RoomID), q.Cursor, q.Limit)
}

// AskByID returns a question.
func (c *Client) AskByID(ctx context.Context, id hub.AskID, viewer hub.AgentID) (hub.Ask, error) {
	if !segment(string(id)) {
		return hub.Ask{}, hub.NewError(hub.CodeAskNotFound, "there is no such question").With("ask_id", id).
			WithFix("name it by its ask_id")
	}
	return get[hub.Ask](ctx, c, at("getAsk", id), params("agent_id", viewer))
}
