package adapter

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hubcli/api/client"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/internal/peertext"
)

// verifyLook is the time between two looks at the progress of a verification.
const verifyLook = 300 * time.Millisecond

func newAdapterVerify(env *term.Env) *cobra.Command {
	var o struct {
		opt.BaseURL
		json bool
	}
	cmd := &cobra.Command{
		Use:   "verify <harness>",
		Short: "Try the installed adapter of a harness",
		Long: `Try the installed adapter of a harness, wherever it is installed: start the entry
as the harness would and ask it for its tools, send it a message and measure how
long it takes to wake, take a claim and release it, call the hooks, and list the
steps that only you can do. Where the harness itself is on the PATH, it is asked
whether it connects; it reads a copy of its file, without other servers. Where an
idle agent cannot be woken, the answer says so.

The test's agents are called adapter-verify-...; their sessions end with it, and they
get no seat in a room. The exit code is 1 if a check failed.`,
		Example: `  hubcli adapter verify claude-code
  hubcli adapter verify codex --json`,
		Args: opt.Arity("harness"),
		RunE: func(cmd *cobra.Command, args []string) error {
			harness, err := harnessOf(args[0])
			if err != nil {
				return err
			}
			c, err := o.Client()
			if err != nil {
				return err
			}
			defer c.Close()
			return runAdapterVerify(cmd.Context(), env, c, harness, o.json)
		},
	}
	o.BaseURL.Add(env, cmd.Flags())
	cmd.Flags().BoolVar(&o.json, "json", false, "print the answer as JSON")
	return cmd
}

func runAdapterVerify(ctx context.Context, env *term.Env, c *client.Client, h hub.Harness, asJSON bool) error {
	type end struct {
		found hub.AdapterVerification
		err   error
	}
	ended := make(chan end, 1)
	go func() {
		found, err := c.VerifyAdapter(ctx, h, hub.AdapterInput{SearchPath: opt.OwnPath(env)})
		ended <- end{found, err}
	}()
	tick := time.NewTicker(verifyLook)
	defer tick.Stop()
	shown := 0
	for {
		select {
		case e := <-ended:
			if e.err != nil {
				return e.err
			}
			return printVerified(env, e.found, shown, asJSON)
		case <-tick.C:
			row, err := c.Adapter(ctx, h, hub.AdapterQuery{})
			if err != nil || row.Verified == nil || !row.Verified.Running || asJSON {
				continue
			}
			fresh := row.Verified.Checks[min(shown, len(row.Verified.Checks)):]
			if err := printChecks(env.Stdout, fresh); err != nil {
				return err
			}
			shown += len(fresh)
		}
	}
}

// printVerified prints the checks behind those that were shown while they came, and the
// verdict.
func printVerified(env *term.Env, found hub.AdapterVerification, shown int, asJSON bool) error {
	var err error
	if asJSON {
		err = term.PrintJSON(env.Stdout, found)
	} else if err = printChecks(env.Stdout, found.Checks[min(shown, len(found.Checks)):]); err == nil {
		verdict := "works, as far as can be tried from here"
		switch {
		case !found.OK:
			verdict = "does not work"
		case slices.ContainsFunc(found.Checks, cannotWake):
			verdict += "; a message does not wake it while it is idle"
		}
		_, err = fmt.Fprintf(env.Stdout, "%s: %s\n", found.Harness, verdict)
	}
	if err == nil && !found.OK {
		return &term.Failure{
			Exit: term.ExitRefused, Sentence: "a check of the adapter failed",
			Fix: "follow the fixes above; hubcli adapter repair " + string(found.Harness) + " writes it anew",
		}
	}
	return err
}

// cannotWake reports whether a check says that the harness cannot be woken.
func cannotWake(c hub.AdapterCheck) bool {
	return c.Status == hub.CheckSkipped && strings.HasPrefix(c.Detail, "cannot wake")
}

func printChecks(w io.Writer, checks []hub.AdapterCheck) error {
	for _, check := range checks {
		took := ""
		if check.MS > 0 {
			took = fmt.Sprintf("%.1f ms  ", check.MS)
		}
		where := ""
		if check.Path != "" {
			where = " in " + check.Path
		}
		if _, err := fmt.Fprintf(w, "  %-8s %s%s: %s%s\n", check.Status, peertext.TerminalLine(check.Check), peertext.TerminalLine(where), took, peertext.TerminalLine(check.Detail)); err != nil {
			return err
		}
		if check.Fix != "" {
			if _, err := fmt.Fprintf(w, "           fix: %s\n", peertext.TerminalLine(check.Fix)); err != nil {
				return err
			}
		}
	}
	return nil
}
