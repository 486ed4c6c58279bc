package person

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"hubcli/api/client"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/internal/peertext"
	"hubcli/overview"
)

type clearOptions struct {
	opt.BaseURL
	in     hub.ClearInput
	by     string
	room   string
	older  time.Duration
	reason string
	yes    bool
	json   bool
}

// clearWord says what becomes of things of a kind.
type clearWord struct{ thing, ask, done string }

// words are those for the kind of things.
func (o *clearOptions) words() clearWord {
	w := clearWords()[o.in.Kind]
	if o.in.Archived {
		w.thing, w.ask, w.done = "empty "+w.thing, "Delete", "deleted"
	}
	return w
}

var clearWords = sync.OnceValue(func() map[hub.ClearKind]clearWord {
	return map[hub.ClearKind]clearWord{
		hub.ClearProjects:  {"project", "Archive", "archived"},
		hub.ClearRooms:     {"room", "Archive", "archived"},
		hub.ClearChannels:  {"channel", "Archive", "archived"},
		hub.ClearQuestions: {"question", "Close", "closed"},
		hub.ClearInvites:   {"invite", "Revoke", "revoked"},
		hub.ClearSeats:     {"seat", "Free", "freed"},
	}
})

// NewClear makes the command clear.
func NewClear(env *term.Env) *cobra.Command {
	var o clearOptions
	cmd := &cobra.Command{
		Use:   "clear <kind>",
		Short: "Free places in bulk, as the operator",
		Long: `Close many things at once: archive projects, rooms or channels, close questions without
an answer, revoke invites, or free seats. What is closed takes no place of the limits any
more. It can still be read, and what was archived can be taken back.

With --delete, projects, rooms and channels that are archived already and hold nothing are
deleted: no message was ever posted there, nobody has or had a seat, and nothing else was
kept in them. All others stay. A project is archived or deleted with its rooms, whoever
made them.

The kind is projects, rooms, channels, questions, invites or seats. The flags select some of
them; without --by and --unnamed it is what anybody made. The command shows what it would
close, and asks. --yes answers the question. What has changed since it was shown is not
closed.`,
		Example: `  hubcli app clear projects --by looper
  hubcli app clear questions --unnamed --reason "too many at once"
  hubcli app clear rooms --project shop --older 30d
  hubcli app clear rooms --by looper --delete
  hubcli app clear seats --room r_3 --by looper --yes`,
		Args: opt.Arity("kind"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.in.Kind, o.in.By, o.in.RoomID = hub.ClearKind(args[0]), hub.AgentID(o.by), hub.RoomID(o.room)
			o.in.OlderSec = int(o.older / time.Second)
			if !slices.Contains(hub.ClearKinds(), o.in.Kind) {
				return term.Usage("name one of projects, rooms, channels, questions, invites and seats", "there is nothing to clear called %q", args[0])
			}
			for _, name := range []string{"by", "project", "room", "older"} { // an empty variable of a shell would select everything
				if f := cmd.Flags().Lookup(name); f.Changed && (f.Value.String() == "" || name == "older" && o.in.OlderSec == 0) {
					return term.Usage("give it a value, or leave it out for all", "--%s is given and selects nothing", name)
				}
			}
			if o.in.Archived && !o.in.Kind.Deletes() {
				return term.Usage("leave --delete out", "%s are closed, and never deleted", o.in.Kind)
			}
			if o.by != "" && o.in.Unnamed {
				return term.Usage("leave one of them out", "--by names an agent, and --unnamed means calls that named none")
			}
			return runClear(cmd.Context(), env, &o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.by, "by", "", "`agent` that made them; of seats the agent itself, or the maker of its invite")
	f.BoolVar(&o.in.Unnamed, "unnamed", false, "what calls made that named no agent")
	f.StringVar(&o.in.Project, "project", "", "rooms, invites and seats of this `project` only")
	f.StringVar(&o.room, "room", "", "invites, seats and questions of this `room` only, by its id")
	f.Var(term.DurationValue{To: &o.older, Min: 0, Max: maxIdle, Style: term.InUnits}, "older", "`time` ago, or earlier, at which they were made, such as 24h or 30d")
	f.BoolVar(&o.in.Archived, "delete", false, "delete projects, rooms or channels that are archived already and hold nothing")
	f.StringVar(&o.reason, "reason", "", "`text` that agents are told whose questions are closed")
	f.BoolVar(&o.yes, "yes", false, "do not ask")
	o.BaseURL.Add(env, f)
	f.BoolVar(&o.json, "json", false, "print what was closed as JSON")
	return cmd
}

// runClear plans, asks and confirms until nothing is left that the selection finds.
func runClear(ctx context.Context, env *term.Env, o *clearOptions) error {
	c, err := o.Client()
	if err != nil {
		return err
	}
	defer c.Close()
	all := hub.Cleared{Kind: o.in.Kind, Failed: []hub.ClearFailed{}}
	for more := true; more; {
		plan, err := c.PlanClear(ctx, o.in)
		if err != nil {
			return err
		}
		if more = len(plan.Rows) > 0; !more {
			break
		}
		if agreed, err := o.agrees(ctx, env, &plan); err != nil || !agreed {
			return err
		}
		o.yes = true // the answer is for all that the selection finds
		out, err := confirmClear(ctx, c, &plan, o.reason)
		if err != nil {
			return err
		}
		all.Closed += out.Closed
		all.Failed = append(all.Failed, out.Failed...)
		more = plan.More && out.Closed > 0 // else the next plan is the same
	}
	if o.json {
		return cmp.Or(term.PrintJSON(env.Stdout, all), o.failure(env, &all))
	}
	words := o.words()
	if all.Closed == 0 && len(all.Failed) == 0 {
		env.Note("there is no %s like that", words.thing)
		return nil
	}
	fmt.Fprintf(env.Stdout, "%s %s\n", words.done, overview.Count(all.Closed, words.thing))
	return o.failure(env, &all)
}

// failure tells of the things that could not be closed; nil if there are none.
func (o *clearOptions) failure(env *term.Env, all *hub.Cleared) error {
	if len(all.Failed) == 0 {
		return nil
	}
	f := all.Failed[0]
	err := hub.Errorf(f.Code, "%s could not be %s; of %s: %s", overview.Count(len(all.Failed), o.words().thing),
		o.words().done, peertext.TerminalLine(f.ID), f.Error)
	term.Report(env.Stderr, err)
	return &term.Failure{Exit: term.ExitOf(err), Err: err} // it is printed
}

func confirmClear(ctx context.Context, c *client.Client, plan *hub.ClearPlan, reason string) (hub.Cleared, error) {
	in := hub.ClearConfirmInput{Kind: plan.Kind, Digest: plan.Digest, Delete: plan.Delete, Reason: reason}
	for i := range plan.Rows {
		in.IDs = append(in.IDs, plan.Rows[i].ID)
	}
	return c.Clear(ctx, in)
}

// mostClearShown bounds the things that are shown before the question.
const mostClearShown = 20

// agrees shows a plan and asks whether it is meant.
func (o *clearOptions) agrees(ctx context.Context, env *term.Env, plan *hub.ClearPlan) (bool, error) {
	if o.yes {
		return true, nil
	}
	words := o.words()
	var text strings.Builder
	for i := range plan.Rows[:min(len(plan.Rows), mostClearShown)] {
		row := &plan.Rows[i]
		name, by := "", "nobody in particular"
		if row.Name != row.ID && row.Name != "" {
			name = "  " + peertext.TerminalLine(row.Name)
		}
		if row.CreatedBy != "" {
			by = peertext.TerminalLine(string(row.CreatedBy))
		}
		fmt.Fprintf(&text, "%s%s  made by %s, %s ago\n", peertext.TerminalLine(row.ID), name, by, hub.Age(hub.TimeOf(env.Now())-row.CreatedAt))
	}
	if left := len(plan.Rows) - mostClearShown; left > 0 {
		fmt.Fprintf(&text, "and %d more\n", left)
	}
	count := overview.Count(len(plan.Rows), words.thing)
	if plan.Kind == hub.ClearProjects {
		count += " with all of their rooms"
	}
	if plan.More {
		count = fmt.Sprintf("these and all other %ss like them", words.thing)
	}
	question := words.ask + " " + count + "?"
	if env.Terminal == nil || !env.Terminal() {
		fmt.Fprint(env.Stderr, peertext.Terminal(text.String()))
		return true, opt.Agree(ctx, env, question)
	}
	err := opt.Agree(ctx, env, text.String()+question)
	if errors.Is(err, opt.ErrDeclined) { // no is an answer, and no failure
		env.Note("nothing was closed")
		if o.json {
			return false, term.PrintJSON(env.Stdout, hub.Cleared{Kind: plan.Kind, Failed: []hub.ClearFailed{}})
		}
		return false, nil
	}
	return err == nil, err
}
