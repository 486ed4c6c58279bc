package adapter

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/internal/peertext"
)

func newAdapterList(env *term.Env) *cobra.Command {
	var o struct {
		opt.BaseURL
		json bool
	}
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List registered adapters and their status",
		Long: `List all harnesses that the hub knows, whether they are on this machine, and how
the state of each part of their adapter, for the user and in projects.

States: absent; installed; drifted: somebody has changed the hub's entry;
conflict: an entry of the same name is not the hub's; unreadable: the file
cannot be read or parsed; "-": the harness has no such part. A star says
that repair would write a newer entry.`,
		Example: `  hubcli adapter list
  hubcli adapter list --json`,
		Args: opt.Arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := o.Client()
			if err != nil {
				return err
			}
			defer c.Close()
			rows, err := c.Adapters(cmd.Context(), hub.AdapterQuery{SearchPath: opt.OwnPath(env)})
			if err != nil {
				return err
			}
			if o.json {
				return term.PrintJSON(env.Stdout, rows)
			}
			return printAdapters(env.Stdout, rows)
		},
	}
	o.BaseURL.Add(env, cmd.Flags())
	cmd.Flags().BoolVar(&o.json, "json", false, "print the answer as JSON")
	return cmd
}

func newAdapterStatus(env *term.Env) *cobra.Command {
	var o struct {
		opt.BaseURL
		json bool
	}
	cmd := &cobra.Command{
		Use:   "status <harness>",
		Short: "Show the state of the adapter of one harness",
		Long: `Show where one harness was found, which files hold the parts of its adapter,
the state of each part with the reason, and the result of the last verification.`,
		Example: `  hubcli adapter status claude-code
  hubcli adapter status codex --json`,
		Args: opt.Arity("harness"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runAdapterStatus(cmd.Context(), env, &o.BaseURL, args[0], o.json)
		},
	}
	o.BaseURL.Add(env, cmd.Flags())
	cmd.Flags().BoolVar(&o.json, "json", false, "print the answer as JSON")
	return cmd
}

func runAdapterStatus(ctx context.Context, env *term.Env, base *opt.BaseURL, name string, asJSON bool) error {
	harness, err := harnessOf(name)
	if err != nil {
		return err
	}
	c, err := base.Client()
	if err != nil {
		return err
	}
	defer c.Close()
	row, err := c.Adapter(ctx, harness, hub.AdapterQuery{SearchPath: opt.OwnPath(env)})
	if err != nil {
		return err
	}
	if asJSON {
		return term.PrintJSON(env.Stdout, row)
	}
	return printAdapter(env.Stdout, row)
}

// printAdapters prints one line for each harness, and one for each project with
// installed entries.
func printAdapters(w io.Writer, rows []hub.Adapter) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "HARNESS\tHERE\tMCP\tHOOKS\tINSTRUCTIONS\tPERMISSIONS\tPROJECT")
	for _, row := range rows {
		here := "no"
		if row.Detected {
			here = "yes"
		}
		for _, place := range row.Places {
			if place.Gone {
				place.Path += " (folder gone)"
			}
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", peertext.TerminalLine(string(row.Harness)), here,
				StateOf(place, hub.PartMCP), StateOf(place, hub.PartHooks), StateOf(place, hub.PartInstructions), StateOf(place, hub.PartPermissions),
				peertext.TerminalLine(place.Path))
		}
	}
	return t.Flush()
}

// StateOf returns the state of a part as one word.
func StateOf(place hub.AdapterPlace, name hub.AdapterPartName) string {
	for _, part := range place.Parts {
		if part.Part != name {
			continue
		}
		switch {
		case part.State == hub.AdapterUnsupported:
			return "-"
		case part.Outdated:
			return string(part.State) + "*"
		}
		return string(part.State)
	}
	return "-"
}

func printAdapter(w io.Writer, row hub.Adapter) error {
	found := "no"
	if row.Detected {
		found = "yes: " + strings.Join(row.DetectedBy, ", ")
	}
	if err := term.PrintRows(w, [][2]string{{"harness", string(row.Harness) + ", " + row.Title}, {"here", found}}); err != nil {
		return err
	}
	for _, place := range row.Places {
		if err := printPlace(w, place); err != nil {
			return err
		}
	}
	v := row.Verified
	if v == nil {
		_, err := fmt.Fprintf(w, "verified      not since the hub started or the adapter changed; run: hubcli adapter verify %s\n", row.Harness)
		return err
	}
	how := "passed"
	switch {
	case v.Running:
		how = "under way"
	case !v.OK:
		how = "failed"
	}
	if _, err := fmt.Fprintf(w, "verified      %s, %s\n", v.StartedAt, how); err != nil {
		return err
	}
	return printChecks(w, v.Checks)
}

func printPlace(w io.Writer, place hub.AdapterPlace) error {
	name := string(place.Scope)
	if place.Path != "" {
		name += " " + place.Path
	}
	if place.Gone {
		name += " (folder gone)"
	}
	if _, err := fmt.Fprintln(w, peertext.TerminalLine(name)); err != nil {
		return err
	}
	for _, part := range place.Parts {
		state := string(part.State)
		if part.Outdated {
			state += ", outdated"
		}
		text := strings.Join(part.Files, ", ")
		if part.State == hub.AdapterUnsupported {
			text = part.Reason
		} else if part.Reason != "" {
			text += ": " + part.Reason
		}
		if _, err := fmt.Fprintf(w, "  %-13s %-12s %s\n", part.Part, state, peertext.TerminalLine(text)); err != nil {
			return err
		}
	}
	return nil
}
