package person

import (
	"context"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"hubcli/api"
	"hubcli/api/client"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
)

type notifyOptions struct {
	opt.BaseURL
	webhook string
	host    string
	off     bool
	test    bool
	json    bool
}

// NewNotify makes the command notify.
func NewNotify(env *term.Env) *cobra.Command {
	var o notifyOptions
	cmd := &cobra.Command{
		Use:   "notify [-- program [argument]...]",
		Short: "Choose how you are told of questions",
		Long: `Choose how the hub tells you of a new question: by a program, by a webhook, or by
both. Without arguments, show what is chosen.

The program is started without a shell, with at most ten seconds. In its arguments {id},
{agent}, {question}, {message} and {room} are replaced by those of the question; the
environment has them too, as HUB_ASK_ID and so on. The webhook gets a POST of the
question as JSON. It must be on this machine, unless --host names its host; then it
needs https.

The command needs the secret of the hub, which it reads from the store. A notification
that fails is shown here and in the log of the hub, and is not repeated.`,
		Example: `  hubcli app notify -- notify-send "{agent} asks" "{question}"
  hubcli app notify --webhook http://127.0.0.1:8080/ask
  hubcli app notify --test
  hubcli app notify --off`,
		Args: opt.ValidText,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(cmd, args); err != nil {
				return err
			}
			return runNotify(cmd.Context(), env, cmd, &o, args)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.webhook, "webhook", "", "`URL` that gets a POST of each question; empty: none")
	f.StringVar(&o.host, "host", "", "`name` of the webhook's host, if it is another machine")
	f.BoolVar(&o.off, "off", false, "tell nothing any more")
	f.BoolVar(&o.test, "test", false, "send a notification of a made-up question")
	f.BoolVar(&o.json, "json", false, "print the setting as JSON")
	o.BaseURL.Add(env, f)
	return cmd
}

// check checks what can be checked without the hub.
func (o *notifyOptions) check(cmd *cobra.Command, args []string) error {
	sets := len(args) > 0 || cmd.Flags().Changed("webhook")
	if o.off && sets {
		return term.Usage("leave one of them out", "--off takes away what the other arguments set")
	}
	if o.webhook == "" {
		if o.host != "" {
			return term.Usage("give --webhook, too", "--host names the host of a webhook, and there is none")
		}
		return nil
	}
	u, err := url.Parse(o.webhook)
	switch {
	case err != nil:
		return term.Usage("give a URL such as http://127.0.0.1:8080/ask", "--webhook is no URL")
	case o.host != "" && !strings.EqualFold(o.host, u.Hostname()):
		return term.Usage("name the host of the webhook", "--host is %s, and the host of the webhook is %s", o.host, u.Hostname())
	case o.host == "" && u.Hostname() != "" && !api.Loopback(u.Hostname()):
		return term.Usage("if the questions may go there, add --host "+u.Hostname(), "the webhook is on another machine, %s, and questions are private", u.Hostname())
	}
	return nil
}

func runNotify(ctx context.Context, env *term.Env, cmd *cobra.Command, o *notifyOptions, args []string) error {
	anyone, err := o.Client()
	if err != nil {
		return err
	}
	defer anyone.Close()
	c := anyone.AsOperator()
	now, err := c.Notify(ctx)
	if err != nil {
		return err
	}
	if o.off || len(args) > 0 || cmd.Flags().Changed("webhook") {
		in := hub.NotifyInput{Command: now.Command, Webhook: now.Webhook, Remote: now.Remote, Version: now.Version}
		switch {
		case o.off:
			in = hub.NotifyInput{Version: now.Version}
		case len(args) > 0:
			if in.Command, err = programOf(args); err != nil {
				return err
			}
		}
		if cmd.Flags().Changed("webhook") {
			in.Webhook, in.Remote = o.webhook, o.host != ""
		}
		out, err := c.SetNotify(ctx, in)
		if err != nil {
			return err
		}
		now = out.Row
	}
	if o.test {
		if err := testNotify(ctx, env, c); err != nil {
			return err
		}
	}
	if o.json {
		return term.PrintJSON(env.Stdout, now)
	}
	return printNotify(env, &now)
}

// programOf finds the executable, as a shell would: the hub has other folders to look in.
func programOf(args []string) ([]string, error) {
	found, err := exec.LookPath(args[0])
	if err == nil {
		found, err = filepath.Abs(found)
	}
	if err != nil {
		return nil, term.Usage("give the path of an executable", "there is no program %s", args[0])
	}
	return append([]string{found}, args[1:]...), nil
}

func testNotify(ctx context.Context, env *term.Env, c *client.Client) error {
	out, err := c.TestNotify(ctx)
	if err != nil {
		return err
	}
	if why := out.Failed(); why != "" {
		return term.Fail(term.ExitRefused, "mend it, and try again: hubcli app notify --test", "the notification failed: %s", why)
	}
	env.Note("the notification was sent")
	return nil
}

func printNotify(env *term.Env, to *hub.Notify) error {
	if len(to.Command) == 0 && to.Webhook == "" {
		env.Note("you are not told of questions; hubcli inbox lists them")
		return nil
	}
	rows := [][2]string{}
	if len(to.Command) > 0 {
		rows = append(rows, [2]string{"program", strings.Join(to.Command, " ")})
	}
	if to.Webhook != "" {
		rows = append(rows, [2]string{"webhook", to.Webhook})
	}
	if to.LastError != "" {
		rows = append(rows, [2]string{"last error", to.LastError})
	}
	return term.PrintRows(env.Stdout, rows)
}
