package actors

import (
	"context"

	"hubcli/hub"
)

// Ask asks the operator; see hub.Asks.
func (h *Hub) Ask(ctx context.Context, in hub.AskInput) (hub.Outcome[hub.Ask], error) {
	return h.asks.Ask(ctx, in)
}

// AnswerAsk answers a question; see hub.Asks.
func (h *Hub) AnswerAsk(ctx context.Context, id hub.AskID, in hub.AskAnswerInput) (hub.Outcome[hub.Ask], error) {
	return h.asks.AnswerAsk(ctx, id, in)
}

// TakeBackAnswer takes an answer back; see hub.Asks.
func (h *Hub) TakeBackAnswer(ctx context.Context, id hub.AskID, in hub.AskTakeBackInput) (hub.Outcome[hub.Ask], error) {
	return h.asks.TakeBackAnswer(ctx, id, in)
}

// WithdrawAsk closes a question without an answer; see hub.Asks.
func (h *Hub) WithdrawAsk(ctx context.Context, id hub.AskID, in hub.AskWithdrawInput) (hub.Outcome[hub.Ask], error) {
	return h.asks.WithdrawAsk(ctx, id, in)
}

// AskByID returns a question; see hub.Asks.
func (h *Hub) AskByID(ctx context.Context, id hub.AskID, viewer hub.AgentID) (hub.Ask, error) {
	return h.asks.AskByID(ctx, id, viewer)
}
