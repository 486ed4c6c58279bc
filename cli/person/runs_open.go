package person

import (
	"fmt"

	"github.com/spf13/cobra"

	"hubcli/cli/list"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/integrations/hook"
	"hubcli/internal/peertext"
)

func newRunsOpen(env *term.Env) *cobra.Command {
	var o struct {
		opt.BaseURL
		list.RoomRef
		by   opt.Agent
		json bool
	}
	cmd := &cobra.Command{
		Use:   "open <title>",
		Short: "Open a run, a named batch of tasks",
		Long: `Open a run as an agent. "hubcli post --kind task --run RUN" puts a task into it, and
"hubcli watch --until run-complete:RUN" waits until all its tasks have ended.`,
		Example: `  hubcli app runs open "Write the change log" --room . --by lead
  hubcli app runs open "Release 2" --json`,
		Args: opt.Arity("title"),
		RunE: func(cmd *cobra.Command, args []string) error {
			in := hub.RunInput{Title: args[0]}
			if err := o.CheckRoom(cmd); err != nil {
				return err
			}
			var err error
			if in.CreatedBy, err = o.by.Optional(); err != nil {
				return err
			}
			c, err := o.Client()
			if err != nil {
				return err
			}
			defer c.Close()
			if in.RoomID, err = o.OnlyRoom(cmd.Context(), c); err != nil {
				return err
			}
			out, err := c.CreateRun(cmd.Context(), in)
			switch {
			case err != nil:
				return err
			case o.json:
				return term.PrintJSON(env.Stdout, out.Row)
			}
			_, err = fmt.Fprintf(env.Stdout, "opened run %s: %s\n", out.Row.RunID, peertext.TerminalLine(out.Row.Title))
			return err
		},
	}
	f := cmd.Flags()
	o.AddRoom(f, "`room` of the run, by its id, slug or project/slug; . is the one that is bound to the current folder")
	o.by.AddAs(env, f, "by", "`agent` that opens the run, if not the one in "+hook.EnvAgent)
	f.BoolVar(&o.json, "json", false, "print the run as JSON")
	o.BaseURL.Add(env, f)
	return cmd
}
