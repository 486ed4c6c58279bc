package room

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/internal/peertext"
)

// NewResolve makes the command resolve.
func NewResolve(env *term.Env) *cobra.Command {
	var o struct {
		opt.BaseURL
		json    bool
		timeout time.Duration
	}
	o.timeout = 2 * time.Second
	cmd := &cobra.Command{
		Use:   "resolve [path]",
		Short: "Resolve the room bound to a directory (hook/script-friendly)",
		Long: `Print the room of the nearest bound folder at or above a path, the current folder if
no path is given. The first line is the room's id; what follows names its project,
its slug, its channel and the folder that is bound.

The exit code is 0 if a room is bound, 1 if none is, and 3 if no hub answers within
--timeout, whatever it is that answers instead.`,
		Example: `  hubcli resolve
  hubcli resolve services/checkout --json
  room=$(hubcli resolve | head -n 1)`,
		Args: opt.Between(0, "path"),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := opt.PathArgument(args)
			if err != nil {
				return err
			}
			if o.timeout <= 0 {
				return term.Usage("give it the time of an answer, such as 2", "--timeout must be more than 0")
			}
			return runResolve(cmd.Context(), env, &o.BaseURL, path, o.timeout, o.json)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.json, "json", false, "print the full answer as JSON")
	f.Var(term.WaitValue(&o.timeout, term.InSeconds), "timeout", "`time` that all of it may take, such as 2 or 500ms")
	o.BaseURL.Add(env, f)
	return cmd
}

func runResolve(ctx context.Context, env *term.Env, base *opt.BaseURL, path string, timeout time.Duration, asJSON bool) error {
	c, err := base.Client()
	if err != nil {
		return err
	}
	defer c.Close()
	within, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	got, err := c.Resolve(within, path)
	if err != nil && ctx.Err() == nil && within.Err() != nil && !answered(err) {
		return term.Fail(term.ExitUnreachable, "see whether the hub runs with: hubcli app status", "no hub answered at %s within %s", c.BaseURL(), timeout)
	}
	if err != nil {
		return err
	}
	unbound := term.Fail(term.ExitRefused, "make a room for the repository with: hubcli init; or bind one that is there with: hubcli room bind <room> "+path, "no room is bound to %s or a folder above it", path)
	if asJSON {
		if err := term.PrintJSON(env.Stdout, got); err != nil || got.Bound {
			return err
		}
		return unbound
	}
	if !got.Bound || got.Room == nil || got.Project == nil || got.BoundPath == nil {
		return unbound
	}
	_, err = fmt.Fprintf(env.Stdout, "%s\nproject %s\nroom %s\nchannel %s\nbound %s\n", peertext.TerminalLine(string(got.Room.RoomID)),
		peertext.TerminalLine(got.Project.Slug), peertext.TerminalLine(got.Room.Slug), peertext.TerminalLine(string(got.Room.Channel)), peertext.TerminalLine(*got.BoundPath))
	return err
}

// answered reports whether the error is the hub's answer.
func answered(err error) bool {
	var h *hub.Error
	return errors.As(err, &h) && h.Status != 0
}
