package agent

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hubcli/api/client"
	"hubcli/cli/adapter"
	"hubcli/cli/list"
	"hubcli/cli/machine"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/integrations/background"
	"hubcli/integrations/hook"
	"hubcli/internal/near"
	"hubcli/internal/process"
	"hubcli/mcp/session"
)

type runOptions struct {
	opt.BaseURL
	list.RoomRef
	as       string
	task     int64
	acp      bool
	headless bool
	once     bool
	goOn     bool
	prompt   string

	background bool   // the session goes on without this command
	resume     bool   // it is started again when something comes for its agent
	held       bool   // this process keeps it
	list       bool   // of sessions in the background
	attach     string // one of them
	end        string // one of them
	json       bool

	harness   hub.Harness
	arguments []string // for the program, or with --acp alone the program and its arguments
}

// NewRun makes the command run.
func NewRun(env *term.Env) *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "run <harness> [-- arguments]",
		Short: "Start a harness in this terminal, with a name, a room and a wake",
		Long: `Start a harness here, as an agent of the room that the current folder is bound to. A
hub is started if none runs. The agent is called --as, or by a short word that no agent
of the hub has had; the same word the next time in this folder.

Claude Code, Codex, opencode and Qwen Code run in the terminal as ever: what the adapter
installs connects them to the hub, and wakes them. Gemini CLI, Copilot CLI, Goose and
Kimi Code, which nothing wakes, are driven over the Agent Client Protocol (ACP): you type
your prompts to hubcli, a message for the agent begins a turn, and a permission prompt is
answered here or in the inbox (hubcli app permissions), whoever is first. Ctrl-C cancels
the turn, and once more ends the session. With --acp Qwen Code and opencode are driven
too, and so is any program that speaks the protocol: hubcli run --acp -- COMMAND.

--headless drives a harness without a terminal, until it is stopped: for the commands of
the spawn policy. What comes behind -- goes to the harness.

--background starts a session that goes on without this command, by the harness's own means:
opencode serve, an app server of Codex, claude --bg. Other harnesses are driven over ACP.
--list shows these sessions, --attach opens one in this terminal, and --end ends one. With
--resume a session that has ended is started again when a message or a task comes for its
agent: at least a minute after the start before, and at most 20 times.`,
		Example: `  hubcli run claude --as lead
  hubcli run gemini
  hubcli run codex --task 12 -- --model gpt-5.5
  hubcli run --acp -- my-agent --stdio
  hubcli run gemini --headless --prompt "review what dev-a posts"
  hubcli run opencode --background --as dora --task 12
  hubcli run claude --background --resume --as dora
  hubcli run --attach dora`,
		Args: func(cmd *cobra.Command, args []string) error { return o.take(cmd, args) },
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.managed() != "" {
				return o.manage(cmd.Context(), env)
			}
			if err := o.check(cmd, env); err != nil {
				return err
			}
			return runHarness(cmd.Context(), env, cmd, &o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.as, "as", "", "`name` of the agent, if not the one in "+hook.EnvAgent+" (default a short free word)")
	o.AddRoom(f, list.RoomUsage)
	f.Var(term.IDValue{To: &o.task}, "task", "`id` of a task that the agent takes and begins with")
	f.StringVar(&o.prompt, "prompt", "", "`text` of the first prompt")
	f.BoolVar(&o.acp, "acp", false, "drive the harness over the Agent Client Protocol")
	f.BoolVar(&o.goOn, "continue", false, "with ACP or in the background: go on with the last session of this folder")
	f.BoolVar(&o.headless, "headless", false, "with ACP: without a terminal, until it is stopped")
	f.BoolVar(&o.once, "once", false, "with ACP: end when the first turn has ended")
	f.BoolVar(&o.background, "background", false, "start a session that goes on without this command")
	f.BoolVar(&o.resume, "resume", false, "with --background: when it has ended, start it again for each message or task that comes for its agent")
	f.BoolVar(&o.held, "held", false, "keep a session of the background")
	_ = f.MarkHidden("held") // it exists
	f.BoolVar(&o.list, "list", false, "list the sessions in the background")
	f.StringVar(&o.attach, "attach", "", "open the background session of this `agent` in this terminal")
	f.StringVar(&o.end, "end", "", "end the background session of this `agent`")
	f.BoolVar(&o.json, "json", false, "with --background and --list: print JSON")
	o.BaseURL.Add(env, f)
	return cmd
}

// runnable lists what people may call the harnesses that can be started, without the
// aliases that only files use.
func runnable() (names []string) {
	for _, f := range hub.AllHarnessFacts() {
		if f.Opens != nil || f.ACP != nil {
			names = append(names, f.Programs[0])
		}
	}
	return names
}

// take parts the arguments at the double hyphen.
func (o *runOptions) take(cmd *cobra.Command, args []string) error {
	if err := opt.ValidText(cmd, args); err != nil {
		return err
	}
	own := args
	if at := cmd.ArgsLenAtDash(); at >= 0 {
		own, o.arguments = args[:at], args[at:]
	}
	o.background = o.background || o.held
	if what := o.managed(); what != "" {
		return o.checkManaged(cmd, args, what)
	}
	fix := "name one of: " + strings.Join(runnable(), ", ") + "; or: hubcli run --acp -- COMMAND"
	switch {
	case len(own) > 1:
		return term.Usage("put what is for the harness behind --: hubcli run "+own[0]+" -- "+own[1], "hubcli run takes one harness, and %q comes behind it", own[1])
	case len(own) == 0 && o.acp && len(o.arguments) > 0:
		o.harness = hub.HarnessGeneric
		return nil
	case len(own) == 0:
		return term.Usage(fix, "hubcli run needs its argument harness")
	}
	h, known := hub.ParseHarness(own[0])
	facts := h.Facts()
	switch {
	case !known:
		if meant := near.Name(strings.ToLower(own[0]), runnable()); meant != "" {
			fix = "did you mean hubcli run " + meant + "? " + fix
		}
		return term.Usage(fix, "there is no harness %q", own[0])
	case facts.Opens == nil && facts.ACP == nil:
		return term.Usage("start it yourself; \"hubcli adapter install "+string(h)+"\" sets the hub up in it", "%s is not started by hubcli run", facts.Title)
	}
	o.harness = h
	return nil
}

// check refuses what does not go together.
func (o *runOptions) check(cmd *cobra.Command, env *term.Env) error {
	if err := o.CheckRoom(cmd); err != nil {
		return err
	}
	if env.Getenv(hook.EnvAgent) != "" && env.Getenv(envSpawn) == "" && o.as == "" {
		return term.Usage("a person does that in a shell without "+hook.EnvAgent+"; an agent asks the hub with hub_spawn", "%s is set, and hubcli run is for people", hook.EnvAgent)
	}
	if o.as != "" || cmd.Flags().Changed("as") {
		if err := checkBridged("--as", hub.AgentID(o.as)); err != nil {
			return err
		}
	}
	if err := o.checkBackground(); err != nil {
		return err
	}
	facts := o.harness.Facts()
	if o.driven() && facts.ACP == nil && o.harness != hub.HarnessGeneric {
		return term.Usage("in a terminal: hubcli run "+facts.Programs[0], "%s is not known to speak the Agent Client Protocol", facts.Title)
	}
	for flag, given := range map[string]bool{"continue": o.goOn, "once": o.once} {
		if given && !o.driven() && !(o.goOn && o.background) {
			return term.Usage("give the harness its own flag behind --, or add --acp", "--%s is for a harness that is driven over ACP", flag)
		}
	}
	return nil
}

// driven reports whether the harness is driven over ACP.
func (o *runOptions) driven() bool {
	facts := o.harness.Facts()
	return o.acp || o.headless || facts.Driven() || o.background && !background.Has(o.harness)
}

// envSpawn is set in what a hub has spawned.
const envSpawn = "HUB_SPAWN"

// runHarness finds and starts the harness.
func runHarness(ctx context.Context, env *term.Env, cmd *cobra.Command, o *runOptions) error {
	folder, err := os.Getwd()
	if err != nil {
		return term.Usage("go to a folder that is there", "the current folder is not known: %v", err)
	}
	if _, err := machine.EnsureAt(ctx, &o.BaseURL, env, cmd); err != nil {
		return err
	}
	args, err := o.command()
	if err != nil {
		return err
	}
	c, err := o.Client()
	if err != nil {
		return err
	}
	defer c.Close()
	room, err := o.FindRoom(ctx, c)
	if err != nil {
		return err
	}
	installed, err := o.installed(ctx, env, c, folder)
	if err != nil {
		return err
	}
	if o.background && !o.held && (o.resume || o.harness != hub.HarnessClaudeCode) {
		return o.leaveBehind(ctx, env, &room, folder)
	}
	who, err := o.begin(ctx, env, c, &room, folder)
	if err != nil {
		return err
	}
	start := term.HarnessCommand{Args: args, Dir: folder, Env: o.environment(who.agent, room.RoomID)}
	r := &runner{client: c, room: &room, run: who, folder: folder, installed: installed}
	switch {
	case o.held:
		return keepSession(ctx, env, o, r, start)
	case o.driven():
		return driveHarness(ctx, env, o, r, start)
	case o.background:
		return handToClaude(ctx, env, o, r, start)
	}
	who.leave(ctx) // the bridge of the harness registers
	return o.become(env, who, room.RoomID, start)
}

// command is the command line of the harness, without what begins its first turn.
func (o *runOptions) command() ([]string, error) {
	facts := o.harness.Facts()
	names, args := facts.Programs, o.arguments
	switch {
	case o.harness == hub.HarnessGeneric:
		names, args = o.arguments[:1], o.arguments[1:]
	case o.driven():
		args = slices.Concat(facts.ACP, o.arguments)
	}
	var unusable error
	for _, name := range names {
		path, err := exec.LookPath(name)
		if err == nil {
			path, err = filepath.Abs(path)
		}
		if err == nil {
			return append([]string{path}, args...), nil
		}
		if !errors.Is(err, exec.ErrNotFound) { // it is there, or its path is named
			unusable = err
		}
	}
	if unusable != nil {
		return nil, term.Fail(term.ExitRefused, "name a program that is there and that you may run", "it cannot be started: %v", unusable)
	}
	title := facts.Title
	if o.harness == hub.HarnessGeneric {
		title = names[0]
	}
	return nil, term.Fail(term.ExitRefused, "install it, or add its folder to PATH", "%s was not found: there is no program %s in PATH", title, strings.Join(names, " or "))
}

// installed reports whether the adapter gives the harness a bridge in the folder. In a
// terminal the harness has no other way to the hub.
func (o *runOptions) installed(ctx context.Context, env *term.Env, c *client.Client, folder string) (bool, error) {
	if o.harness == hub.HarnessGeneric {
		return false, nil
	}
	row, err := c.Adapter(ctx, o.harness, hub.AdapterQuery{SearchPath: opt.OwnPath(env)})
	if err != nil && (!o.driven() || errors.Is(err, ctx.Err())) {
		return false, err
	}
	for _, place := range row.Places {
		here := place.Scope == hub.AdapterGlobal
		if rel, err := filepath.Rel(place.Path, folder); !here && err == nil {
			here = rel == "." || filepath.IsLocal(rel)
		}
		if state := adapter.StateOf(place, hub.PartMCP); here && (strings.HasPrefix(state, string(hub.AdapterInstalled)) || state == string(hub.AdapterDrifted)) {
			return true, nil
		}
	}
	if !o.driven() {
		return false, term.Fail(term.ExitRefused, "hubcli adapter install "+string(o.harness), "the hub is not set up in %s, so no agent would be in the room", row.Title)
	}
	return false, nil
}

// environment makes the bridge and the hooks of the harness the agent.
func (o *runOptions) environment(agent hub.AgentID, room hub.RoomID) []string {
	set := [][2]string{{hook.EnvAgent, string(agent)}, {hook.EnvBaseURL, o.URL}, {envRoom, string(room)}, {hook.EnvDriven, ""}}
	if o.driven() {
		set[3][1] = driver()
	}
	all := slices.DeleteFunc(os.Environ(), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return slices.ContainsFunc(set, func(s [2]string) bool { return s[0] == name })
	})
	for _, s := range set {
		all = append(all, s[0]+"="+s[1])
	}
	return all
}

// driver names this process to the bridges of a driven harness.
func driver() string {
	self, _ := process.Look(os.Getpid())
	self.PID = os.Getpid()
	return session.Driver(self)
}

// envRoom names the room to the bridge.
const envRoom = "HUB_ROOM"

// become starts a harness that has a terminal.
func (o *runOptions) become(env *term.Env, who *runAgent, room hub.RoomID, start term.HarnessCommand) error {
	if text := who.first(o); text != "" {
		// A program takes an argument that begins with a dash for a flag, and the text may be another agent's.
		if strings.HasPrefix(text, "-") {
			text = " " + text
		}
		for _, arg := range o.harness.Facts().Opens {
			start.Args = append(start.Args, strings.ReplaceAll(arg, "$text", text))
		}
	}
	if o.harness.Facts().TakesInput && who.input != "" && !slices.ContainsFunc(o.arguments, func(a string) bool { return strings.HasPrefix(a, inputFlag) }) {
		start.Args = slices.Insert(start.Args, 1, inputFlag, who.input)
	}
	if o.harness == hub.HarnessCodex && !o.execs() {
		start.Args = slices.Insert(start.Args, 1, background.CodexBridge(o.codexBridge(env, who.agent, room))...)
	}
	env.Note("%s starts as agent %s", o.harness.Facts().Title, who.agent)
	if env.BecomeHarness == nil {
		return errors.New("this program cannot start another in its place")
	}
	exit, err := env.BecomeHarness(start)
	switch {
	case err != nil:
		return term.Fail(term.ExitRefused, "start it yourself to see what is wrong: "+start.Args[0], "%s does not start: %v", o.harness.Facts().Title, err)
	case exit != 0:
		return &term.Failure{Exit: exit}
	}
	return nil
}

// codexBridge are the variables that name the agent to a bridge of Codex, which inherits none.
func (o *runOptions) codexBridge(env *term.Env, agent hub.AgentID, room hub.RoomID) [][2]string {
	bridge := [][2]string{{hook.EnvAgent, string(agent)}, {hook.EnvBaseURL, o.URL}, {envRoom, string(room)}}
	if root := env.Getenv("HUB_DATA_ROOT"); root != "" {
		bridge = append(bridge, [2]string{"HUB_DATA_ROOT", root})
	}
	return bridge
}

// execs reports whether Codex is started without a terminal. Its session ends with its turn, so that no message
// may wake it, and its bridge learns the name from its hooks.
func (o *runOptions) execs() bool {
	return slices.ContainsFunc(o.arguments, func(arg string) bool { return arg == "exec" || arg == "e" || arg == "review" })
}

// inputFlag is how Qwen Code is told of the file from which it takes texts.
const inputFlag = "--input-file"
