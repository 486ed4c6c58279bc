package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hubcli/api/client"
	"hubcli/cli/daemon"
	"hubcli/cli/list"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/internal/pause"
	"hubcli/internal/peertext"
)

// sayPrintedWait bounds the call after the messages were printed.
const sayPrintedWait = 5 * time.Second

type pollOptions struct {
	opt.Agent
	opt.BaseURL
	channel     string
	threadID    string
	timeout     time.Duration
	sinceID     int64
	includeSelf bool
	json        bool
}

// NewPoll makes the command poll.
func NewPoll(env *term.Env) *cobra.Command {
	o := pollOptions{timeout: 30 * time.Second}
	cmd := &cobra.Command{
		Use:   "poll",
		Short: "Long-poll /v1/events as an agent (own posts excluded by default)",
		Long: `Wait until there are messages after --since-id that the agent may see, print
them and return: public messages and direct messages to the agent. Messages that
are there already are printed at once.

Go on with the id in the last line on stderr. Printed messages count as seen, for
watch and hooks too, except with --thread-id. If no message comes in time, the
command prints none and ends with 0.

The command registers --agent anew, which displaces a live session of that id:
use an id of your own, not that of a running agent. An id from HUB_AGENT displaces
nobody: a live session of that id stays, and the command acts without a session.`,
		Example: `  hubcli poll --agent dev-a
  hubcli poll --agent dev-a --since-id 41 --timeout 300
  hubcli poll --agent dev-a --channel general --json`,
		Args: opt.Arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			q, err := o.query(cmd)
			if err != nil {
				return err
			}
			return runPoll(cmd.Context(), env, &o, q)
		},
	}
	f := cmd.Flags()
	o.Agent.Add(env, f)
	o.BaseURL.Add(env, f)
	f.StringVar(&o.channel, "channel", "", "`name` of the only channel to hear, in addition to direct messages")
	f.StringVar(&o.threadID, "thread-id", "", "the only `thread` to hear")
	f.Var(term.WaitValue(&o.timeout, term.InSeconds), "timeout", "`time` to wait for a message, such as 90, 90s or 5m; 0 looks once")
	f.Var(term.IDValue{To: &o.sinceID}, "since-id", "`id` of the last message that is known")
	f.BoolVar(&o.includeSelf, "include-self", false, "print the agent's own posts too")
	f.BoolVar(&o.json, "json", false, "print each message as one line of JSON")
	return cmd
}

func (o *pollOptions) query(cmd *cobra.Command) (hub.EventsQuery, error) {
	id, err := o.Agent.Check()
	if err != nil {
		return hub.EventsQuery{}, err
	}
	q := hub.EventsQuery{
		Agent: id, ThreadID: hub.ThreadID(o.threadID), Since: hub.MessageID(o.sinceID),
		ExcludeSelf: !o.includeSelf,
	}
	if cmd.Flags().Changed("channel") {
		if o.channel == "" {
			return hub.EventsQuery{}, term.Usage("leave --channel out to hear all of them", "--channel cannot be empty")
		}
		q.Channels = []hub.ChannelName{hub.ChannelName(o.channel)}
	}
	return q, nil
}

func runPoll(ctx context.Context, env *term.Env, o *pollOptions, q hub.EventsQuery) error {
	c, err := o.BaseURL.Client()
	if err != nil {
		return err
	}
	defer c.Close()
	registered, err := register(ctx, c, q.Agent, o.Agent.Replaces())
	if err != nil {
		return err
	}
	// On this machine the poll goes without the session: otherwise the agent's
	// next post, which registers anew, would break its waiting poll off.
	if !c.Local() {
		c = registered
	}
	if q.Since > 0 {
		noteBeyond(ctx, env, c, q.Since)
	}
	deadline := env.Now().Add(o.timeout)
	for {
		q.Wait = max(0, deadline.Sub(env.Now()))
		page, err := c.Events(ctx, q)
		if err != nil {
			return err
		}
		q.Since = max(q.Since, page.NextSinceID)
		if len(page.Rows) > 0 {
			if err := printPage(env, o.json, page, q.Since); err != nil {
				return err
			}
			sayPrinted(ctx, env, c, q)
			return nil
		}
		// An early answer without messages means that the wait was too long for
		// the hub, or that the hub stops; the next call tells which.
		if !env.Now().Before(deadline) {
			env.Note("nothing new after message %d", q.Since)
			return nil
		}
		if !pause.For(ctx, daemon.ProbeEvery) {
			return context.Cause(ctx)
		}
	}
}

// noteBeyond tells that there is no message with the id that the agent claims to
// know: it has mistyped it, or the hub has another store now. The poll goes on, since
// the message may come.
func noteBeyond(ctx context.Context, env *term.Env, c *client.Client, since hub.MessageID) {
	s, err := c.AppStatus(ctx)
	if newest := hub.MessageID(s.Counts.Messages); err == nil && since > newest {
		env.Note("message %d is beyond the newest, %d: what comes before %[1]d will not be shown; go on with --since-id %[2]d", since, newest)
	}
}

// sayPrinted tells the hub, by a poll that does not wait, that all messages up
// to q.Since were printed. Later messages stay unread. If the call fails, the
// hub shows the messages again.
func sayPrinted(ctx context.Context, env *term.Env, c *client.Client, q hub.EventsQuery) {
	if q.ThreadID != "" {
		return // the query leaves out most messages
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sayPrintedWait)
	defer cancel()
	q.Wait, q.Limit = 0, 1
	if _, err := c.Events(ctx, q); err != nil {
		env.Note("the hub has not heard that this was printed and may show it again: %v", err)
	}
}

func printPage(env *term.Env, asJSON bool, page hub.Page, next hub.MessageID) error {
	for _, encoded := range page.Rows {
		if asJSON {
			if err := term.PrintLine(env.Stdout, json.RawMessage(encoded)); err != nil {
				return err
			}
			continue
		}
		row, err := encoded.Decode()
		if err != nil {
			return opt.UnknownShape(err)
		}
		if err := printMessage(env.Stdout, row); err != nil {
			return err
		}
	}
	env.Note("go on with --since-id %d", next)
	return nil
}

// printMessage writes a row for people. Lines after the first are indented, so
// that no body can look like another message.
func printMessage(w io.Writer, m hub.Message) error {
	var b strings.Builder
	fmt.Fprintf(&b, "#%d %s %s", m.ID, m.Channel, m.FromAgent)
	if m.User != "" {
		fmt.Fprintf(&b, " (user %s)", m.User)
	}
	if m.ToAgent != nil {
		fmt.Fprintf(&b, " -> %s", *m.ToAgent)
	}
	if m.Kind != hub.KindChat {
		fmt.Fprintf(&b, " [%s]", m.Kind)
	}
	if about := list.MessageAbout(&m); about != "" {
		fmt.Fprintf(&b, " (%s)", about)
	}
	head := peertext.TerminalLine(b.String())
	body := strings.ReplaceAll(peertext.Terminal(strings.TrimRight(m.Body, "\n")), "\n", "\n    ")
	if _, err := fmt.Fprintf(w, "%s> %s\n", head, body); err != nil {
		return err
	}
	for _, a := range m.Attachments {
		if _, err := fmt.Fprintf(w, "    + %s\n", list.AttachmentLine(&a)); err != nil {
			return err
		}
	}
	return nil
}
