package linear

import (
	"fmt"
	"maps"
	"slices"

	"github.com/anishathalye/porcupine"
)

// sessionOp is a call about the sessions of an agent.
type sessionOp struct {
	Do          string // register, prove
	Incarnation int64  // prove: of the session
}

// sessionOut is its answer.
type sessionOut struct {
	Code        string
	Incarnation int64
}

// sessionModel is an agent: the state is how many sessions it has had, of which the last
// is in force.
var sessionModel = (&porcupine.NondeterministicModel{
	Init: func() []any { return []any{int64(0)} },
	Step: func(state, input, output any) []any {
		n, o := state.(int64), input.(*op)
		in := o.in.(sessionOp)
		switch {
		case !o.known && in.Do == "register":
			return []any{n, n + 1}
		case !o.known:
			return []any{n}
		}
		out := output.(sessionOut)
		switch {
		case in.Do == "register" && out.Incarnation == n+1:
			return []any{n + 1}
		case in.Do == "prove" && in.Incarnation == n && out.Code == "":
			return []any{n}
		case in.Do == "prove" && in.Incarnation < n && out.Code == "session_replaced":
			return []any{n}
		}
		return nil
	},
	DescribeOperation: describe,
}).ToModel()

// sessions are those of an agent that clients share.
type sessions struct {
	history
	secrets map[int64]string // by incarnation
}

func newSessions(name string) *sessions {
	return &sessions{history: history{name: name, model: sessionModel}, secrets: map[int64]string{}}
}

func (s *sessions) next(c *client) *call {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.secrets) > 0 && c.random.IntN(4) > 0 {
		// Mostly the latest that is known, else one that was displaced.
		known := slices.Sorted(maps.Keys(s.secrets))
		in := sessionOp{Do: "prove", Incarnation: known[len(known)-1]}
		if c.random.IntN(3) == 0 {
			in.Incarnation = known[c.random.IntN(len(known))]
		}
		return &call{
			h: &s.history, in: in, path: "/v1/inbox/" + s.name + "?limit=1", session: s.secrets[in.Incarnation],
			understand: func(a *answer) (any, error) {
				if !a.OK && !a.is("session_replaced") {
					return nil, a.unexpected()
				}
				return sessionOut{Code: a.Code}, nil
			},
		}
	}
	next := &call{h: &s.history, in: sessionOp{Do: "register"}, path: "/v1/sessions", key: c.text()}
	next.body = map[string]any{"agent_id": s.name}
	next.understand = func(a *answer) (any, error) {
		r, err := row[struct {
			ID          string `json:"session_id"`
			Incarnation int64  `json:"incarnation"`
		}](a)
		s.mu.Lock()
		defer s.mu.Unlock()
		if secret, ok := s.secrets[r.Incarnation]; ok && err == nil && secret != r.ID {
			return nil, fmt.Errorf("%w: session %d of %s has two secrets", errBroken, r.Incarnation, s.name)
		}
		s.secrets[r.Incarnation] = r.ID
		return sessionOut{Incarnation: r.Incarnation}, err
	}
	return next
}
