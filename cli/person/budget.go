package person

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"hubcli/cli/list"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/internal/peertext"
)

// NewBudget makes the command budget.
func NewBudget(env *term.Env) *cobra.Command {
	var o struct {
		opt.BaseURL
		list.RoomRef
		json bool
	}
	cmd := &cobra.Command{
		Use:   "budget [agent] off|CHARS",
		Short: "Bound what an agent is given to read in an hour",
		Long: `Bound the characters of messages that an agent is given in an hour by polls, its inbox,
streams, watches and hooks, or with --room those of each agent with a seat in the room:
1000 to 10000000, or off. Without a budget nothing is shortened. An agent's own budget
counts before those of rooms, and of rooms the smallest.

Beyond the budget the body of a message is a digest: its beginning, its size and the
way to the whole. Nothing is lost. What you and the hub say, and requests to the agent
to do a task, are always whole.`,
		Example: `  hubcli app budget dev-a 20000
  hubcli app budget --room web-shop/checkout 50000
  hubcli app budget dev-a off`,
		Args: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("room") {
				if len(args) == 2 {
					return term.Usage("leave one of them out", "a budget is of an agent or of --room, not of both")
				}
				return opt.Arity("CHARS")(cmd, args)
			}
			return opt.Arity("agent", "CHARS")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			in, err := budgetInput(args)
			if err == nil {
				err = o.CheckRoom(cmd)
			}
			if err != nil {
				return err
			}
			return runBudget(cmd.Context(), env, &o.BaseURL, &o.RoomRef, in, o.json)
		},
	}
	o.AddRoom(cmd.Flags(), "each agent with a seat in this `room`, by its id, slug or project/slug")
	o.BaseURL.Add(env, cmd.Flags())
	cmd.Flags().BoolVar(&o.json, "json", false, "print the budget as JSON")
	return cmd
}

// budgetInput reads the agent, if one is named, and the number.
func budgetInput(args []string) (in hub.BudgetInput, err error) {
	if len(args) == 2 {
		in.AgentID = hub.AgentID(args[0])
		if err := hub.CheckSender("the agent", in.AgentID); err != nil {
			return in, opt.AsUsage(err)
		}
	}
	text := args[len(args)-1]
	if text == "off" {
		return in, nil
	}
	in.Chars, err = strconv.Atoi(text)
	if err != nil || in.Chars < hub.MinBudgetChars || in.Chars > hub.MaxBudgetChars {
		return in, term.Usage(fmt.Sprintf("write off, or characters an hour from %d to %d", hub.MinBudgetChars, hub.MaxBudgetChars), "%q is no budget", text)
	}
	return in, nil
}

func runBudget(ctx context.Context, env *term.Env, base *opt.BaseURL, ref *list.RoomRef, in hub.BudgetInput, asJSON bool) error {
	c, err := base.Client()
	if err != nil {
		return err
	}
	defer c.Close()
	if in.AgentID == "" {
		if in.RoomID, err = ref.RoomID(ctx, c); err != nil {
			return err
		}
	}
	out, err := c.SetBudget(ctx, in)
	if err != nil {
		return err
	}
	if in.AgentID != "" {
		noteUnknown(ctx, env, c, in.AgentID)
	}
	if asJSON {
		return term.PrintJSON(env.Stdout, out.Row)
	}
	whose := "agent " + peertext.TerminalLine(string(in.AgentID))
	if in.AgentID == "" {
		room, err := list.RoomName(ctx, env, c, in.RoomID)
		if err != nil {
			return err
		}
		whose = "agents in room " + room
	}
	says := "no budget"
	if chars := out.Row.Chars; chars > 0 {
		says = fmt.Sprintf("%d characters an hour", chars)
	}
	_, err = fmt.Fprintf(env.Stdout, "%s: %s\n", whose, says)
	return err
}

// NewBudgets makes the command budgets.
func NewBudgets(env *term.Env) *cobra.Command {
	var o list.Listing
	cmd := &cobra.Command{
		Use:   "budgets",
		Short: "List the budgets of agents and rooms",
		Long: `List how many characters an hour agents, and the agents of rooms, are given to read.
"hubcli agents" shows how much of that they were given.`,
		Example: "  hubcli app budgets\n  hubcli app budgets --watch\n  hubcli app budgets --json",
		Args:    opt.Arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.Sees = list.SightOfPublic
			return o.Run(cmd, env, findBudgets)
		},
	}
	o.Add(env, cmd.Flags())
	return cmd
}

func findBudgets(ctx context.Context, s *list.Spectator) (list.Found, error) {
	budgets, err := s.Budgets(ctx)
	if err != nil {
		return list.Found{}, err
	}
	rooms, err := s.RoomNames(ctx)
	if err != nil {
		return list.Found{}, err
	}
	t := term.NewTable("there are no budgets", "AGENT", "ROOM", ">CHARACTERS AN HOUR", ">SINCE")
	now := s.Now()
	for i := range budgets {
		b := &budgets[i]
		t.Add(term.Optional(b.AgentID), rooms.Of(b.RoomID), strconv.Itoa(b.Chars), term.Age(now, b.Since))
	}
	return list.Found{Rows: budgets, Text: t}, nil
}
