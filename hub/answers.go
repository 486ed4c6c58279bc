package hub

import (
	"context"
	"encoding/json"
)

// Answers keeps what writes of the operator were answered whose effect is outside of the journal:
// files that were exported, settings of programs, a license. op is the id of the operation.
type Answers interface {
	// Once does a write, unless an earlier call with the caller's idempotency key was answered;
	// then the answer is that one. Errors: those of do, in_progress, idempotency_conflict.
	Once(ctx context.Context, op string, do func() (any, error)) (answer json.RawMessage, replayed bool, err error)
	// Answered returns the stored answer of an earlier call with the caller's key; nil: there is
	// none. It is for what goes on after its call has ended, and keeps its answer by itself.
	Answered(ctx context.Context, op string) (json.RawMessage, error)
}
