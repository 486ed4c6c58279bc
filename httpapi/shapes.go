package httpapi

import (
	"context"

	"hubcli/api"
	"hubcli/hub"
)

// The shapes that most handlers have. A read fills the service's query from the
// parameters of the URL; query keeps the first error of that and of acting as
// the viewer. A write reads its body into in.

// readRow answers with the row that get finds, unless query has an error.
func readRow[Q, Row any](c *call, query *api.Query, q Q, get func(context.Context, Q) (Row, error)) (reply, error) {
	if err := query.Err(); err != nil {
		return reply{}, err
	}
	if err := c.takeTurn(); err != nil {
		return reply{}, err
	}
	return oneRow(get(c.context(), q))
}

// readList answers with one page of the list that get finds, unless query has
// an error.
func readList[Q, Row any](c *call, query *api.Query, q Q, get func(context.Context, Q) ([]Row, hub.Cursor, error)) (reply, error) {
	if err := query.Err(); err != nil {
		return reply{}, err
	}
	if err := c.takeTurn(); err != nil {
		return reply{}, err
	}
	return listed(get(c.context(), q))
}

// writeRow reads the body into in, checks it and acts as the agent. Then it
// executes the command and answers with its outcome. agent points to a member
// of in; nil means that the call acts as no agent. check is also told whether
// the operator calls.
func writeRow[In, Out any](
	c *call, in *In, agent *hub.AgentID, check func(*In, bool) error,
	run func(context.Context, In) (Out, error), answer func(Out) reply,
) (reply, error) {
	if err := c.decode(in); err != nil {
		return reply{}, err
	}
	if agent != nil {
		c.name(agent)
	}
	if err := check(in, c.caller.Operator); err != nil {
		return reply{}, err
	}
	var err error
	if agent != nil {
		err = c.actAs(*agent)
	} else {
		err = c.takeTurn()
	}
	if err != nil {
		return reply{}, err
	}
	out, err := run(c.context(), *in)
	return answer(out), err
}

// once answers a write whose effect is outside of the journal. A repetition with the same key
// gets what the first call was answered.
func once[T any](c *call, do func() (T, error)) (reply, error) {
	if c.caller.Idempotency == nil || c.server.config.Answers == nil {
		return oneRow(do())
	}
	row, replayed, err := c.server.config.Answers.Once(c.context(), c.route.ID, func() (any, error) { return do() })
	return reply{result: row, replayed: replayed}, err
}

// answeredBefore answers a repetition of a write that goes on after its call has ended. It is asked
// before anything is looked at.
func (c *call) answeredBefore() (rep reply, replayed bool, err error) {
	if c.caller.Idempotency == nil || c.server.config.Answers == nil {
		return reply{}, false, nil
	}
	row, err := c.server.config.Answers.Answered(c.context(), c.route.ID)
	return reply{result: row, replayed: true}, row != nil, err
}

// anyone is a check that is the same for every caller.
func anyone[In any](check func(*In) error) func(*In, bool) error {
	return func(in *In, _ bool) error { return check(in) }
}

// of binds what the path names to a call of the service.
func of[Key, In, Out any](key Key, run func(context.Context, Key, In) (Out, error)) func(context.Context, In) (Out, error) {
	return func(ctx context.Context, in In) (Out, error) { return run(ctx, key, in) }
}
