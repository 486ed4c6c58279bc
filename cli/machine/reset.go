package machine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"hubcli/api/client"
	"hubcli/cli/daemon"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/internal/peertext"
)

// NewReset makes the command reset.
func NewReset(env *term.Env) *cobra.Command {
	var o struct {
		opt.AddressFlags
		opt.Storage
		yes bool
	}
	cmd := &cobra.Command{
		Use:   "reset",
		Short: "Stop the hub and delete the database",
		Long: `Delete a store with everything in it, stopping the hub that serves it first.

Only a real store is deleted: a folder that a hub made. The command names the
exact folder and asks before it deletes. --yes answers beforehand and is required
if stdin is not a terminal. If the hub at the address serves another store, it is
not stopped and nothing is deleted. If a reset is interrupted, the next one
deletes the files that it has left.`,
		Example: `  hubcli reset
  hubcli reset --storage ./hub.sqlite3 --port 7001 --yes`,
		Args: opt.Arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.Settle(false); err != nil {
				return err
			}
			if err := o.Storage.Resolve(env, cmd); err != nil {
				return err
			}
			return runReset(cmd.Context(), env, o.Address, o.Storage.Path, o.yes)
		},
	}
	o.AddressFlags.Add(env, cmd.Flags(), 1)
	o.Storage.Add(cmd.Flags())
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "do not ask; required when stdin is not a terminal")
	return cmd
}

func runReset(ctx context.Context, env *term.Env, a opt.Address, dir string, yes bool) error {
	// This is checked before the hub is stopped.
	if st, err := os.Lstat(dir); err == nil && st.Mode()&os.ModeSymlink != 0 {
		return term.Usage("name the folder itself", "%s is a symbolic link", dir)
	}
	info, err := env.InspectStore(dir)
	missing := errors.Is(err, daemon.ErrNoStore)
	if err != nil && !missing {
		return err
	}
	found := daemon.Probe(ctx, a.BaseURL())
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	found = env.Machine().Recognize(ctx, a.BaseURL(), dir, found)
	if pid := env.Machine().Earlier(a.BaseURL(), dir, found); pid != 0 {
		return earlierHub(term.ExitRefused, pid)
	}
	if found.Kind == daemon.Impostor && info.Held {
		return found.Err
	}
	ours := found.Kind == daemon.Hub && found.Proved
	if found.Kind == daemon.Hub && !ours && found.Owner != "" {
		return opt.OthersHub(a, found.Owner)
	}
	if found.Kind == daemon.Hub && !ours {
		return term.Fail(term.ExitRefused, "name the address of your own hub with --host and --port; if that hub is yours, set HUB_DATA_ROOT as it was when the hub was started",
			"the hub at %s is not known to be yours: no hub of your data root has served there", a.BaseURL())
	}
	if ours && !daemon.SameStore(found.Info.StoragePath, dir) {
		return otherStore(a, found.Info.StoragePath, dir)
	}
	if missing && !info.Rest {
		_, err := fmt.Fprintf(env.Stdout, "there is no store at %s; nothing to delete\n", peertext.TerminalLine(dir))
		return err
	}
	if found.Kind != daemon.Hub && info.Held {
		return term.Fail(term.ExitUnreachable, "name its address with --host and --port",
			"the store %s is served by a hub that does not answer at %s", dir, a.BaseURL())
	}
	if !yes {
		if err := confirm(ctx, env, resetQuestion(ctx, a, dir, found, info)+"\nThis cannot be undone. Type yes to go on: ", "nothing was deleted"); err != nil {
			return err
		}
	}
	if found.Kind == daemon.Hub && !missing {
		if err := stopHub(ctx, env, a, found.Info); err != nil {
			return err
		}
	}
	remark, err := env.DeleteStore(dir)
	if err != nil {
		return err
	}
	if remark != "" {
		env.Note("%s", remark)
	}
	_, err = fmt.Fprintf(env.Stdout, "store deleted: %s\n", peertext.TerminalLine(dir))
	return err
}

// resetQuestion names the exact folder and the data that is lost.
func resetQuestion(ctx context.Context, a opt.Address, dir string, found daemon.Probed, info daemon.StoreInfo) string {
	if info.Rest {
		return fmt.Sprintf("Delete the rest of the store %s, which a reset that was interrupted has left?", peertext.TerminalLine(dir))
	}
	holds := ""
	if found.Kind == daemon.Hub {
		c := client.New(client.Config{BaseURL: a.BaseURL()})
		defer c.Close()
		if s, err := c.AppStatus(ctx); err == nil {
			holds = fmt.Sprintf(" with its %d messages, %d open tasks and %d leases (the hub at %s is stopped first)",
				s.Counts.Messages, s.Counts.OpenTasks, s.Counts.Leases, a.BaseURL())
		}
	} else if info.Messages >= 0 {
		holds = fmt.Sprintf(" with its %d messages", info.Messages)
	}
	return fmt.Sprintf("Delete the store %s%s?", peertext.TerminalLine(dir), holds)
}

// confirm asks on the terminal. Only "yes" is a yes. left is printed if the
// answer is no.
func confirm(ctx context.Context, env *term.Env, question, left string) error {
	answer, err := opt.Ask(ctx, env, question)
	if err == nil && !strings.EqualFold(answer, "yes") {
		err = &term.Failure{Exit: term.ExitRefused, Sentence: "not confirmed; " + left, Fix: "answer yes, or add --yes"}
	}
	return err
}
