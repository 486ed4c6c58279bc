package person

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"hubcli/api"
	"hubcli/cli/list"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/internal/peertext"
)

type spawnStartOptions struct {
	opt.BaseURL
	list.RoomRef
	connection, agent, role, title string
	json                           bool
}

func newSpawnsStart(env *term.Env) *cobra.Command {
	var o spawnStartOptions
	cmd := &cobra.Command{
		Use:   "start <harness> [prompt]",
		Short: "Have the hub start an agent",
		Long: `Have the hub start the command of a harness as a new agent of a room, as the policy
allows. The prompt says what the agent is to do; - reads it from standard input.

With --connection the agent gets the key of a connection, in the variable of its provider
and in no other way. The commands of the policy may name a connection for all their spawns.

The command reads the operator's secret in the store of the hub, so only the user who
started the hub can use it.`,
		Example: `  hubcli app spawns start codex --room web-shop/checkout "run the tests and report in the room"
  hubcli app spawns start codex --connection work - < prompt.txt`,
		Args: spawnStartArguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			in, err := o.input(cmd, env, args)
			if err != nil {
				return err
			}
			return runSpawnsStart(cmd.Context(), env, &o, in)
		},
	}
	f := cmd.Flags()
	o.AddRoom(f, list.RoomUsage)
	f.StringVar(&o.connection, "connection", "", "`connection` whose key the agent gets, by its id, label or the beginning of its id")
	f.StringVar(&o.agent, "agent-id", "", "`id` of the new agent (default one that is free)")
	f.StringVar(&o.role, "role", "", "`role` of its seat")
	f.StringVar(&o.title, "title", "", "`title` of the spawn")
	o.BaseURL.Add(env, f)
	f.BoolVar(&o.json, "json", false, "print the spawn as JSON")
	return cmd
}

// spawnStartArguments takes a harness, and a prompt if there is one.
func spawnStartArguments(cmd *cobra.Command, args []string) error {
	if len(args) < 2 {
		return opt.Arity("harness")(cmd, args)
	}
	if err := opt.Arity("harness", "prompt")(cmd, args); err != nil {
		return err
	}
	return opt.ValidText(cmd, args[1:])
}

// input checks what can be checked without the hub.
func (o *spawnStartOptions) input(cmd *cobra.Command, env *term.Env, args []string) (hub.SpawnInput, error) {
	in := hub.SpawnInput{
		RoomID: list.Somewhere, Harness: hub.Harness(args[0]), By: hub.AgentOperator, AgentID: hub.AgentID(o.agent),
		Role: o.role, Title: o.title, Connection: o.connection,
	}
	if err := o.CheckRoom(cmd); err != nil {
		return in, err
	}
	if cmd.Flags().Changed("connection") && o.connection == "" {
		return in, term.Usage("hubcli connection list shows the connections", "--connection cannot be empty")
	}
	if len(args) > 1 {
		in.Prompt = args[1]
	}
	if in.Prompt == term.StdinName {
		text, over, err := term.ReadInput(cmd.Context(), env, term.StdinName, hub.MaxSpawnPromptBytes)
		if err != nil {
			return in, err
		}
		if over {
			return in, term.Usage("put the text into an artifact, and let the prompt name it", "the prompt is longer than %d bytes", hub.MaxSpawnPromptBytes)
		}
		in.Prompt = strings.TrimSuffix(string(text), "\n")
	}
	return in, opt.AsUsage(api.ValidateSpawn(&in, true))
}

func runSpawnsStart(ctx context.Context, env *term.Env, o *spawnStartOptions, in hub.SpawnInput) error {
	c, err := o.Client()
	if err != nil {
		return err
	}
	defer c.Close()
	if in.RoomID, err = o.RoomID(ctx, c); err != nil {
		return err
	}
	out, err := c.AsOperator().Spawn(ctx, in)
	if err != nil {
		return err
	}
	row := &out.Row
	if o.json {
		err = term.PrintJSON(env.Stdout, row)
	} else if !row.Status.Terminal() {
		line := fmt.Sprintf("spawn %s runs as agent %s, process %d", row.SpawnID, row.AgentID, row.PID)
		if row.ConnectionID != "" {
			line += ", with the key of " + string(row.ConnectionID)
		}
		_, err = fmt.Fprintln(env.Stdout, line)
	}
	if err == nil && row.Status == hub.SpawnFailed {
		return term.Fail(term.ExitRefused, "see what the policy says of "+string(row.Harness)+": hubcli app spawns policy", "spawn %s did not start: %s", row.SpawnID, peertext.TerminalLine(row.Reason))
	}
	return err
}
