package person

import (
	"context"
	"fmt"

	"hubcli/api/client"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/internal/peertext"
)

// takeBack takes the answer to a question back; without an id the one that this person gave last.
func (o *answerOptions) takeBack(ctx context.Context, env *term.Env, c *client.Client, args []string) error {
	var id hub.AskID
	if len(args) > 0 {
		id = AskID(args[0])
	} else {
		last, err := o.lastAnswered(ctx, c)
		switch {
		case err != nil:
			return err
		case last == nil:
			return term.Fail(term.ExitRefused, "hubcli inbox --all shows what was answered, and by whom", "%s has answered no question lately", o.by)
		}
		id = last.AskID
	}
	out, err := c.TakeBackAnswer(ctx, id, hub.AskTakeBackInput{By: o.by})
	switch {
	case err != nil:
		return err
	case o.json:
		return term.PrintJSON(env.Stdout, out.Row)
	}
	a := &out.Row
	_, err = fmt.Fprintln(env.Stdout, peertext.TerminalLine(fmt.Sprintf("took back the answer to %s of %s; the question is open again", a.AskID, a.AgentID)))
	return err
}

// lastAnswered is the question of an agent that this person has answered last, among the newest; nil: none.
func (o *answerOptions) lastAnswered(ctx context.Context, c *client.Client) (last *hub.Ask, err error) {
	all, _, err := c.Asks(ctx, hub.AsksQuery{State: hub.AskAnswered, Limit: hub.MaxPageRows})
	for i := range all {
		a := &all[i]
		if a.Permission == nil && a.ClosedBy == o.by && a.ClosedAt != nil && (last == nil || *a.ClosedAt > *last.ClosedAt) {
			last = a
		}
	}
	return last, err
}
