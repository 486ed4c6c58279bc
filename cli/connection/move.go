//go:build !carries && !hub_omit_provider

package connection

import (
	"fmt"

	"github.com/spf13/cobra"

	"hubcli/api"
	"hubcli/api/client"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
)

func newConnectionMove(env *term.Env) *cobra.Command {
	var o struct {
		connectionOptions
		region, endpoint string
	}
	cmd := o.command(env, &cobra.Command{
		Use:   "move <connection>",
		Short: "Lead a connection to another region or server",
		Long: `Lead a connection to another region of its provider, or a custom one to another server.
The connection keeps its id, its label and its models. Its key was given for other
servers, so it has none until you give it again with "hubcli connection key".`,
		Example: `  hubcli connection move work --region eu
  hubcli connection move local --endpoint http://127.0.0.1:8001/v1`,
		Args: connectionArguments(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := opt.PersonOnly(env, cmd.CommandPath()); err != nil {
				return err
			}
			var in hub.ConnectionUpdate
			if cmd.Flags().Changed("region") {
				in.Region = &o.region
			}
			if cmd.Flags().Changed("endpoint") {
				in.Endpoint = &o.endpoint
			}
			if in.Region == nil && in.Endpoint == nil {
				return term.Usage("name where to, with --region or --endpoint; hubcli providers --json lists the regions", "nothing is to change")
			}
			if err := api.ValidateConnectionUpdate(&in); err != nil {
				return opt.AsUsage(err)
			}
			return o.with(func(c *client.Client) error {
				out, err := c.UpdateConnection(cmd.Context(), args[0], in)
				row := &out.Row
				lines := []string{fmt.Sprintf("%s (%s) leads to %s now; key: %s", row.ConnectionID, row.Label, row.Endpoint, keyPlace(row))}
				if row.KeySource == hub.KeySourceNeeded {
					lines = append(lines, "give its key again with: hubcli connection key "+term.TypedRef(row.Label, row.ConnectionID)+o.Elsewhere())
				}
				return o.tell(env, row, err, lines...)
			})
		},
	}, "print the connection as JSON")
	cmd.Flags().StringVar(&o.region, "region", "", "another of the provider's regions")
	cmd.Flags().StringVar(&o.endpoint, "endpoint", "", "another base `URL`, of a custom provider alone")
	return cmd
}
