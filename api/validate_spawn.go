package api

import (
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"hubcli/hub"
	"hubcli/internal/lazy"
)

// ValidateSpawn checks a request to start a harness. It refuses characters that
// would end an argument or a line in another program.
func ValidateSpawn(in *hub.SpawnInput, operator bool) error {
	if err := first(
		checkNamedActor("by", in.By, operator),
		checkBounds(in),
		ValidateHarness("harness", &in.Harness),
		given(hub.CheckSender, "agent_id", in.AgentID)); err != nil {
		return err
	}
	if in.AgentID.Watcher() {
		return hub.Invalid("agent_id", "names that end with .watch belong to watches").WithFix("choose another, or leave agent_id out")
	}
	switch n := len(in.Prompt); {
	case n > hub.MaxSpawnPromptBytes:
		return hub.Invalid("prompt", "prompt is too long").With("limit", hub.MaxSpawnPromptBytes).With("size", n).
			WithFix("put the text into an artifact or a message, and let prompt name it")
	case strings.ContainsRune(in.Prompt, 0):
		return hub.Invalid("prompt", "prompt holds a NUL character, which no argument can")
	}
	return nil
}

// ValidateSpawnStop checks the agent that stops a spawn.
func ValidateSpawnStop(in *hub.SpawnStopInput, operator bool) error {
	switch {
	case in.AgentID != "":
		return checkActor("agent_id", in.AgentID, operator)
	case !operator:
		return hub.Invalid("agent_id", "agent_id is missing").WithFix("name the agent that asked for the spawn")
	default:
		return nil
	}
}

// ValidateSpawns checks the query of a list of spawns.
func ValidateSpawns(q *hub.SpawnsQuery) error {
	if q.Status != "" && !slices.Contains(hub.SpawnStatuses(), q.Status) {
		return hub.Invalid("status", "there is no such status").With("statuses", hub.SpawnStatuses())
	}
	return nil
}

// ValidateSpawnPolicy checks a new policy. Whether executables and folders
// exist is checked when a spawn needs them.
func ValidateSpawnPolicy(in *hub.SpawnPolicyInput) error {
	if in.Version < 0 {
		return hub.Invalid("version", "version must be that of GET /v1/spawn/policy")
	}
	if len(in.Commands) > hub.MaxSpawnCommands || len(in.Allow) > hub.MaxSpawnAllowances {
		return hub.Invalid("commands", "the policy is too long").
			With("max_commands", hub.MaxSpawnCommands).With("max_allow", hub.MaxSpawnAllowances)
	}
	harnesses := map[hub.Harness]bool{}
	for i := range in.Commands {
		c := &in.Commands[i]
		if err := checkCommand(c); err != nil {
			return err
		}
		if harnesses[c.Harness] {
			return hub.Invalid("commands", "two commands are of harness "+string(c.Harness)).WithFix("keep one of them")
		}
		harnesses[c.Harness] = true
	}
	allowed := map[hub.SpawnAllowance]bool{}
	for i := range in.Allow {
		a := &in.Allow[i]
		if err := first(
			hub.CheckName("allow", string(a.RoomID), hub.MaxNameChars), ValidateHarness("allow", &a.Harness),
			checkNumber("max_seats", a.MaxSeats, hub.MaxSpawnRunning)); err != nil {
			return err
		}
		key := hub.SpawnAllowance{RoomID: a.RoomID, Harness: a.Harness}
		if allowed[key] {
			return hub.Invalid("allow", "the same room and harness stand twice in allow").WithFix("keep one of them")
		}
		allowed[key] = true
	}
	return first(
		checkNumber("max_running", in.MaxRunning, hub.MaxSpawnRunning),
		checkNumber("max_per_hour", in.MaxPerHour, hub.MaxSpawnsPerHour),
		checkNumber("max_depth", in.MaxDepth, hub.MaxSpawnDepth))
}

// checkNumber refuses a number beyond limit; 0 is absent.
func checkNumber(field string, n, limit int) error {
	if n < 0 || n > limit {
		return hub.Invalid(field, field+" must be from 1 on").With("limit", limit)
	}
	return nil
}

var (
	envName     = lazy.Regexp{Pattern: `^[A-Za-z_][A-Za-z0-9_]{0,127}$`}
	placeholder = lazy.Regexp{Pattern: `\{(prompt|role|title|agent|room|base_url)\}`}
	optionByWho = lazy.Regexp{Pattern: `^-+\{(prompt|role|title)\}`}
)

func checkCommand(c *hub.SpawnCommand) error {
	if err := ValidateHarness("commands", &c.Harness); err != nil {
		return err
	}
	if n := len(c.Args); n == 0 || n > hub.MaxSpawnArgs {
		return hub.Invalid("args", "a command needs its executable and at most so many arguments").
			With("harness", c.Harness).With("limit", hub.MaxSpawnArgs).WithFix(`give a list such as ["/usr/bin/codex","exec","--","{prompt}"]`)
	}
	for i, arg := range c.Args {
		if err := checkArg(c, i, arg); err != nil {
			return err
		}
	}
	if len(c.Env) > hub.MaxSpawnEnv {
		return hub.Invalid("env", "a command names too many variables").With("limit", hub.MaxSpawnEnv)
	}
	for _, name := range c.Env {
		if !envName.MatchString(name) || strings.HasPrefix(name, "HUB_") {
			return hub.Invalid("env", "env holds names of variables, and none that begins with HUB_").With("name", name).
				WithFix("name a variable of the hub's own environment, such as OPENAI_API_KEY; its value is read when the command starts")
		}
	}
	if c.Dir != "" && (!filepath.IsAbs(c.Dir) || len(c.Dir) > hub.MaxPathBytes || strings.ContainsRune(c.Dir, 0)) {
		return hub.Invalid("dir", "dir is no absolute path").With("harness", c.Harness).
			WithFix("give an absolute path, or leave dir out for the folder that is bound to the room")
	}
	return first(checkName("connection", c.Connection, hub.MaxConnectionLabel), checkNumber("timeout_sec", c.TimeoutSec, hub.MaxSpawnSec))
}

func checkArg(c *hub.SpawnCommand, i int, arg string) error {
	bad := func(message, fix string) error {
		return hub.Invalid("args", message).With("harness", c.Harness).With("position", i).WithFix(fix)
	}
	switch {
	case len(arg) > hub.MaxSpawnArgBytes || strings.ContainsRune(arg, 0) || !utf8.ValidString(arg):
		return bad("an argument is too long, or is no text", "give texts without NUL characters")
	case i == 0 && (!filepath.IsAbs(arg) || placeholder.MatchString(arg)):
		return bad("the first of args is no absolute path", "give the absolute path of the executable; the shell's command -v finds it")
	case optionByWho.MatchString(arg):
		return bad("an agent would choose the command's options", "put -- and the placeholder as two arguments")
	}
	return nil
}
