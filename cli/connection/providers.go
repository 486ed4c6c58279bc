//go:build !hub_omit_provider

package connection

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"hubcli/cli/list"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
)

// NewProviders makes the command providers.
func NewProviders(env *term.Env) *cobra.Command {
	var o struct {
		opt.BaseURL
		json bool
	}
	cmd := &cobra.Command{
		Use:   "providers",
		Short: "List the hosted providers that the hub knows",
		Long: `List the presets of hosted providers: the id that "hubcli connection create" takes, the
variable of the hub's environment that holds the key, the endpoint, and the regions. The
preset custom is for every other server that speaks OpenAI's protocol.

Where a preset has several variables, the first one that is set counts; --json names all
of them, with all regions, and says for each preset from where and when its facts are.`,
		Example: `  hubcli providers
  hubcli providers --json`,
		Args: opt.Arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := o.Client()
			if err != nil {
				return err
			}
			defer c.Close()
			rows, err := c.Providers(cmd.Context())
			switch {
			case err != nil:
				return err
			case o.json:
				return term.PrintJSON(env.Stdout, rows)
			}
			return printProviders(env, rows)
		},
	}
	o.BaseURL.Add(env, cmd.Flags())
	cmd.Flags().BoolVar(&o.json, "json", false, list.JSONRows)
	return cmd
}

func printProviders(env *term.Env, rows []hub.Provider) error {
	t := term.NewTable("", "PROVIDER", "VARIABLE", "ENDPOINT(24)", "REGION?", "NAME?")
	for i := range rows {
		p := &rows[i]
		region := p.DefaultRegion
		if n := len(p.Regions); n > 1 {
			region += fmt.Sprintf(" (one of %d)", n)
		}
		t.Add(p.ProviderID, p.EnvVar, p.Endpoint, region, p.Label)
	}
	return printTable(env, t)
}

// printTable writes a table as wide as the terminal is.
func printTable(env *term.Env, t *term.Table) error {
	_, err := io.WriteString(env.Stdout, strings.Join(t.Lines(env.Screen(term.ColorAuto)), "\n")+"\n")
	return err
}
