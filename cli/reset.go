package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"hubcli/api/client"
	"hubcli/cli/daemon"
	"hubcli/internal/peertext"
)

func newReset(env *Env) *cobra.Command {
	var o struct {
		addressFlags
		storage
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
		Args: arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.settle(false); err != nil {
				return err
			}
			if err := o.storage.resolve(env, cmd); err != nil {
				return err
			}
			return runReset(cmd.Context(), env, o.address, o.storage.path, o.yes)
		},
	}
	o.addressFlags.add(env, cmd.Flags(), 1)
	o.storage.add(cmd.Flags())
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "do not ask; required when stdin is not a terminal")
	return cmd
}

func runReset(ctx context.Context, env *Env, a address, dir string, yes bool) error {
	// This is checked before the hub is stopped.
	if st, err := os.Lstat(dir); err == nil && st.Mode()&os.ModeSymlink != 0 {
		return usage("name the folder itself", "%s is a symbolic link", dir)
	}
	info, err := env.InspectStore(dir)
	missing := errors.Is(err, daemon.ErrNoStore)
	if err != nil && !missing {
		return err
	}
	found := daemon.Probe(ctx, a.baseURL())
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	found = env.machine().Recognize(ctx, a.baseURL(), dir, found)
	if pid := env.machine().Earlier(a.baseURL(), dir, found); pid != 0 {
		return earlierHub(ExitRefused, pid)
	}
	if found.Kind == daemon.Impostor && info.Held {
		return found.Err
	}
	ours := found.Kind == daemon.Hub && found.Proved
	if found.Kind == daemon.Hub && !ours && found.Owner != "" {
		return othersHub(a, found.Owner)
	}
	if found.Kind == daemon.Hub && !ours {
		return fail(ExitRefused, "name the address of your own hub with --host and --port; if that hub is yours, set HUB_DATA_ROOT as it was when the hub was started",
			"the hub at %s is not known to be yours: no hub of your data root has served there", a.baseURL())
	}
	if ours && !daemon.SameStore(found.Info.StoragePath, dir) {
		return otherStore(a, found.Info.StoragePath, dir)
	}
	if missing && !info.Rest {
		_, err := fmt.Fprintf(env.Stdout, "there is no store at %s; nothing to delete\n", peertext.TerminalLine(dir))
		return err
	}
	if found.Kind != daemon.Hub && info.Held {
		return fail(ExitUnreachable, "name its address with --host and --port",
			"the store %s is served by a hub that does not answer at %s", dir, a.baseURL())
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
		env.note("%s", remark)
	}
	_, err = fmt.Fprintf(env.Stdout, "store deleted: %s\n", peertext.TerminalLine(dir))
	return err
}

// resetQuestion names the exact folder and the data that is lost.
func resetQuestion(ctx context.Context, a address, dir string, found daemon.Probed, info daemon.StoreInfo) string {
	if info.Rest {
		return fmt.Sprintf("Delete the rest of the store %s, which a reset that was interrupted has left?", peertext.TerminalLine(dir))
	}
	holds := ""
	if found.Kind == daemon.Hub {
		c := client.New(client.Config{BaseURL: a.baseURL()})
		defer c.Close()
		if s, err := c.AppStatus(ctx); err == nil {
			holds = fmt.Sprintf(" with its %d messages, %d open tasks and %d leases (the hub at %s is stopped first)",
				s.Counts.Messages, s.Counts.OpenTasks, s.Counts.Leases, a.baseURL())
		}
	} else if info.Messages >= 0 {
		holds = fmt.Sprintf(" with its %d messages", info.Messages)
	}
	return fmt.Sprintf("Delete the store %s%s?", peertext.TerminalLine(dir), holds)
}

// confirm asks on the terminal. Only "yes" is a yes. left is printed if the
// answer is no.
func confirm(ctx context.Context, env *Env, question, left string) error {
	answer, err := ask(ctx, env, question)
	if err == nil && !strings.EqualFold(answer, "yes") {
		err = &Failure{Exit: ExitRefused, Sentence: "not confirmed; " + left, Fix: "answer yes, or add --yes"}
	}
	return err
}

// ask asks on the terminal and returns the answer without blanks around it.
func ask(ctx context.Context, env *Env, question string) (string, error) {
	if env.Terminal == nil || !env.Terminal() {
		return "", usage("add --yes", "no question is possible: stdin is not a terminal")
	}
	fmt.Fprint(env.Stderr, question)
	answers := make(chan string, 1)
	// The read cannot be interrupted. If a signal ends the command first, the
	// goroutine ends with the process.
	go func() {
		line, err := bufio.NewReader(env.Stdin).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			line = ""
		}
		answers <- strings.TrimSpace(line)
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(env.Stderr)
		return "", context.Cause(ctx)
	case answer := <-answers:
		return answer, nil
	}
}
