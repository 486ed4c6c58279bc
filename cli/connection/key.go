//go:build !carries && !hub_omit_provider

package connection

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hubcli/api"
	"hubcli/api/client"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/internal/peertext"
)

// keyFlags say where the key of a connection comes from. It is never an argument: every user
// of the machine can read those.
type keyFlags struct {
	env, stdin, none bool
	variable         string
}

func (o *keyFlags) add(f *pflag.FlagSet) {
	f.BoolVar(&o.env, "env-credential", false, "require the key in a variable of the provider in the hub's environment; exit code 2 if it is not there")
	f.StringVar(&o.variable, "key-variable", "", "require the key in the variable of this `name` in the hub's environment")
	f.BoolVar(&o.stdin, "key-stdin", false, "read the key from standard input; a terminal does not show it")
	f.BoolVar(&o.none, "no-key", false, "the server needs no key")
}

// given counts the flags that were set.
func (o *keyFlags) given() (n int) {
	for _, set := range []bool{o.env, o.variable != "", o.stdin, o.none} {
		if set {
			n++
		}
	}
	return n
}

// check refuses more than one source.
func (o *keyFlags) check(cmd *cobra.Command) error {
	if o.given() > 1 {
		return term.Usage("leave the others out", "the key comes from one of --env-credential, --key-variable, --key-stdin and --no-key")
	}
	if cmd.Flags().Changed("key-variable") && o.variable == "" {
		return term.Usage("name the variable, or leave --key-variable out", "--key-variable cannot be empty")
	}
	return nil
}

// input is what the flags say, with the key that --key-stdin reads.
func (o *keyFlags) input(ctx context.Context, env *term.Env, of string) (in hub.ConnectionKeyInput, err error) {
	in = hub.ConnectionKeyInput{KeyVariable: o.variable, EnvCredential: o.env, NoKey: o.none}
	if o.stdin {
		if in.Key, err = readKey(ctx, env, of); err != nil {
			return in, err
		}
	}
	return in, opt.AsUsage(api.ValidateConnectionKey(&in))
}

// readKey reads a key from standard input. A terminal asks for it and does not show it.
func readKey(ctx context.Context, env *term.Env, of string) (string, error) {
	const fix = "give the key alone, on one line"
	read := term.ReadInput
	if canHide(env) {
		restore, err := env.HideTyping()
		if err != nil {
			return "", term.Usage("give it with --key-stdin, from a pipe or a file", "the terminal cannot hide the key: %v", err)
		}
		defer func() {
			restore()
			fmt.Fprintln(env.Stderr) // in place of the one that was typed
		}()
		fmt.Fprintf(env.Stderr, "key of %s (it is not shown): ", peertext.TerminalLine(of))
		read = readTyped
	}
	data, over, err := read(ctx, env, term.StdinName, hub.MaxProviderKey+2)
	if err != nil {
		return "", err
	}
	if over {
		return "", term.Usage(fix, "standard input is longer than a key")
	}
	key := strings.TrimSpace(string(data))
	if key == "" {
		return "", term.Usage(fix, "the key is empty")
	}
	return key, nil
}

// readTyped is term.ReadInput for the line that a person types.
func readTyped(ctx context.Context, env *term.Env, _ string, most int64) ([]byte, bool, error) {
	type answer struct {
		line []byte
		err  error
	}
	typed := make(chan answer, 1)
	go func() { // a read that blocks ends with the process
		line, err := bufio.NewReader(io.LimitReader(env.Stdin, most+1)).ReadBytes('\n')
		typed <- answer{line, err}
	}()
	select {
	case a := <-typed:
		if a.err != nil && !errors.Is(a.err, io.EOF) {
			return nil, false, term.Usage("type it again", "the terminal cannot be read: %v", a.err)
		}
		return a.line, int64(len(a.line)) > most, nil
	case <-ctx.Done():
		return nil, false, context.Cause(ctx)
	}
}

// canHide reports whether a person can type what is not shown.
func canHide(env *term.Env) bool {
	return env.Terminal != nil && env.Terminal() && env.HideTyping != nil
}

type connectionCreateOptions struct {
	connectionOptions
	keyFlags
	provider, label, region, endpoint string
	params                            []string
}

func newConnectionCreate(env *term.Env) *cobra.Command {
	var o connectionCreateOptions
	cmd := o.command(env, &cobra.Command{
		Use:   "create",
		Short: "Connect the hub to a provider",
		Long: `Connect the hub to a hosted provider. "hubcli providers" lists the presets; the preset
custom is for every other server that speaks OpenAI's protocol, and takes its base URL.

Without a flag about the key the hub looks for it in the credential store of the system,
under the name of the provider, and then in the variables of the provider. If it finds none,
a terminal asks you for the key and does not show it. A key that you give, here or with
--key-stdin, is kept in the credential store. The key is never an argument: other users of
the machine could read it.

The variables are those of the environment in which the hub was started. What you set in
your shell afterward does not count: start the hub again.`,
		Example: `  hubcli connection create --provider openai --env-credential
  hubcli connection create --provider mistral --region eu --label work
  hubcli connection create --provider anthropic --key-stdin < key.txt
  hubcli connection create --provider custom --endpoint http://127.0.0.1:8000/v1 --no-key
  hubcli connection create --provider azure-openai --param resource=acme --env-credential`,
		Args: opt.Arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := opt.PersonOnly(env, cmd.CommandPath()); err != nil {
				return err
			}
			in, err := o.newConnection(cmd)
			if err != nil {
				return err
			}
			return runConnectionCreate(cmd.Context(), env, &o, in)
		},
	}, "print the connection as JSON")
	f := cmd.Flags()
	f.StringVar(&o.provider, "provider", "", "`id` of the preset, for example openai (required)")
	f.StringVar(&o.label, "label", "", "a name of your own; that of the provider without it")
	f.StringVar(&o.region, "region", "", "where the provider serves, if not in its default region")
	f.StringVar(&o.endpoint, "endpoint", "", "base `URL` of a custom provider, such as https://llm.example.com/v1")
	f.StringArrayVar(&o.params, "param", nil, "a part of the provider's address, as `name=value`; may be repeated")
	o.keyFlags.add(f)
	return cmd
}

// newConnection reads the flags, but for the key.
func (o *connectionCreateOptions) newConnection(cmd *cobra.Command) (hub.ConnectionInput, error) {
	in := hub.ConnectionInput{ProviderID: hub.ProviderID(o.provider), Label: o.label, Region: o.region, Endpoint: o.endpoint}
	if in.ProviderID == "" {
		return in, term.Usage("name a preset with --provider, for example --provider openai; hubcli providers lists them", "--provider is missing")
	}
	if err := o.check(cmd); err != nil {
		return in, err
	}
	custom := in.ProviderID == hub.ProviderCustom
	switch {
	case custom && in.Endpoint == "":
		return in, term.Usage("add the base URL, such as --endpoint https://llm.example.com/v1", "--endpoint is missing: a custom provider has no address of its own")
	case !custom && cmd.Flags().Changed("endpoint"):
		return in, term.Usage("leave --endpoint out, or use --provider custom", "--endpoint is for a custom provider alone")
	}
	for _, param := range o.params {
		name, value, ok := strings.Cut(param, "=")
		if !ok || name == "" || value == "" {
			return in, term.Usage("write it as name=value, for example --param resource=acme", "--param %q is no parameter", param)
		}
		if in.Params == nil {
			in.Params = map[string]string{}
		}
		in.Params[name] = value
	}
	return in, opt.AsUsage(api.ValidateConnection(&in))
}

func runConnectionCreate(ctx context.Context, env *term.Env, o *connectionCreateOptions, in hub.ConnectionInput) error {
	key, err := o.input(ctx, env, o.provider)
	if err != nil {
		return err
	}
	in.Key, in.KeyVariable, in.EnvCredential, in.NoKey = key.Key, key.KeyVariable, key.EnvCredential, key.NoKey
	return o.with(func(c *client.Client) error {
		out, err := c.CreateConnection(ctx, in)
		if o.given() == 0 && canHide(env) && errors.Is(err, &hub.Error{Code: hub.CodeCredentialUnresolved}) {
			env.Note("%s", err)
			typed := keyFlags{stdin: true}
			if key, err = typed.input(ctx, env, o.provider); err != nil {
				return err
			}
			in.Key = key.Key
			out, err = c.CreateConnection(ctx, in)
		}
		row := &out.Row
		return o.tell(env, row, howToGive(err),
			fmt.Sprintf("made connection %s (%s) to %s; key: %s", row.ConnectionID, row.Label, row.Endpoint, keyPlace(row)),
			"verify it with: hubcli connection verify "+term.TypedRef(row.Label, row.ConnectionID)+o.Elsewhere())
	})
}

// howToGive adds to a refusal for want of a key how a key is given here.
func howToGive(err error) error {
	var h *hub.Error
	if !errors.As(err, &h) || h.Code != hub.CodeCredentialUnresolved && h.Code != hub.CodeCredentialStore {
		return err
	}
	fix := h.FixFor(hub.ForCLI)
	switch variables, _ := h.Detail["variables"].([]any); {
	case h.Code == hub.CodeCredentialStore:
		fix = strings.Replace(fix, "name that variable", "name that variable with --key-variable", 1)
	case len(variables) == 0:
		fix = "name a variable of the hub's environment with --key-variable, or give the key with --key-stdin"
	default:
		fix = "give the key with --key-stdin, or " + strings.TrimPrefix(fix, "give the key, or ")
	}
	return &term.Failure{Exit: term.ExitOf(err), Sentence: h.Message, Fix: fix, Err: err}
}

func newConnectionKey(env *term.Env) *cobra.Command {
	var o struct {
		connectionOptions
		keyFlags
	}
	cmd := o.command(env, &cobra.Command{
		Use:   "key <connection>",
		Short: "Give a connection its key again",
		Long: `Give a connection another key, or the same one again because it leads to other servers
now. A terminal asks for the key and does not show it; a script gives it with --key-stdin.
The key that the hub kept before is removed from the credential store.`,
		Example: `  hubcli connection key work
  hubcli connection key work --key-stdin < key.txt
  hubcli connection key work --key-variable WORK_OPENAI_KEY`,
		Args: connectionArguments(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := opt.PersonOnly(env, cmd.CommandPath()); err != nil {
				return err
			}
			if err := o.check(cmd); err != nil {
				return err
			}
			if o.given() == 0 {
				if !canHide(env) {
					return term.Usage("add --key-stdin, and the key on standard input", "no key can be typed: stdin is not a terminal")
				}
				o.stdin = true
			}
			in, err := o.input(cmd.Context(), env, args[0])
			if err != nil {
				return err
			}
			return runConnectionKey(cmd.Context(), env, &o.connectionOptions, args[0], in)
		},
	}, "print the connection as JSON")
	o.keyFlags.add(cmd.Flags())
	return cmd
}

func runConnectionKey(ctx context.Context, env *term.Env, o *connectionOptions, ref string, in hub.ConnectionKeyInput) error {
	return o.with(func(c *client.Client) error {
		out, err := c.SetConnectionKey(ctx, ref, in)
		row := &out.Row
		return o.tell(env, row, howToGive(err), fmt.Sprintf("%s (%s) has its key: %s", row.ConnectionID, row.Label, keyPlace(row)))
	})
}

// sayingIfLong makes a call, and says what it waits for if the call takes long.
func sayingIfLong[T any](env *term.Env, what string, call func() (T, error)) (T, error) {
	type answer struct {
		out T
		err error
	}
	done := make(chan answer, 1)
	go func() {
		out, err := call()
		done <- answer{out, err}
	}()
	long := time.NewTimer(term.MeterQuiet)
	defer long.Stop()
	select {
	case a := <-done:
		return a.out, a.err
	case <-long.C:
		env.Note("%s", what)
	}
	a := <-done
	return a.out, a.err
}

// detailOf is a text in the detail of an error with a code; empty: there is none.
func detailOf(err error, code hub.Code, name string) string {
	var h *hub.Error
	if !errors.As(err, &h) || h.Code != code {
		return ""
	}
	text, _ := h.Detail[name].(string)
	return text
}
