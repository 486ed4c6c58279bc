package agent

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"hubcli/cli/daemon"
	"hubcli/cli/opt"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/integrations/background"
	"hubcli/integrations/hook"
	"hubcli/internal/identity"
	"hubcli/internal/pause"
	"hubcli/internal/peertext"
	"hubcli/internal/process"
)

// heldWithin bounds the time in which a session of the background begins: a harness that is
// driven has acpBegins for its own part.
const heldWithin = acpBegins + time.Minute

// managed names the flag that says what becomes of sessions in the background; empty: the command
// starts a harness.
func (o *runOptions) managed() string {
	switch {
	case o.list:
		return "--list"
	case o.attach != "":
		return "--attach"
	case o.end != "":
		return "--end"
	}
	return ""
}

// checkManaged refuses what does not go with the flag.
func (o *runOptions) checkManaged(cmd *cobra.Command, args []string, what string) error {
	if len(args) > 0 {
		return term.Usage("leave it out: each session is known by its agent", "%s takes no harness, and %q comes with it", what, args[0])
	}
	beside := ""
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if goes := f.Name == "base-url" || f.Name == "json" && o.list; !goes && "--"+f.Name != what {
			beside = "--" + f.Name
		}
	})
	if beside != "" {
		return term.Usage("leave "+beside+" out", "%s does not go with %s", beside, what)
	}
	for flag, name := range map[string]string{"--attach": o.attach, "--end": o.end} {
		if name == "" {
			continue
		}
		if err := hub.CheckSender(flag, hub.AgentID(name)); err != nil {
			return opt.AsUsage(err)
		}
	}
	return nil
}

// checkBackground refuses what does not go with a session of the background.
func (o *runOptions) checkBackground() error {
	switch {
	case o.resume && !o.background:
		return term.Usage("add --background, or leave --resume out", "--resume is for --background: nothing would start the session again")
	case o.json && !o.background:
		return term.Usage("leave --json out", "--json is for --background and --list")
	case o.background && o.once:
		fix := "leave --once out"
		if o.harness.Facts().ACP != nil || o.harness == hub.HarnessGeneric {
			fix += ", or start it with --headless --once"
		}
		return term.Usage(fix, "a session of the background does not end with its first turn")
	case o.background && o.headless:
		return term.Usage("leave --headless out", "a session of the background has no terminal anyway")
	case o.background && o.harness == hub.HarnessClaudeCode && slices.ContainsFunc(o.arguments, func(a string) bool { return a == "--settings" || strings.HasPrefix(a, "--settings=") }):
		return term.Usage("put them into a file of settings of the project", "--settings carries the name of the agent in a background session of Claude Code")
	}
	return nil
}

// leaveBehind starts a process that keeps a session, and waits until that has begun.
func (o *runOptions) leaveBehind(ctx context.Context, env *term.Env, room *hub.Room, folder string) error {
	notes, err := backgrounds(env)
	if err != nil {
		return err
	}
	self, err := env.Executable()
	if err != nil {
		return err
	}
	child, err := daemon.StartChild(self, o.heldArgs(room), folder)
	if err != nil {
		return term.Fail(term.ExitRefused, "try again", "no process for the session can be started: %v", err)
	}
	begun, _ := process.Look(child.PID()) // it may have ended already, and is stopped by nobody then
	note, err := awaitNote(ctx, notes, child)
	if err != nil {
		stopProcess(child.PID(), begun.Began)
		return err
	}
	child.Forget()
	return o.tell(env, note)
}

// heldArgs are the arguments of the process that keeps the session.
func (o *runOptions) heldArgs(room *hub.Room) []string {
	args := []string{"run", "--held", "--base-url=" + o.URL, "--room=" + string(room.RoomID)}
	if o.harness != hub.HarnessGeneric {
		args = append(args, string(o.harness))
	}
	if o.as != "" {
		args = append(args, "--as="+o.as)
	}
	if o.task != 0 {
		args = append(args, fmt.Sprintf("--task=%d", o.task))
	}
	if o.prompt != "" {
		args = append(args, "--prompt="+o.prompt)
	}
	if o.acp {
		args = append(args, "--acp")
	}
	if o.goOn {
		args = append(args, "--continue")
	}
	if o.resume {
		args = append(args, "--resume")
	}
	return append(append(args, "--"), o.arguments...)
}

// awaitNote waits until a process has noted the session that it keeps.
func awaitNote(ctx context.Context, notes identity.Backgrounds, child *daemon.Child) (*identity.Background, error) {
	const look = 50 * time.Millisecond
	for until := time.Now().Add(heldWithin); time.Now().Before(until); {
		for _, note := range notes.All() {
			if note.PID == child.PID() && isAlive(&note) {
				return &note, nil
			}
		}
		if exit, ended := child.Ended(); ended {
			sentence, fix := child.LastWords()
			if sentence == "" {
				sentence = fmt.Sprintf("the process of the session has ended with exit code %d and said nothing", exit)
			}
			return nil, term.Fail(max(exit, term.ExitRefused), fix, "%s", sentence)
		}
		if !pause.For(ctx, look) {
			return nil, context.Cause(ctx)
		}
	}
	return nil, term.Fail(term.ExitRefused, "start it without --background to see what is wrong", "the session has not begun within %s", heldWithin)
}

// tell says that a session has begun.
func (o *runOptions) tell(env *term.Env, note *identity.Background) error {
	if o.json {
		row := rowOf(note)
		row.State = backgroundRuns
		return term.PrintJSON(env.Stdout, row)
	}
	how := "hubcli run --attach " + string(note.AgentID)
	if attachArgs(note) == nil {
		how = "hubcli say --to " + string(note.AgentID) + " TEXT"
	}
	_, err := fmt.Fprintf(env.Stdout, "%s works in the background as agent %s; go to it with: %s\n", peertext.TerminalLine(titleOf(note)), note.AgentID, how)
	return err
}

// titleOf is what people call the harness of a session.
func titleOf(note *identity.Background) string {
	if note.Harness == hub.HarnessGeneric {
		return note.Program
	}
	return note.Harness.Facts().Title
}

// backgrounds are the notes of this user's sessions.
func backgrounds(e *term.Env) (identity.Backgrounds, error) {
	root, err := e.DataRoot()
	return identity.BackgroundsOf(root), err
}

// isAlive reports whether the process that keeps a session runs.
func isAlive(note *identity.Background) bool {
	now, ok := process.Look(note.PID)
	return ok && note.PID > 0 && now.Began == note.Began
}

// handToClaude has Claude Code's daemon begin a session.
func handToClaude(ctx context.Context, env *term.Env, o *runOptions, r *runner, start term.HarnessCommand) error {
	notes, err := backgrounds(env)
	if err != nil {
		return err
	}
	c, session, err := r.beginClaude(ctx, env, o, start.Args[0])
	if err != nil {
		return err
	}
	note := r.note(env, o, start.Args[0])
	note.PID, note.Began = keptBy(session)
	note.Session, note.Address = session.Session, session.ID
	r.run.known.PID, r.run.known.Began, r.run.known.Session = note.PID, note.Began, note.Session
	r.run.remember(env)
	if err := notes.Store(note); err != nil {
		_ = c.Stop(context.WithoutCancel(ctx), session.ID) // nobody would find it
		return term.Fail(term.ExitRefused, "try again", "the session cannot be noted and was ended: %v", err)
	}
	return o.tell(env, note)
}

// beginClaude has Claude Code's daemon begin a session, or go on with one.
func (r *runner) beginClaude(ctx context.Context, env *term.Env, o *runOptions, program string) (c *background.Claude, session background.ClaudeSession, err error) {
	known, err := o.resumed(r)
	if err != nil {
		return nil, session, err
	}
	r.run.leave(ctx) // the bridge of the harness registers
	own := map[string]string{hook.EnvAgent: string(r.run.agent), hook.EnvBaseURL: o.URL, envRoom: string(r.room.RoomID)}
	if root := env.Getenv("HUB_DATA_ROOT"); root != "" {
		own["HUB_DATA_ROOT"] = root
	}
	c = claudeOf(program, r.folder)
	session, err = c.Start(ctx, &background.ClaudeStart{Name: string(r.run.agent), Variables: own, Args: o.arguments, Resume: known, Text: r.run.first(o)})
	if err != nil {
		return nil, session, term.Fail(term.ExitRefused, "start it without --background to see what is wrong", "Claude Code begins no session in the background: %v", err)
	}
	return c, session, nil
}

// keptBy is the process that works on a session of Claude Code.
func keptBy(session background.ClaudeSession) (pid int, began string) {
	now, _ := process.Look(session.PID) // one that has gone has no beginning
	return session.PID, now.Began
}

// resumed returns the session to go on with; empty: a new one.
func (o *runOptions) resumed(r *runner) (session string, err error) {
	if !o.goOn {
		return "", nil
	}
	if session = r.run.known.Session; session == "" {
		return "", term.Usage("leave --continue out", "no session of %s in this folder is known", o.title())
	}
	return session, nil
}

// claudeOf runs the commands of Claude Code that are about its background. Whatever it starts gets
// nothing that names an agent: its daemon would hand that to all later sessions.
func claudeOf(program, dir string) *background.Claude {
	meant := []string{hook.EnvAgent, hook.EnvBaseURL, envRoom, hook.EnvDriven, envSpawn}
	kept := slices.DeleteFunc(os.Environ(), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return slices.Contains(meant, name)
	})
	return &background.Claude{Program: program, Dir: dir, Env: kept}
}

// note is what is noted of every session.
func (r *runner) note(env *term.Env, o *runOptions, program string) *identity.Background {
	return &identity.Background{
		AgentID: r.run.agent, InstanceID: r.run.known.InstanceID, BaseURL: o.URL, RoomID: r.room.RoomID, Harness: o.harness,
		Program: program, Folder: r.folder, Since: hub.TimeOf(env.Now()), Resume: o.resume,
	}
}
