//go:build !carries && !hub_omit_provider

package connection

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"hubcli/api"
	"hubcli/api/client"
	"hubcli/cli/list"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/internal/peertext"
)

// New makes the command connection.
func New(env *term.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "connection",
		Aliases: []string{"connections"},
		Short:   "Manage connections to hosted providers",
		Long: `Connect the hub to hosted providers of models, prove that a key is good, and see which
models a provider has. "hubcli providers" lists the providers.

A connection never holds its key. The key stays in the credential store of the system, or
in a variable of the environment in which the hub was started. It is given to the servers
for which you gave it, and to no others.

CONNECTION is the id of a connection, its label, or the beginning of an id that no other
connection has. The commands read the operator's secret in the store of the hub, so only
the user who started the hub can use them.`,
		Example: `  hubcli connection create --provider openai --env-credential
  hubcli connection create --provider anthropic --label work --key-stdin < key.txt
  hubcli connection verify work
  hubcli connection models work`,
	}
	return opt.Group(cmd, newConnectionList(env), newConnectionCreate(env), newConnectionVerify(env), newConnectionModels(env),
		newConnectionKey(env), newConnectionMove(env), newConnectionRename(env), newConnectionDelete(env))
}

// connectionOptions are the flags that all commands about connections have.
type connectionOptions struct {
	opt.BaseURL
	json bool
}

// command completes a command about one connection with its flags.
func (o *connectionOptions) command(env *term.Env, cmd *cobra.Command, asJSON string) *cobra.Command {
	o.BaseURL.Add(env, cmd.Flags())
	if asJSON != "" {
		cmd.Flags().BoolVar(&o.json, "json", false, asJSON)
	}
	return cmd
}

// with makes calls of the hub.
func (o *connectionOptions) with(do func(*client.Client) error) error {
	c, err := o.Client()
	if err != nil {
		return err
	}
	defer c.Close()
	return do(c)
}

// tell prints what has become of a connection: lines, or the connection as JSON.
func (o *connectionOptions) tell(env *term.Env, row *hub.Connection, err error, lines ...string) error {
	if err == nil && o.json {
		return term.PrintJSON(env.Stdout, row)
	}
	for i := 0; i < len(lines) && err == nil; i++ {
		_, err = fmt.Fprintln(env.Stdout, peertext.TerminalLine(lines[i]))
	}
	return err
}

// connectionArguments takes a connection and what follows it.
func connectionArguments(more ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := opt.Arity(append([]string{"connection"}, more...)...)(cmd, args); err != nil {
			return err
		}
		if args[0] == "" {
			return term.Usage("hubcli connection list shows the connections", "the connection cannot be empty")
		}
		return nil
	}
}

func newConnectionList(env *term.Env) *cobra.Command {
	var o connectionOptions
	return o.command(env, &cobra.Command{
		Use:   "list",
		Short: "List the connections",
		Long: `List the connections, the first made first: where each leads, where its key is, what the
last verification has shown, and how many models the provider told then.

The key "needed" says that the connection leads to other servers now than those for which
its key was given: give it again with "hubcli connection key". --json has the whole rows.`,
		Example: `  hubcli connection list
  hubcli connections list --json`,
		Args: opt.Arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.with(func(c *client.Client) error { return runConnectionList(cmd.Context(), env, c, o.json) })
		},
	}, list.JSONRows)
}

func runConnectionList(ctx context.Context, env *term.Env, c *client.Client, asJSON bool) error {
	rows, err := c.Connections(ctx)
	switch {
	case err != nil:
		return err
	case asJSON:
		return term.PrintJSON(env.Stdout, rows)
	case len(rows) == 0:
		env.Note("there are no connections; make one with: hubcli connection create --provider openai")
		return nil
	}
	return printTable(env, connectionTable(rows, hub.Time(env.Now().UnixMilli())))
}

func connectionTable(rows []hub.Connection, now hub.Time) *term.Table {
	t := term.NewTable("", "CONNECTION", "LABEL(8)", "PROVIDER", "KEY", "CHECKED(12)", ">MODELS", "ENDPOINT(16)?", "REGION?")
	for i := range rows {
		r := &rows[i]
		t.Add(r.ConnectionID, r.Label, r.ProviderID, keyCell(r), checkCell(r.Check, now), strconv.Itoa(r.Models), r.Endpoint, r.Region)
	}
	return t
}

// keyPlace says where the key of a connection is.
func keyPlace(r *hub.Connection) string {
	switch r.KeySource {
	case hub.KeySourceOS:
		return "credential store"
	case hub.KeySourceEnv:
		return "variable " + strings.TrimPrefix(r.KeyRef, "env:")
	case hub.KeySourceNeeded, hub.KeySourceNone:
	}
	return string(r.KeySource)
}

func keyCell(r *hub.Connection) term.Cell {
	if r.KeySource == hub.KeySourceNeeded {
		return term.Cell{Text: keyPlace(r), Color: term.SGRRed}
	}
	return term.Cell{Text: keyPlace(r), Color: ""}
}

// checkCell says what the last verification has shown.
func checkCell(c *hub.ConnectionCheck, now hub.Time) term.Cell {
	switch {
	case c == nil:
		return term.Cell{Text: "never", Color: term.SGRDim}
	case c.OK:
		return term.Cell{Text: proofText(c.Key) + ", " + term.Age(now, c.At) + " ago", Color: term.SGRGreen}
	}
	return term.Cell{Text: strings.ReplaceAll(string(c.Fault), "_", " ") + ", " + term.Age(now, c.At) + " ago", Color: term.SGRRed}
}

// proofText says what a verification that went well has shown of the key.
func proofText(p hub.KeyProof) string {
	return map[hub.KeyProof]string{hub.KeyProved: "key proved", hub.KeyNotProved: "key not proved", hub.KeyNone: "no key needed"}[p]
}

func newConnectionVerify(env *term.Env) *cobra.Command {
	var o connectionOptions
	return o.command(env, &cobra.Command{
		Use:   "verify <connection>",
		Short: "Ask the provider whether the key is good",
		Long: `Have the hub ask the provider for its models, and prove the key. Where everybody gets the
list, the hub also asks for something that only a good key opens. If there is no such thing,
the answer is "key not proved".

A failure says what is wrong: the key, the region, too many calls, the network, TLS, a page
of the network in place of the provider, or an answer that is none. The models that are kept
stay as they are then, and the exit code is 1. The answer takes up to 30 seconds. With --json
the connection is printed in both cases; its member check has the outcome.`,
		Example: `  hubcli connection verify work
  hubcli connection verify cn_1f --json`,
		Args: connectionArguments(),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.with(func(c *client.Client) error { return runConnectionVerify(cmd.Context(), env, c, args[0], o.json) })
		},
	}, "print the connection as JSON")
}

func runConnectionVerify(ctx context.Context, env *term.Env, c *client.Client, ref string, asJSON bool) error {
	out, err := sayingIfLong(env, "asking the provider, which has up to 30 s", func() (hub.Outcome[hub.Connection], error) {
		return c.VerifyConnection(ctx, ref)
	})
	if err != nil {
		if row := verified(ctx, c, err); row != nil && asJSON {
			if lost := term.PrintJSON(env.Stdout, row); lost != nil {
				return lost
			}
		}
		return err
	}
	if asJSON {
		return term.PrintJSON(env.Stdout, out.Row)
	}
	row, proof := &out.Row, hub.KeyNone
	if row.Check != nil {
		proof = row.Check.Key
	}
	_, err = fmt.Fprintf(env.Stdout, "%s: %s, %s\n", peertext.TerminalLine(row.Label), proofText(proof), term.Some(int64(row.Models), "model"))
	if err == nil && proof == hub.KeyNotProved {
		env.Note("this server tells everybody its models, and has nothing with which the hub can prove a key")
	}
	return err
}

// verified returns the connection of which a failed verification tells; nil: there is none.
func verified(ctx context.Context, c *client.Client, failure error) *hub.Connection {
	id := detailOf(failure, hub.CodeProviderFailed, "connection_id")
	if id == "" {
		return nil
	}
	rows, err := c.Connections(ctx)
	if err != nil {
		return nil
	}
	for i := range rows {
		if string(rows[i].ConnectionID) == id {
			return &rows[i]
		}
	}
	return nil
}

func newConnectionModels(env *term.Env) *cobra.Command {
	var o connectionOptions
	return o.command(env, &cobra.Command{
		Use:   "models <connection>",
		Short: "List the models that the provider told last",
		Long: `List the models that the provider told at the last verification that went well, and how
long ago that was. The provider is not asked: "hubcli connection verify" does that.

Shown are the id of each model, its name, how many tokens it reads and writes, and what a
million tokens cost, as far as the provider tells.`,
		Example: `  hubcli connection models work
  hubcli connection models work --json`,
		Args: connectionArguments(),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.with(func(c *client.Client) error {
				found, err := c.ConnectionModels(cmd.Context(), args[0])
				switch {
				case err != nil:
					return err
				case o.json:
					return term.PrintJSON(env.Stdout, found)
				}
				return printModels(env, &found)
			})
		},
	}, "print the models, and when they were told, as JSON")
}

func printModels(env *term.Env, found *hub.ConnectionModels) error {
	if found.FetchedAt == nil {
		env.Note("the provider was never asked; ask it with: hubcli connection verify %s", term.TypedRef(found.Label, found.ConnectionID))
		return nil
	}
	if len(found.Models) > 0 {
		t := term.NewTable("", "MODEL(16)", ">CONTEXT", ">INPUT", ">OUTPUT", ">WRITES?", "NAME(8)?")
		for i := range found.Models {
			m := &found.Models[i]
			name := m.Name
			if name == m.ModelID {
				name = ""
			}
			in, out := priceTexts(m.Price)
			t.Add(m.ModelID, tokens(m.ContextTokens), in, out, tokens(m.OutputTokens), name)
		}
		if err := printTable(env, t); err != nil {
			return err
		}
	}
	how := "told"
	if found.Static {
		how = "listed by the preset, as the provider tells none,"
	}
	env.Note("%s of %s, %s %s ago; prices are for a million tokens", term.Some(int64(len(found.Models)), "model"), found.Label, how, term.Span(hub.Time(found.AgeSec*1000)))
	return nil
}

func tokens(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

// priceTexts are the prices of what a model reads and writes.
func priceTexts(p *hub.ProviderPrice) (in, out string) {
	if p == nil {
		return "", ""
	}
	text := func(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) + " " + p.Currency }
	return text(p.Input), text(p.Output)
}

func newConnectionRename(env *term.Env) *cobra.Command {
	var o connectionOptions
	return o.command(env, &cobra.Command{
		Use:   "rename <connection> <label>",
		Short: "Give a connection another label",
		Long: `Give a connection another label. Labels that differ in case alone are the same. The
connection keeps its id, its key and its models.`,
		Example: `  hubcli connection rename openai work
  hubcli connection rename cn_1f "work, Europe"`,
		Args: connectionArguments("label"),
		RunE: func(cmd *cobra.Command, args []string) error {
			in := hub.ConnectionUpdate{Label: &args[1]}
			if err := api.ValidateConnectionUpdate(&in); err != nil {
				return opt.AsUsage(err)
			}
			return o.with(func(c *client.Client) error {
				out, err := c.UpdateConnection(cmd.Context(), args[0], in)
				return o.tell(env, &out.Row, err, fmt.Sprintf("%s: the label is %s now", out.Row.ConnectionID, out.Row.Label))
			})
		},
	}, "print the connection as JSON")
}

func newConnectionDelete(env *term.Env) *cobra.Command {
	var o connectionOptions
	var yes bool
	cmd := o.command(env, &cobra.Command{
		Use:   "delete <connection>",
		Short: "Delete a connection and its key",
		Long: `Delete a connection, the models that are kept, and its key if the hub has put it into the
credential store. A key that the hub has not put there, and variables, stay. While the
credential store is locked the connection stays, too, so that its key is not forgotten.`,
		Example: `  hubcli connection delete work
  hubcli connection delete cn_1f --yes`,
		Args: connectionArguments(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := opt.PersonOnly(env, cmd.CommandPath()); err != nil {
				return err
			}
			return o.with(func(c *client.Client) error { return runConnectionDelete(cmd.Context(), env, c, args[0], yes) })
		},
	}, "")
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask; required when stdin is not a terminal")
	return cmd
}

func runConnectionDelete(ctx context.Context, env *term.Env, c *client.Client, ref string, yes bool) error {
	if !yes {
		// What it means is found out before the question, and that is what is deleted.
		found, err := c.ConnectionModels(ctx, ref)
		if err != nil {
			return err
		}
		ref = string(found.ConnectionID)
		plan := fmt.Sprintf("delete %s (%s), a connection to %s, and its key if the hub keeps it in the credential store\n", ref, found.Label, found.ProviderID)
		if err := opt.AgreeToPlan(ctx, env, yes, plan, "Delete it?"); err != nil {
			return err
		}
	}
	out, err := c.DeleteConnection(ctx, ref)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(env.Stdout, "deleted %s (%s)\n", out.Row.ConnectionID, peertext.TerminalLine(out.Row.Label))
	return err
}
