package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"hubcli/api"
	"hubcli/hub"
	"hubcli/integrations/hook"
	"hubcli/internal/peertext"
)

func newDecision(env *Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "decision",
		Short: "Manage decisions",
		Long: `Record what a room has agreed on, so that agents that come later need not ask. A decision
is never changed; a later one may say otherwise.`,
		Example: `  hubcli decision add --title "use Go" --note "one binary"
  hubcli decision list --room shop/checkout
  hubcli decision show d_1f`,
	}
	return group(cmd, newDecisionAdd(env), newDecisionList(env), newDecisionShow(env))
}

type decisionAddOptions struct {
	baseURL
	roomRef
	title    string
	note     string
	by       agent
	metadata string
	json     bool
}

func newDecisionAdd(env *Env) *cobra.Command {
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
		Args: arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("metadata-json") && o.metadata == "" {
				return usage("leave it out, or give one object, for example {\"tags\":[\"net\"]}", "--metadata-json is empty")
			}
			if err := o.checkRoom(cmd); err != nil {
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
	o.addRoom(f, roomUsage)
	f.StringVar(&o.title, "title", "", "what was decided, in a few words (required)")
	f.StringVar(&o.note, "note", "", "why, and what follows from it")
	o.by.addAs(env, f, "by", "`agent` that records it, if not the one in "+hook.EnvAgent)
	f.StringVar(&o.metadata, "metadata-json", "", "`object` of at most 4 levels, in JSON")
	o.baseURL.add(env, f)
	f.BoolVar(&o.json, "json", false, "print the stored decision as JSON")
	return cmd
}

// input makes the hub's checks that need no hub.
func (o *decisionAddOptions) input() (hub.DecisionInput, error) {
	if err := needed("title", o.title); err != nil {
		return hub.DecisionInput{}, err
	}
	by, err := o.by.optional()
	if err != nil {
		return hub.DecisionInput{}, err
	}
	in := hub.DecisionInput{RoomID: somewhere, Title: o.title, Note: o.note, By: by}
	if o.metadata != "" {
		var compact bytes.Buffer
		err := api.Decode([]byte(o.metadata), &struct{}{})
		if err == nil {
			err = json.Compact(&compact, []byte(o.metadata))
		}
		if err != nil {
			return in, usage("give one object, for example --metadata-json '{\"tags\":[\"net\"]}'", "--metadata-json is not a JSON object that can be taken: %v", err)
		}
		in.Metadata = compact.Bytes()
	}
	return in, asUsage(api.ValidateDecision(&in, false))
}

// needed takes pairs of names and values and refuses the first flag that was
// not given.
func needed(pairs ...string) error {
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			return usage("give it as --"+pairs[i]+" VALUE", "--%s is missing", pairs[i])
		}
	}
	return nil
}

func runDecisionAdd(ctx context.Context, env *Env, o *decisionAddOptions, in hub.DecisionInput) error {
	c, err := o.client()
	if err != nil {
		return err
	}
	defer c.Close()
	if in.RoomID, err = o.roomID(ctx, c); err != nil {
		return err
	}
	out, err := c.AddDecision(ctx, in)
	if err != nil {
		return err
	}
	if o.json {
		return printJSON(env.Stdout, out.Row)
	}
	_, err = fmt.Fprintf(env.Stdout, "recorded decision %s in room %s\n", out.Row.DecisionID, out.Row.RoomID)
	return err
}

type decisionListOptions struct {
	baseURL
	roomRef
	limit int
	json  bool
}

func newDecisionList(env *Env) *cobra.Command {
	var o decisionListOptions
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List decisions, latest first",
		Long:  `List what a room, or without --room any room, has agreed on, latest first.`,
		Example: `  hubcli decision list --room .
  hubcli decision list --limit 3 --json`,
		Args: arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.checkRoom(cmd); err != nil {
				return err
			}
			return runDecisionList(cmd.Context(), env, &o)
		},
	}
	f := cmd.Flags()
	o.addRoom(f, roomOnlyUsage)
	addLimit(f, &o.limit)
	o.baseURL.add(env, f)
	f.BoolVar(&o.json, "json", false, jsonRows)
	return cmd
}

func runDecisionList(ctx context.Context, env *Env, o *decisionListOptions) error {
	c, err := o.client()
	if err != nil {
		return err
	}
	defer c.Close()
	room, err := o.onlyRoom(ctx, c)
	if err != nil {
		return err
	}
	rows := upTo(o.limit, hub.Walk(ctx, c.Decisions, hub.DecisionsQuery{RoomID: room, Limit: pageOf(o.limit)}))
	if o.json {
		return printArray(env, rows)
	}
	return printEach(env, "no decisions", rows, func(d hub.Decision) error { return printDecision(env.Stdout, &d) })
}

type decisionShowOptions struct {
	baseURL
	json bool
}

func newDecisionShow(env *Env) *cobra.Command {
	var o decisionShowOptions
	cmd := &cobra.Command{
		Use:   "show <decision_id>",
		Short: "Show a decision, whole",
		Long:  `Show a decision: its title and note and, with --json, its metadata too.`,
		Example: `  hubcli decision show d_1f
  hubcli decision show d_1f --json`,
		Args: arity("decision_id"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := o.client()
			if err != nil {
				return err
			}
			defer c.Close()
			d, err := c.Decision(cmd.Context(), hub.DecisionID(args[0]))
			if err != nil {
				return err
			}
			if o.json {
				return printJSON(env.Stdout, d)
			}
			return printDecision(env.Stdout, &d)
		},
	}
	o.baseURL.add(env, cmd.Flags())
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
