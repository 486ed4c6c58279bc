package actors

import (
	"context"
	"encoding/json"

	"hubcli/actors/gate"
)

// Once does a write whose effect is outside of the journal; see hub.Answers.
func (h *Hub) Once(ctx context.Context, op string, do func() (any, error)) (json.RawMessage, bool, error) {
	act := ruling(op)
	return gate.Once(ctx, h.gate, &act, func() (json.RawMessage, error) {
		answer, err := do()
		if err != nil {
			return nil, err
		}
		return json.Marshal(answer)
	})
}

// Answered returns the stored answer of an earlier call; see hub.Answers.
func (h *Hub) Answered(ctx context.Context, op string) (json.RawMessage, error) {
	act := ruling(op)
	answer, _, err := gate.Answered(ctx, h.gate, &act, gate.Outside[json.RawMessage]())
	return answer, err
}
