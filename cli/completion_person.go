package cli

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"hubcli/api/client"
	"hubcli/cli/opt"
	"hubcli/cli/person"
	"hubcli/cli/term"
	"hubcli/hub"
)

// What only the operator sees is offered to people: the look-ups read the operator's
// secret, as the commands do that take the values. Where the environment names an agent
// they offer nothing.

// forPerson makes a look-up that is made as the operator.
func forPerson(find lookup) lookup {
	return func(ctx context.Context, c *client.Client, q asked) ([]cobra.Completion, error) {
		if !q.person {
			return nil, nil
		}
		return find(ctx, c.AsOperator(), q)
	}
}

// liveQuestions offers the open questions.
func liveQuestions(ctx context.Context, c *client.Client, _ asked) (out []cobra.Completion, err error) {
	rows, _, err := c.Asks(ctx, hub.AsksQuery{State: hub.AskOpen, Limit: liveRows})
	for i := range rows {
		out = offered(out, string(rows[i].AskID), string(rows[i].AgentID)+" "+rows[i].Question)
	}
	return out, err
}

// liveOptions offers the numbers of the options of the question that is typed before.
func liveOptions(ctx context.Context, c *client.Client, q asked) (out []cobra.Completion, err error) {
	a, err := c.AskByID(ctx, person.AskID(q.before[0]), "")
	for i, option := range a.Options {
		out = offered(out, strconv.Itoa(i+1), option)
	}
	return out, err
}

// liveSpawns offers the spawns: those that have not ended, to a command that ends one.
func liveSpawns(ctx context.Context, c *client.Client, q asked) (out []cobra.Completion, err error) {
	rows, _, err := c.Spawns(ctx, hub.SpawnsQuery{Active: q.command == "stop", Limit: liveRows})
	for i := range rows {
		out = offered(out, string(rows[i].SpawnID), string(rows[i].AgentID)+" "+string(rows[i].Status)+" "+rows[i].Title)
	}
	return out, err
}

// liveRules offers the numbers of the rules about permission prompts.
func liveRules(ctx context.Context, c *client.Client, _ asked) (out []cobra.Completion, err error) {
	p, err := c.PermissionPolicy(ctx)
	for i := range p.Rules {
		out = offered(out, strconv.Itoa(i+1), p.Rules[i].String())
	}
	return out, err
}

// liveIdle offers the agents that are gone and that some list shows.
func liveIdle(ctx context.Context, c *client.Client, _ asked) (out []cobra.Completion, err error) {
	idle, err := c.IdleAgents(ctx, hub.IdleAgentsQuery{IdleSec: 1})
	for i := range idle.Agents {
		out = offered(out, string(idle.Agents[i].AgentID), person.BelongingsText(&idle.Agents[i].Belongings))
	}
	return out, err
}

// liveClaims offers the claims that are held.
func liveClaims(ctx context.Context, c *client.Client, q asked) (out []cobra.Completion, err error) {
	rows, _, err := c.Claims(ctx, hub.LeasesQuery{Prefix: q.prefix, ActiveOnly: true, Limit: liveRows})
	for i := range rows {
		out = offered(out, string(rows[i].ClaimKey), "held by "+string(rows[i].OwnerAgentID))
	}
	return out, err
}

// liveConnections offers the connections, by label where a shell takes it as one word.
func liveConnections(ctx context.Context, c *client.Client, _ asked) (out []cobra.Completion, err error) {
	rows, err := c.Connections(ctx)
	for i := range rows {
		out = offered(out, term.TypedRef(rows[i].Label, rows[i].ConnectionID), string(rows[i].ProviderID)+" "+rows[i].Region)
	}
	return out, err
}

// liveProviders offers the presets, which everybody may see.
func liveProviders(ctx context.Context, c *client.Client, _ asked) (out []cobra.Completion, err error) {
	rows, err := c.Providers(ctx)
	for i := range rows {
		out = offered(out, string(rows[i].ProviderID), rows[i].Label)
	}
	return out, err
}

// liveRegions offers the regions of the provider that is typed before.
func liveRegions(ctx context.Context, c *client.Client, q asked) (out []cobra.Completion, err error) {
	rows, err := c.Providers(ctx)
	for i := range rows {
		if string(rows[i].ProviderID) != q.flags.Lookup("provider").Value.String() {
			continue
		}
		for _, r := range rows[i].Regions {
			out = offered(out, r.Region, "")
		}
	}
	return out, err
}

// shortNamesBegun completes the short names of commands.
func shortNamesBegun(cmd *cobra.Command, args []string, prefix string) (out []cobra.Completion, _ cobra.ShellCompDirective) {
	for _, c := range cmd.Commands() {
		if len(args) == 0 && c.Annotations[opt.ShortName] != "" {
			out = append(out, cobra.CompletionWithDesc(c.Name(), c.Short))
		}
	}
	return beginning(prefix, out), cobra.ShellCompDirectiveNoFileComp
}
