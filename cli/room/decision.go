package room

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"hubcli/api"
	"hubcli/cli/list"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/integrations/hook"
	"hubcli/internal/peertext"
)

// NewDecision makes the command decision.
func NewDecision(env *term.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "decision",
		Short: "Manage decisions",
		Long: `Record what a room has agreed on, so that agents that come later need not ask. A decision
is never changed; a later one may say otherwise.`,
		Example: `  hubcli decision add --title "use Go" --note "one binary"
  hubcli decision list --room shop/checkout
  hubcli decision show d_1f`,
	}
	return opt.Group(cmd, newDecisionAdd(env), newDecisionList(env), newDecisionShow(env))
}

type decisionAddOptions struct {
	opt.BaseURL
	list.RoomRef
	title    string
	note     string
	by       opt.Agent
	metadata string
	json     bool
}

func newDecisionAdd(env *term.Env) *cobra.Command {
	var o decisionAddOptions
	cmd := &cobra.Command{
		Use:   "add",
		Short: "Record a decision of a room",
		Long: `Record what a room has agreed on, and tell the room's channel. --by is taken as it
is: no session is begun or ended. Without it HUB_AGENT says who records it.

--metadata-json is a JSON object of at most 4 levels: the object itself is the
first, and each object or array in another is one more.`,
		Example: `  hubcli decision add --title "use Go" --note "one binary, no runtime" --by lead
  hubcli decision add --room checkout --title "port 6969" --metadata-json '{"tags":["net"]}'`,
		Args: opt.Arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("metadata-json") && o.metadata == "" {
				return term.Usage("leave it out, or give one object, for example {\"tags\":[\"net\"]}", "--metadata-json is empty")
			}
			if err := o.CheckRoom(cmd); err != nil {
				return err
			}
			in, err := o.input()
			if err != nil {
				return err
			}
			return runDecisionAdd(cmd.Context(), env, &o, in)
		},
	}
	f := cmd.Flags()
	o.AddRoom(f, list.RoomUsage)
	f.StringVar(&o.title, "title", "", "what was decided, in a few words (required)")
	f.StringVar(&o.note, "note", "", "why, and what follows from it")
	o.by.AddAs(env, f, "by", "`agent` that records it, if not the one in "+hook.EnvAgent)
	f.StringVar(&o.metadata, "metadata-json", "", "`object` of at most 4 levels, in JSON")
	o.BaseURL.Add(env, f)
	f.BoolVar(&o.json, "json", false, "print the stored decision as JSON")
	return cmd
}

// input makes the hub's checks that need no hub.
func (o *decisionAddOptions) input() (hub.DecisionInput, error) {
	if err := needed("title", o.title); err != nil {
		return hub.DecisionInput{}, err
	}
	by, err := o.by.Optional()
	if err != nil {
		return hub.DecisionInput{}, err
	}
	in := hub.DecisionInput{RoomID: list.Somewhere, Title: o.title, Note: o.note, By: by}
	if o.metadata != "" {
		var compact bytes.Buffer
		err := api.Decode([]byte(o.metadata), &struct{}{})
		if err == nil {
			err = json.Compact(&compact, []byte(o.metadata))
		}
		if err != nil {
			return in, term.Usage("give one object, for example --metadata-json '{\"tags\":[\"net\"]}'", "--metadata-json is not a JSON object that can be taken: %v", err)
		}
		in.Metadata = compact.Bytes()
	}
	return in, opt.AsUsage(api.ValidateDecision(&in, false))
}

// needed takes pairs of names and values and refuses the first flag that was
// not given.
func needed(pairs ...string) error {
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			return term.Usage("give it as --"+pairs[i]+" VALUE", "--%s is missing", pairs[i])
		}
	}
	return nil
}

func runDecisionAdd(ctx context.Context, env *term.Env, o *decisionAddOptions, in hub.DecisionInput) error {
	c, err := o.Client()
	if err != nil {
		return err
	}
	defer c.Close()
	if in.RoomID, err = o.RoomID(ctx, c); err != nil {
		return err
	}
	out, err := c.AddDecision(ctx, in)
	if err != nil {
		return err
	}
	if o.json {
		return term.PrintJSON(env.Stdout, out.Row)
	}
	_, err = fmt.Fprintf(env.Stdout, "recorded decision %s in room %s\n", out.Row.DecisionID, out.Row.RoomID)
	return err
}

type decisionListOptions struct {
	opt.BaseURL
	list.RoomRef
	limit int
	json  bool
}

func newDecisionList(env *term.Env) *cobra.Command {
	var o decisionListOptions
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List decisions, latest first",
		Long:  `List what a room, or without --room any room, has agreed on, latest first.`,
		Example: `  hubcli decision list --room .
  hubcli decision list --limit 3 --json`,
		Args: opt.Arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.CheckRoom(cmd); err != nil {
				return err
			}
			return runDecisionList(cmd.Context(), env, &o)
		},
	}
	f := cmd.Flags()
	o.AddRoom(f, list.RoomOnlyUsage)
	list.AddLimit(f, &o.limit)
	o.BaseURL.Add(env, f)
	f.BoolVar(&o.json, "json", false, list.JSONRows)
	return cmd
}

func runDecisionList(ctx context.Context, env *term.Env, o *decisionListOptions) error {
	c, err := o.Client()
	if err != nil {
		return err
	}
	defer c.Close()
	room, err := o.OnlyRoom(ctx, c)
	if err != nil {
		return err
	}
	rows := list.UpTo(o.limit, hub.Walk(ctx, c.Decisions, hub.DecisionsQuery{RoomID: room, Limit: list.PageOf(o.limit)}))
	if o.json {
		return list.PrintArray(env, rows)
	}
	return list.PrintEach(env, "no decisions", rows, func(d hub.Decision) error { return printDecision(env.Stdout, &d) })
}

type decisionShowOptions struct {
	opt.BaseURL
	json bool
}

func newDecisionShow(env *term.Env) *cobra.Command {
	var o decisionShowOptions
	cmd := &cobra.Command{
		Use:   "show <decision_id>",
		Short: "Show a decision, whole",
		Long:  `Show a decision: its title and note and, with --json, its metadata too.`,
		Example: `  hubcli decision show d_1f
  hubcli decision show d_1f --json`,
		Args: opt.Arity("decision_id"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := o.Client()
			if err != nil {
				return err
			}
			defer c.Close()
			d, err := c.Decision(cmd.Context(), hub.DecisionID(args[0]))
			if err != nil {
				return err
			}
			if o.json {
				return term.PrintJSON(env.Stdout, d)
			}
			return printDecision(env.Stdout, &d)
		},
	}
	o.BaseURL.Add(env, cmd.Flags())
	cmd.Flags().BoolVar(&o.json, "json", false, "print the decision as JSON")
	return cmd
}

func printDecision(w io.Writer, d *hub.Decision) error {
	text := peertext.TerminalLine(d.Title)
	if d.Note != "" {
		text += "\n" + d.Note
	}
	_, err := fmt.Fprintf(w, "%s %s %s%s: %s\n", d.DecisionID, d.CreatedAt, d.RoomID, byWhom(d.By),
		strings.ReplaceAll(peertext.Terminal(text), "\n", "\n    "))
	return err
}

// byWhom names the agent that did something, if there is one.
func byWhom(by hub.AgentID) string {
	if by == "" {
		return ""
	}
	return " by " + string(by)
}
