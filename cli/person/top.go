//go:build !carries

package person

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"hubcli/api/client"
	"hubcli/cli/daemon"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/cli/top"
	"hubcli/hub"
	"hubcli/overview"
)

// topTimeout bounds one reading of the hub: a hub that hangs is shown as lost.
const topTimeout = 10 * time.Second

// latestLog is how many of the latest messages the log begins with.
const latestLog = 200

// NewTop makes the command: top of app, or the hidden short name.
func NewTop(env *term.Env) *cobra.Command {
	var o opt.BaseURL
	cmd := &cobra.Command{
		Use:   "top",
		Short: "Watch the whole hub live, and say something to agents",
		Long: `Watch the whole hub live on a terminal: agents, rooms, which agent waits for which,
questions to you, and the log. "hubcli top" is the same.

1 to 5 or tab change the view, j and k or arrows select a row, enter opens it, / filters,
s says something to the selected agent or room as the operator, t shows what is wrong,
? lists all keys and q quits. A hub that is lost is shown, and tried again.

It reads the operator token in the store of the hub, so only the user who started the hub
sees direct messages and can say something. The command registers nobody.`,
		Example: `  hubcli app top
  hubcli top --base-url http://127.0.0.1:7001`,
		Args: opt.Arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runTop(cmd.Context(), env, &o)
		},
	}
	o.Add(env, cmd.Flags())
	return cmd
}

func runTop(ctx context.Context, env *term.Env, o *opt.BaseURL) error {
	c, err := o.Client()
	if err != nil {
		return err
	}
	defer c.Close()
	in, out := fileOf(env.Stdin), fileOf(env.Stdout)
	switch {
	case in == nil || out == nil || !holds(env.Terminal) || !holds(env.StdoutTerminal):
		return term.Usage("for a page of text use: hubcli status, or hubcli status -w", "hubcli top needs a terminal for its keys and its screen")
	case env.Getenv("TERM") == "dumb":
		return term.Usage("use: hubcli status, or hubcli status -w", "hubcli top needs a terminal with a screen, and TERM is dumb")
	}
	h := &topHub{c: c, operator: c.AsOperator(), now: env.Now}
	if _, err := h.Snapshot(ctx); err != nil { // a wrong address is better told before the screen changes
		return err
	}
	ctx, stop := daemon.EndWithTerminal(ctx)
	defer stop()
	return top.Run(ctx, top.Options{Hub: h, In: in, Out: out, Now: env.Now, Colors: env.Colors(env.StdoutTerminal)})
}

func holds(f func() bool) bool { return f != nil && f() }

// fileOf returns the file behind a stream of the program, or nil.
func fileOf(stream any) *os.File {
	if o, ok := stream.(*term.Output); ok {
		stream = o.Writer
	}
	file, _ := stream.(*os.File)
	return file
}

// topHub is the hub as the live view asks for it.
type topHub struct {
	c        *client.Client // of anybody
	operator *client.Client
	now      func() time.Time
}

// Snapshot reads the whole hub.
func (h *topHub) Snapshot(ctx context.Context) (*overview.Snapshot, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, topTimeout, hub.Errorf(hub.CodeNoAnswer, "the hub at %s did not answer within %s", h.c.BaseURL(), topTimeout))
	defer cancel()
	return gather(ctx, h.c, h.now())
}

// Log reads messages, with the direct messages of all agents where the operator's secret
// is here.
func (h *topHub) Log(ctx context.Context, since hub.MessageID, wait time.Duration) ([]hub.Message, hub.MessageID, error) {
	q := hub.LogQuery{Direct: true, SinceID: since, Wait: wait}
	if since == 0 {
		q.Tail, q.Limit = true, latestLog
	}
	page, err := h.operator.Log(ctx, q)
	if opt.NeedsSecret(err) {
		q.Direct = false
		page, err = h.c.Log(ctx, q)
	}
	if err != nil {
		return nil, 0, err
	}
	rows := make([]hub.Message, 0, len(page.Rows))
	for _, encoded := range page.Rows {
		row, err := encoded.Decode()
		if err != nil {
			return nil, 0, opt.UnknownShape(err)
		}
		rows = append(rows, row)
	}
	return rows, page.NextSinceID, nil
}

// Meant is the answer that a typed text means; see meant.
func (h *topHub) Meant(asked *hub.Ask, text string, asIt bool) (string, error) {
	return meant(asked, text, asIt)
}

// Answer answers a question as the operator, if it is still the one that was shown.
func (h *topHub) Answer(ctx context.Context, asked *hub.Ask, answer string) (string, error) {
	out, err := h.operator.AnswerAsk(ctx, asked.AskID, hub.AskAnswerInput{Answer: answer, By: userName(), Digest: asked.Digest})
	if errors.Is(err, &hub.Error{Code: hub.CodeAskClosed}) {
		if a, readErr := h.operator.AskByID(ctx, asked.AskID, ""); readErr == nil {
			return "", askIsClosed(&a, hub.TimeOf(h.now()))
		}
	}
	if err != nil {
		return "", err
	}
	return answerTo(&out.Row), nil
}

// Ended says how a question was closed.
func (h *topHub) Ended(ctx context.Context, asked *hub.Ask) (string, error) {
	a, err := h.operator.AskByID(ctx, asked.AskID, "")
	switch {
	case err != nil:
		return "", err
	case a.Digest != asked.Digest:
		return "it is not in this store", nil
	}
	return howAskEnded(&a, hub.TimeOf(h.now())), nil
}

// Say posts a text as the operator.
func (h *topHub) Say(ctx context.Context, to top.Target, text string) (string, error) {
	posted, err := h.operator.Post(ctx, hub.PostInput{FromAgent: hub.AgentOperator, ToAgent: to.Agent, Channel: to.Channel, Body: text})
	if err != nil {
		return "", err
	}
	row, err := posted.Row.Decode()
	if err != nil {
		return "", opt.UnknownShape(err)
	}
	said := fmt.Sprintf("posted #%d to %s", row.ID, to.Name)
	if posted.Recipient != nil {
		said += ": " + posted.Recipient.Why()
	}
	return said, nil
}
