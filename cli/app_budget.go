package cli

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"hubcli/hub"
	"hubcli/internal/peertext"
)

func newAppBudget(env *Env) *cobra.Command {
	var o struct {
		baseURL
		roomRef
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
					return usage("leave one of them out", "a budget is of an agent or of --room, not of both")
				}
				return arity("CHARS")(cmd, args)
			}
			return arity("agent", "CHARS")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			in, err := budgetInput(args)
			if err == nil {
				err = o.checkRoom(cmd)
			}
			if err != nil {
				return err
			}
			return runBudget(cmd.Context(), env, &o.baseURL, &o.roomRef, in, o.json)
		},
	}
	o.addRoom(cmd.Flags(), "each agent with a seat in this `room`, by its id, slug or project/slug")
	o.baseURL.add(env, cmd.Flags())
	cmd.Flags().BoolVar(&o.json, "json", false, "print the budget as JSON")
	return cmd
}

// budgetInput reads the agent, if one is named, and the number.
func budgetInput(args []string) (in hub.BudgetInput, err error) {
	if len(args) == 2 {
		in.AgentID = hub.AgentID(args[0])
		if err := hub.CheckSender("the agent", in.AgentID); err != nil {
			return in, asUsage(err)
		}
	}
	text := args[len(args)-1]
	if text == "off" {
		return in, nil
	}
	in.Chars, err = strconv.Atoi(text)
	if err != nil || in.Chars < hub.MinBudgetChars || in.Chars > hub.MaxBudgetChars {
		return in, usage(fmt.Sprintf("write off, or characters an hour from %d to %d", hub.MinBudgetChars, hub.MaxBudgetChars), "%q is no budget", text)
	}
	return in, nil
}

func runBudget(ctx context.Context, env *Env, base *baseURL, ref *roomRef, in hub.BudgetInput, asJSON bool) error {
	c, err := base.client()
	if err != nil {
		return err
	}
	defer c.Close()
	if in.AgentID == "" {
		if in.RoomID, err = ref.roomID(ctx, c); err != nil {
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
		return printJSON(env.Stdout, out.Row)
	}
	whose := "agent " + peertext.TerminalLine(string(in.AgentID))
	if in.AgentID == "" {
		room, err := roomName(ctx, env, c, in.RoomID)
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

func newAppBudgets(env *Env) *cobra.Command {
	var o listing
	cmd := &cobra.Command{
		Use:   "budgets",
		Short: "List the budgets of agents and rooms",
		Long: `List how many characters an hour agents, and the agents of rooms, are given to read.
"hubcli agents" shows how much of that they were given.`,
		Example: "  hubcli app budgets\n  hubcli app budgets --watch\n  hubcli app budgets --json",
		Args:    arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.sees = sightOfPublic
			return o.run(cmd, env, findBudgets)
		},
	}
	o.add(env, cmd.Flags())
	return cmd
}

func findBudgets(ctx context.Context, s *spectator) (found, error) {
	budgets, err := s.Budgets(ctx)
	if err != nil {
		return found{}, err
	}
	rooms, err := s.roomNames(ctx)
	if err != nil {
		return found{}, err
	}
	t := newTable("there are no budgets", "AGENT", "ROOM", ">CHARACTERS AN HOUR", ">SINCE")
	now := s.now()
	for i := range budgets {
		b := &budgets[i]
		t.add(optional(b.AgentID), rooms.of(b.RoomID), strconv.Itoa(b.Chars), age(now, b.Since))
	}
	return found{rows: budgets, text: t}, nil
}
