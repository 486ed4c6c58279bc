package person

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"hubcli/api"
	"hubcli/cli/list"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/internal/peertext"
)

// NewSpawns makes the command spawns.
func NewSpawns(env *term.Env) *cobra.Command {
	var o struct {
		list.Listing
		list.RoomRef
		status string
	}
	o.status = activeStatus
	words := statusWords(hub.SpawnStatuses())
	cmd := &cobra.Command{
		Use:   "spawns",
		Short: "List the agents that the hub has started, and start, show, stop and allow them",
		Long: `List the processes with agents that the hub has started for other agents, the newest
first: those that have not ended, or those of --status. END says how a spawn ended: by
its exit code, by a signal, or why it was stopped or failed.`,
		Example: `  hubcli app spawns
  hubcli app spawns --status any --room .
  hubcli app spawns start codex --room . "run the tests"
  hubcli app spawns output sp_1f
  hubcli app spawns stop sp_1f`,
		Args: func(cmd *cobra.Command, args []string) error { return opt.UnknownCommand(cmd, args) },
		RunE: func(cmd *cobra.Command, _ []string) error {
			q := hub.SpawnsQuery{Limit: hub.MaxPageRows}
			q.Status, q.Active = statusQuery[hub.SpawnStatus](o.status)
			if err := o.CheckRoom(cmd); err != nil {
				return err
			}
			o.Sees = list.SightOfPublic
			return o.Run(cmd, env, func(ctx context.Context, s *list.Spectator) (got list.Found, err error) {
				if q.RoomID, err = o.OnlyRoom(ctx, s.Client); err != nil {
					return list.Found{}, err
				}
				return findSpawns(ctx, s, q)
			})
		},
	}
	f := cmd.Flags()
	o.AddRoom(f, list.RoomOnlyUsage)
	f.Var(term.ChoiceValue{To: &o.status, Choices: words}, "status", "`status` of the spawns: "+strings.Join(words, ", "))
	o.AddIDs(env, f, "spawn_id")
	cmd.AddCommand(newSpawnsStart(env), newSpawnsOutput(env), newSpawnsStop(env), newSpawnsPolicy(env))
	return cmd
}

func findSpawns(ctx context.Context, s *list.Spectator, q hub.SpawnsQuery) (list.Found, error) {
	spawns, err := hub.All(ctx, s.Spawns, q)
	if err != nil {
		return list.Found{}, err
	}
	rooms, err := s.RoomNames(ctx)
	if err != nil {
		return list.Found{}, err
	}
	t := term.NewTable("there is no such spawn", "SPAWN", "STATUS", ">AGE", "ROOM(8)", "HARNESS(8)", "AGENT(8)", "FOR(8)", ">PID", "END(8)", "TITLE(8)")
	now := s.Now()
	for i := range spawns {
		p := &spawns[i]
		pid := ""
		if p.PID != 0 {
			pid = strconv.Itoa(p.PID)
		}
		t.Add(p.SpawnID, spawnStatus(p), term.Age(now, p.CreatedAt), rooms.Of(&p.RoomID), p.Harness, p.AgentID, p.By, pid, spawnEnd(p), p.Title)
	}
	return list.Found{Rows: spawns, Text: t}, nil
}

func spawnStatus(s *hub.Spawn) term.Cell {
	if s.Stopping && !s.Status.Terminal() {
		return term.Cell{Text: "stopping", Color: term.SGRYellow}
	}
	return term.Cell{Text: string(s.Status), Color: map[hub.SpawnStatus]string{
		hub.SpawnRunning: term.SGRGreen, hub.SpawnFailed: term.SGRRed, hub.SpawnLost: term.SGRRed, hub.SpawnExited: term.SGRDim, hub.SpawnStopped: term.SGRDim,
	}[s.Status]}
}

// spawnEnd says how a spawn has ended.
func spawnEnd(s *hub.Spawn) string {
	var parts []string
	if s.ExitCode != nil {
		parts = append(parts, fmt.Sprintf("exit code %d", *s.ExitCode))
	}
	for _, part := range []string{s.Signal, s.Reason} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ", ")
}

// spawnArgument takes the id of a spawn.
func spawnArgument(cmd *cobra.Command, args []string) error {
	if err := opt.Arity("spawn_id")(cmd, args); err != nil {
		return err
	}
	if args[0] == "" {
		return term.Usage("hubcli spawns --status any lists the spawns with their ids", "the spawn_id cannot be empty")
	}
	return nil
}

func newSpawnsOutput(env *term.Env) *cobra.Command {
	var base opt.BaseURL
	cmd := &cobra.Command{
		Use:   "output <spawn_id>",
		Short: "Print what a spawn has printed",
		Long: `Print what a spawn has printed, after it has ended: its beginning and its end, at most
1 MiB. A terminal is shown control characters as \x1b; a file gets every byte.`,
		Example: `  hubcli app spawns output sp_1f
  hubcli app spawns output sp_1f > output.txt`,
		Args: spawnArgument,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runSpawnsOutput(cmd.Context(), env, &base, hub.SpawnID(args[0]))
		},
	}
	base.Add(env, cmd.Flags())
	return cmd
}

func runSpawnsOutput(ctx context.Context, env *term.Env, base *opt.BaseURL, id hub.SpawnID) error {
	c, err := base.Client()
	if err != nil {
		return err
	}
	defer c.Close()
	spawn, err := c.SpawnByID(ctx, id)
	if err != nil {
		return err
	}
	if spawn.ArtifactID == nil {
		if !spawn.Status.Terminal() {
			return term.Fail(term.ExitRefused, "wait for its end, or end it with: hubcli app spawns stop "+string(id), "the output of %s is kept when it has ended", id)
		}
		env.Note("%s has printed nothing, or its output could not be kept", id)
		return nil
	}
	content, err := c.ArtifactContent(ctx, *spawn.ArtifactID)
	if err != nil {
		return err
	}
	text := content.Data
	if env.StdoutTerminal != nil && env.StdoutTerminal() {
		text = []byte(peertext.Terminal(string(text)))
	}
	_, err = env.Stdout.Write(text)
	return err
}

func newSpawnsStop(env *term.Env) *cobra.Command {
	var base opt.BaseURL
	cmd := &cobra.Command{
		Use:   "stop <spawn_id>",
		Short: "Ask a spawn to end",
		Long: `Ask a spawn and all processes that it has started to end; after five seconds the hub
kills them. The command reads the operator's secret in the store of the hub, so only
the user who started the hub can use it.`,
		Example: `  hubcli app spawns stop sp_1f`,
		Args:    spawnArgument,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := base.Client()
			if err != nil {
				return err
			}
			defer c.Close()
			out, err := c.AsOperator().StopSpawn(cmd.Context(), hub.SpawnID(args[0]), hub.SpawnStopInput{})
			if err != nil {
				return err
			}
			word := "asked to end"
			if out.Row.Status.Terminal() {
				word = "has ended: " + string(out.Row.Status)
			}
			_, err = fmt.Fprintf(env.Stdout, "spawn %s, agent %s: %s\n", out.Row.SpawnID, out.Row.AgentID, word)
			return err
		},
	}
	base.Add(env, cmd.Flags())
	return cmd
}

func newSpawnsPolicy(env *term.Env) *cobra.Command {
	var base opt.BaseURL
	var set string
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Show or replace what may be spawned",
		Long: `Print the policy: the commands that may be started, the rooms in which they may be, and
the limits, as one JSON document. With --set the policy is replaced by that of a file;
"-" reads it from standard input. A file without a version replaces whatever policy there
is; with one, only the policy of this version. docs/spawn.md explains the members.

The command reads the operator's secret in the store of the hub, so only the user who
started the hub can use it.`,
		Example: `  hubcli app spawns policy > policy.json
  hubcli app spawns policy --set policy.json`,
		Args: opt.Arity(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("set") {
				return runSpawnPolicy(cmd.Context(), env, &base, nil)
			}
			in, err := readSpawnPolicy(cmd.Context(), env, set)
			if err != nil {
				return err
			}
			return runSpawnPolicy(cmd.Context(), env, &base, in)
		},
	}
	cmd.Flags().StringVar(&set, "set", "", "`file` with the new policy, or - for standard input")
	base.Add(env, cmd.Flags())
	return cmd
}

// mostPolicyBytes is more than a policy of the largest size has.
const mostPolicyBytes = 1 << 20

// readSpawnPolicy makes the hub's checks that need no hub.
func readSpawnPolicy(ctx context.Context, env *term.Env, path string) (*hub.SpawnPolicyInput, error) {
	text, over, err := term.ReadInput(ctx, env, path, mostPolicyBytes)
	switch {
	case err != nil:
		return nil, err
	case over:
		return nil, term.Usage("name the file with the policy", "%s is too long for a policy", path)
	}
	var in hub.SpawnPolicyInput
	if err := api.DecodeFrom("the policy", text, &in); err != nil {
		return nil, opt.AsUsage(err)
	}
	return &in, opt.AsUsage(api.ValidateSpawnPolicy(&in))
}

func runSpawnPolicy(ctx context.Context, env *term.Env, base *opt.BaseURL, in *hub.SpawnPolicyInput) error {
	c, err := base.Client()
	if err != nil {
		return err
	}
	defer c.Close()
	policy, err := c.SpawnPolicy(ctx)
	if err != nil || in == nil {
		if err == nil {
			err = term.PrintJSON(env.Stdout, policy)
		}
		return err
	}
	if in.Version == 0 {
		in.Version = policy.Version
	}
	out, err := c.SetSpawnPolicy(ctx, *in)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(env.Stdout, "the policy has version %d now, with %d commands and %d allowances of rooms\n", out.Row.Version, len(out.Row.Commands), len(out.Row.Allow))
	return err
}
