package agent

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"hubcli/cli/list"
	"hubcli/cli/term"
	"hubcli/hub"
	"hubcli/integrations/background"
	"hubcli/integrations/hook"
	"hubcli/internal/identity"
	"hubcli/internal/pause"
	"hubcli/internal/peertext"
	"hubcli/internal/process"
)

// States of a session besides those of its agent.
const (
	backgroundRuns    = "starting" // its agent has not been seen yet, or is gone
	backgroundSleeps  = "sleeping" // it is started again when something comes for its agent
	backgroundEnded   = "ended"
	backgroundUnknown = "hub away"
	backgroundOther   = "another hub"
)

// endsWithin is how long a session may take to end before its process is killed.
const endsWithin = 15 * time.Second

// backgroundRow is a row of the list.
type backgroundRow struct {
	AgentID hub.AgentID `json:"agent_id"`
	Harness hub.Harness `json:"harness"`
	Folder  string      `json:"folder"`
	RoomID  hub.RoomID  `json:"room_id"`
	Since   hub.Time    `json:"since"`
	State   string      `json:"state"`
	PID     int         `json:"pid"`
	Session string      `json:"session"`
	Attach  []string    `json:"attach"` // the command of the harness; empty: it has none
	Log     string      `json:"log,omitempty"`
	Resume  bool        `json:"resume"`         // it is started again when something comes for its agent
	Starts  int         `json:"starts"`         // how often it was
	Over    string      `json:"over,omitempty"` // why it is not started any more
}

func rowOf(note *identity.Background) backgroundRow {
	row := backgroundRow{
		AgentID: note.AgentID, Harness: note.Harness, Folder: note.Folder, RoomID: note.RoomID, Since: note.Since,
		PID: note.PID, Session: note.Session, Attach: []string{}, Log: note.Log, Resume: note.Resume, Starts: note.Starts, Over: note.Over,
	}
	if args := attachArgs(note); args != nil {
		row.Attach = append([]string{note.Program}, args...)
	}
	return row
}

// attachArgs are the arguments with which the harness shows a session in a terminal; nil: it has
// no way to do that.
func attachArgs(note *identity.Background) []string {
	switch {
	case note.Address == "", note.Sleeping:
		return nil
	case note.Harness == hub.HarnessOpenCode:
		return background.OpenCodeAttach(note.Address, note.Folder, note.Session)
	case note.Harness == hub.HarnessCodex:
		return background.CodexAttach(note.Address, note.Session)
	case note.Harness == hub.HarnessClaudeCode:
		return background.ClaudeAttach(note.Address)
	}
	return nil
}

// manage does what the flags say about sessions in the background.
func (o *runOptions) manage(ctx context.Context, env *term.Env) error {
	notes, err := backgrounds(env)
	if err != nil {
		return err
	}
	if o.list {
		return o.listBackground(ctx, env, notes)
	}
	if env.Getenv(hook.EnvAgent) != "" {
		return term.Usage("a person does that in a shell without "+hook.EnvAgent, "%s is set, and sessions in the background are ended and opened by people", hook.EnvAgent)
	}
	name := hub.AgentID(o.attach + o.end) // one of them is empty
	note, found := notes.Load(name)
	if !found {
		return term.Fail(term.ExitRefused, "hubcli run --list shows those that run", "no session in the background is called %s", name)
	}
	there := refresh(ctx, notes, &note)
	switch {
	case o.end != "":
		return o.endBackground(ctx, env, notes, &note, there)
	case !there:
		_ = notes.Forget(&note) // the list forgets it otherwise
		return term.Fail(term.ExitRefused, "start it again with --background --continue", "the session of %s has ended", name)
	case note.Sleeping:
		return term.Fail(term.ExitRefused, "start it with \"hubcli say --to "+string(name)+" TEXT\"", "the session of %s sleeps: it is started again when something comes for %s", name, name)
	}
	return attachBackground(env, &note)
}

// refresh reports whether a session is there. Claude Code's daemon may have given it another process.
func refresh(ctx context.Context, notes identity.Backgrounds, note *identity.Background) bool {
	if isAlive(note) {
		return true
	}
	if note.Harness != hub.HarnessClaudeCode {
		return false
	}
	row, err := claudeOf(note.Program, note.Folder).Look(ctx, note.Address)
	now, ok := process.Look(row.PID)
	if err != nil || row.PID == 0 || !ok {
		return false
	}
	note.PID, note.Began = row.PID, now.Began
	note.Resume, note.Sleeping = false, false // nothing keeps it besides
	return notes.Store(note) == nil
}

// listBackground shows the sessions. One that has ended is shown once and forgotten.
func (o *runOptions) listBackground(ctx context.Context, env *term.Env, notes identity.Backgrounds) error {
	rows := []backgroundRow{}
	state := o.states(ctx)
	for _, note := range notes.All() {
		row := rowOf(&note)
		row.State = backgroundEnded
		if refresh(ctx, notes, &note) {
			row.State, row.PID = state(&note), note.PID
		} else if err := notes.Forget(&note); err != nil {
			env.Note("the session of %s cannot be forgotten: %v", note.AgentID, err)
		}
		rows = append(rows, row)
	}
	if o.json {
		return term.PrintJSON(env.Stdout, rows)
	}
	columns := []string{"AGENT(12)", "STATE(10)", ">SINCE", "HARNESS(6)", "FOLDER(10)", "ATTACH(12)?"}
	over := slices.ContainsFunc(rows, func(r backgroundRow) bool { return r.Over != "" })
	if over {
		columns = append(columns, "WHY(20)")
	}
	t := term.NewTable("no session runs in the background", columns...)
	now := hub.TimeOf(env.Now())
	for _, row := range rows {
		how := "hubcli run --attach " + string(row.AgentID)
		if len(row.Attach) == 0 || row.State == backgroundEnded {
			how = ""
		}
		cells := []any{row.AgentID, row.State, term.Age(now, row.Since), row.Harness, row.Folder, how}
		if over {
			cells = append(cells, row.Over)
		}
		t.Add(cells...)
	}
	if none := t.Empty(); none != "" {
		env.Note("%s", none)
		return nil
	}
	_, err := io.WriteString(env.Stdout, strings.Join(t.Lines(env.Screen(term.ColorAuto)), "\n")+"\n")
	return err
}

// states returns what the hub says about the agents of sessions.
func (o *runOptions) states(ctx context.Context) func(*identity.Background) string {
	var instance hub.InstanceID
	c, err := o.Client()
	if err == nil {
		var info hub.Info
		info, err = c.Info(ctx)
		instance = info.InstanceID
	}
	return func(note *identity.Background) string {
		switch {
		case note.Sleeping:
			return backgroundSleeps
		case err != nil:
			return backgroundUnknown
		case note.InstanceID != instance:
			return backgroundOther
		}
		live, err := hub.LiveAs(ctx, c.Agents, note.AgentID)
		switch {
		case err != nil:
			return backgroundUnknown
		case live == nil:
			return backgroundRuns
		}
		return list.AgentState(live).Text
	}
}

// attachBackground becomes the harness's own command that shows a session.
func attachBackground(env *term.Env, note *identity.Background) error {
	args := attachArgs(note)
	if args == nil {
		return term.Fail(term.ExitRefused, "talk to it with \"hubcli say --to "+string(note.AgentID)+" TEXT\", and see what it says in "+note.Log, "%s has no command that shows the session", titleOf(note))
	}
	if env.BecomeHarness == nil {
		return errNoStart
	}
	start := term.HarnessCommand{Args: append([]string{note.Program}, args...), Dir: note.Folder, Env: os.Environ()}
	if note.Harness == hub.HarnessOpenCode {
		start.Env = append(start.Env, background.OpenCodePassword+"="+note.Secret)
	}
	exit, err := env.BecomeHarness(start)
	switch {
	case err != nil:
		return term.Fail(term.ExitRefused, "start it yourself to see what is wrong: "+strings.Join(start.Args, " "), "%s does not start: %v", titleOf(note), err)
	case exit != 0:
		return &term.Failure{Exit: exit}
	}
	return nil
}

// endBackground ends a session and waits until its agent is gone.
func (o *runOptions) endBackground(ctx context.Context, env *term.Env, notes identity.Backgrounds, note *identity.Background, there bool) error {
	if there {
		if err := stopSession(ctx, notes, note); err != nil {
			return err
		}
	}
	if err := notes.Forget(note); err != nil {
		return err
	}
	how := "the session of %s has ended\n"
	if !there {
		how = "the session of %s had ended already\n"
	}
	if there { // the agent of one that had ended before may be another session by now
		o.endAgentOf(ctx, note)
	}
	_, err := fmt.Fprintf(env.Stdout, how, peertext.TerminalLine(string(note.AgentID)))
	return err
}

// endAgentOf ends the agent of a session that has ended, at the hub of the session.
func (o *runOptions) endAgentOf(ctx context.Context, note *identity.Background) {
	o.URL = note.BaseURL
	c, err := o.Client()
	if err != nil {
		return // without the hub there is no agent
	}
	defer c.Close()
	if info, err := c.Info(ctx); err == nil && info.InstanceID == note.InstanceID {
		endAgent(ctx, c, note.AgentID)
	}
}

// stopSession ends the process of a session, by the harness's own means if it has started that.
func stopSession(ctx context.Context, notes identity.Backgrounds, note *identity.Background) error {
	own := note.Harness == hub.HarnessClaudeCode
	if own && note.Resume { // first what would start it again
		if err := stopKeeper(ctx, note, false); err != nil {
			return err
		}
		if now, found := notes.Load(note.AgentID); found {
			*note = now
		}
		if !refresh(ctx, notes, note) {
			return nil // it slept
		}
	}
	return stopKeeper(ctx, note, own)
}

// stopKeeper ends the process that keeps a session; own: Claude Code does it.
func stopKeeper(ctx context.Context, note *identity.Background, own bool) error {
	if own {
		if err := claudeOf(note.Program, note.Folder).Stop(ctx, note.Address); err != nil {
			return term.Fail(term.ExitRefused, "see what \"claude agents\" says", "Claude Code does not end the session: %v", err)
		}
	} else {
		stopProcess(note.PID, note.Began)
	}
	const look = 20 * time.Millisecond
	for until := time.Now().Add(endsWithin); isAlive(note); {
		if !pause.For(ctx, look) {
			return context.Cause(ctx)
		}
		if time.Now().After(until) {
			if own {
				return term.Fail(term.ExitRefused, "see what \"claude agents\" says", "the process of the session still runs")
			}
			killProcess(note.PID, note.Began)
			until = until.Add(endsWithin)
		}
	}
	return nil
}

// stopProcess asks a process to end, if it is still the one that began then.
func stopProcess(pid int, began string) {
	onProcess(pid, began, func(p *os.Process) error {
		if err := p.Signal(syscall.SIGTERM); err != nil {
			return p.Kill() // a system without this signal
		}
		return nil
	})
}

// killProcess ends a process. Its keeper then ends the harness.
func killProcess(pid int, began string) { onProcess(pid, began, (*os.Process).Kill) }

// onProcess does something to a process. It takes hold of the process before it compares the time of its
// start, so that no other one with the same number is met.
func onProcess(pid int, began string, do func(*os.Process) error) {
	p, err := os.FindProcess(pid)
	if err != nil {
		return
	}
	defer func() { _ = p.Release() }()
	if now, ok := process.Look(pid); ok && now.Began == began {
		_ = do(p) // it has ended by itself
	}
}
