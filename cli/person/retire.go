package person

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"hubcli/api/client"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/internal/peertext"
	"hubcli/overview"
)

type retireOptions struct {
	opt.BaseURL
	idle   time.Duration
	reason string
	yes    bool
	json   bool
}

// leastIdle is the shortest time of --idle: an agent that is silent for less may come back.
const leastIdle = 10 * time.Minute

// NewRetire makes the command retire.
func NewRetire(env *term.Env) *cobra.Command {
	var o retireOptions
	cmd := &cobra.Command{
		Use:   "retire [agent]...",
		Short: "Take agents that are gone for good out of the lists",
		Long: `Retire agents by name, or all that have done nothing for the time of --idle. An agent that
is there is refused, and the others are retired: "hubcli app end" ends its session.

The session and the seats of a retired agent end. Its claims and locks are released, and the
first in line gets each with a higher fence. Its tasks belong to nobody then, and its offers
end; those who gave it the tasks are told. It is in no list and in no trouble of "hubcli
status". Its messages and its name stay, and so do a pause, a mute and a budget of it, which
"hubcli status" goes on to show. It comes back by itself with its next act.

Without names the command shows whom it would retire, and asks. --yes answers the question.`,
		Example: `  hubcli app retire dev-a dev-b --reason "the sprint is over"
  hubcli app retire --idle 7d
  hubcli app retire --idle 24h --yes`,
		Args: func(_ *cobra.Command, args []string) error {
			for _, name := range args {
				if err := hub.CheckSender("the agent", hub.AgentID(name)); err != nil {
					return opt.AsUsage(err)
				}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			switch by := cmd.Flags().Changed("idle"); {
			case by && len(args) > 0:
				return term.Usage("leave one of them out", "agents are named, and --idle means others, too")
			case !by && len(args) == 0:
				return term.Usage("name agents, or give --idle, for example --idle 24h", "it is not said whom to retire")
			}
			return runRetire(cmd.Context(), env, &o, args)
		},
	}
	f := cmd.Flags()
	f.Var(term.DurationValue{To: &o.idle, Min: leastIdle, Max: maxIdle, Style: term.InUnits}, "idle", "`time` for which the agents have done nothing, from 10m on, such as 24h or 7d (without it name agents)")
	f.StringVar(&o.reason, "reason", "", "`text` that those are told whom it concerns")
	f.BoolVar(&o.yes, "yes", false, "do not ask")
	o.BaseURL.Add(env, f)
	f.BoolVar(&o.json, "json", false, "print the retired agents as JSON")
	return cmd
}

// maxIdle bounds --idle: ten years.
const maxIdle = 10 * 365 * 24 * time.Hour

func runRetire(ctx context.Context, env *term.Env, o *retireOptions, names []string) error {
	c, err := o.Client()
	if err != nil {
		return err
	}
	defer c.Close()
	if len(names) == 0 {
		if names, err = chooseIdle(ctx, env, c, o); err != nil || len(names) == 0 {
			return err
		}
	}
	retired := []hub.RetiredAgent{}
	var failed error
	for _, name := range names {
		out, err := c.Retire(ctx, hub.AgentID(name), hub.RetireInput{Reason: o.reason})
		switch {
		case err != nil && (len(names) == 1 || term.ExitOf(err) == term.ExitUnreachable):
			return err
		case err != nil:
			term.Report(env.Stderr, err)
			failed = &term.Failure{Exit: term.ExitOf(err), Err: err} // it is printed
			continue
		}
		if retired = append(retired, out.Row); o.json {
			continue
		}
		fmt.Fprintf(env.Stdout, "retired %s: %s\n", peertext.TerminalLine(name), BelongingsText(&out.Row.Belongings))
	}
	if o.json {
		failed = cmp.Or(term.PrintJSON(env.Stdout, retired), failed)
	}
	return failed
}

// chooseIdle shows the agents that have done nothing for the time, and asks whether they are meant.
func chooseIdle(ctx context.Context, env *term.Env, c *client.Client, o *retireOptions) ([]string, error) {
	idle, err := c.IdleAgents(ctx, hub.IdleAgentsQuery{IdleSec: int(o.idle / time.Second)})
	if err != nil {
		return nil, err
	}
	if len(idle.Agents) == 0 {
		if o.json {
			return nil, term.PrintJSON(env.Stdout, []hub.RetiredAgent{})
		}
		env.Note("no agent that some list shows has been gone for %s", daysText(o.idle))
		return nil, nil
	}
	var names []string
	var plan strings.Builder
	for i := range idle.Agents {
		a := &idle.Agents[i]
		names = append(names, string(a.AgentID))
		seen := "not heard of since the hub began"
		if a.LastSeen != nil {
			seen = "gone for " + hub.Age(hub.TimeOf(env.Now())-*a.LastSeen)
		}
		fmt.Fprintf(&plan, "%s  %s: %s\n", peertext.TerminalLine(string(a.AgentID)), seen, BelongingsText(&a.Belongings))
	}
	if more := idle.Count - len(idle.Agents); more > 0 {
		fmt.Fprintf(&plan, "and %d more, for the next time\n", more)
	}
	if o.yes {
		return names, nil
	}
	question := "Retire " + overview.Count(len(names), "agent") + "?"
	if env.Terminal == nil || !env.Terminal() {
		fmt.Fprint(env.Stderr, peertext.Terminal(plan.String()))
		return names, opt.Agree(ctx, env, question)
	}
	err = opt.Agree(ctx, env, plan.String()+question)
	if errors.Is(err, opt.ErrDeclined) { // no is an answer, and no failure
		env.Note("nobody was retired")
		if o.json {
			return nil, term.PrintJSON(env.Stdout, []hub.RetiredAgent{})
		}
		return nil, nil
	}
	return names, err
}

// daysText is a duration in whole days where it is so, else as term.DurationText.
func daysText(d time.Duration) string {
	if day := 24 * time.Hour; d >= 2*day && d%day == 0 {
		return fmt.Sprintf("%dd", d/day)
	}
	return term.DurationText(d)
}

// BelongingsText says in a few words what an agent has.
func BelongingsText(b *hub.Belongings) string {
	var parts []string
	add := func(one string, names ...string) {
		if len(names) == 0 {
			return
		}
		more := ""
		if len(names) > mostNamed {
			more = fmt.Sprintf(" and %d more", len(names)-mostNamed)
			names = names[:mostNamed]
		}
		parts = append(parts, one+" "+peertext.TerminalLine(strings.Join(names, ", "))+more)
	}
	add("seat in", texts(b.Rooms)...)
	add("task", texts(b.Tasks)...)
	add("offer of", texts(b.Offers)...)
	add("claim", texts(b.Claims)...)
	add("lock", b.Locks...)
	return cmp.Or(strings.Join(parts, "; "), "it has nothing")
}

// mostNamed bounds how many things of a kind a line names.
const mostNamed = 5

func texts[T any](rows []T) []string {
	out := make([]string, len(rows))
	for i, row := range rows {
		out[i] = fmt.Sprint(row)
	}
	return out
}
