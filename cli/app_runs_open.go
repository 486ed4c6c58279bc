package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"hubcli/hub"
	"hubcli/integrations/hook"
	"hubcli/internal/peertext"
)

func newRunsOpen(env *Env) *cobra.Command {
	var o struct {
		baseURL
		roomRef
		by   agent
		json bool
	}
	cmd := &cobra.Command{
		Use:   "open <title>",
		Short: "Open a run, a named batch of tasks",
		Long: `Open a run as an agent. "hubcli post --kind task --run RUN" puts a task into it, and
"hubcli watch --until run-complete:RUN" waits until all its tasks have ended.`,
		Example: `  hubcli app runs open "Write the change log" --room . --by lead
  hubcli app runs open "Release 2" --json`,
		Args: arity("title"),
		RunE: func(cmd *cobra.Command, args []string) error {
			in := hub.RunInput{Title: args[0]}
			if err := o.checkRoom(cmd); err != nil {
				return err
			}
			var err error
			if in.CreatedBy, err = o.by.optional(); err != nil {
				return err
			}
			c, err := o.client()
			if err != nil {
				return err
			}
			defer c.Close()
			if in.RoomID, err = o.onlyRoom(cmd.Context(), c); err != nil {
				return err
			}
			out, err := c.CreateRun(cmd.Context(), in)
			switch {
			case err != nil:
				return err
			case o.json:
				return printJSON(env.Stdout, out.Row)
			}
			_, err = fmt.Fprintf(env.Stdout, "opened run %s: %s\n", out.Row.RunID, peertext.TerminalLine(out.Row.Title))
			return err
		},
	}
	f := cmd.Flags()
	o.addRoom(f, "`room` of the run, by its id, slug or project/slug; . is the one that is bound to the current folder")
	o.by.addAs(env, f, "by", "`agent` that opens the run, if not the one in "+hook.EnvAgent)
	f.BoolVar(&o.json, "json", false, "print the run as JSON")
	o.baseURL.add(env, f)
	return cmd
}
