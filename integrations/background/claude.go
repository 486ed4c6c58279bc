package background

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"hubcli/internal/pause"
	"hubcli/internal/peertext"
)

// Claude runs the commands by which Claude Code manages its background sessions. Its daemon
// has the environment of the command that has started it, and hands that to all its sessions.
// Therefore the variables of one session stand in the settings of that session.
type Claude struct {
	Program string // its absolute path
	Dir     string
	Env     []string // without what is meant for one session
}

// ClaudeStart says what a session begins with.
type ClaudeStart struct {
	Name      string            // that people are shown
	Variables map[string]string // of this session alone
	Args      []string          // of the program
	Resume    string            // a session to go on with; empty: a new one
	Text      string            // of the first prompt; may be empty
}

// ClaudeSession is a row of the list of sessions.
type ClaudeSession struct {
	ID      string `json:"id"`        // that its other commands take
	Session string `json:"sessionId"` // that --resume takes
	PID     int    `json:"pid"`       // 0: no process works on it
}

// ClaudeAttach are the arguments with which a terminal shows a session.
func ClaudeAttach(id string) []string { return []string{"attach", id} }

const (
	claudeTime  = time.Minute // of one command, which takes a second
	claudeBegin = 30 * time.Second
)

// named returns the id of the session of which "claude --bg" tells; "": it names none.
func named(out string) string {
	for line := range strings.Lines(out) {
		rest, is := strings.CutPrefix(line, "backgrounded · ")
		words := strings.Fields(rest)
		if !is || len(words) == 0 {
			continue
		}
		const most, letters = 64, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
		if id := words[0]; len(id) <= most && strings.Trim(id, letters) == "" {
			return id
		}
	}
	return ""
}

// Start begins a session and waits until a process works on it.
func (c *Claude) Start(ctx context.Context, s *ClaudeStart) (ClaudeSession, error) {
	settings, err := json.Marshal(map[string]any{"env": s.Variables})
	if err != nil {
		return ClaudeSession{}, err
	}
	args := []string{"--bg", "--settings", string(settings), "--name", s.Name}
	if s.Resume != "" {
		args = append(args, "--resume", s.Resume)
	}
	args = append(args, s.Args...)
	if s.Text != "" {
		args = append(args, "--", s.Text)
	}
	out, err := c.run(ctx, args...)
	if err != nil {
		return ClaudeSession{}, err
	}
	id := named(string(out))
	if id == "" {
		return ClaudeSession{}, fmt.Errorf("claude --bg names no session: %s", peertext.Excerpt(string(out), said))
	}
	ctx, cancel := context.WithTimeoutCause(ctx, claudeBegin, errors.New("no process works on the session"))
	defer cancel()
	const look = 200 * time.Millisecond
	for {
		row, err := c.Look(ctx, id)
		switch {
		case ctx.Err() != nil:
			return ClaudeSession{}, errors.Join(context.Cause(ctx), c.Stop(context.WithoutCancel(ctx), id))
		case err == nil && row.PID != 0:
			return row, nil
		}
		pause.For(ctx, look)
	}
}

// Look returns the row of a session; one without a PID if there is none.
func (c *Claude) Look(ctx context.Context, id string) (ClaudeSession, error) {
	out, err := c.run(ctx, "agents", "--json")
	if err != nil {
		return ClaudeSession{}, err
	}
	var rows []ClaudeSession
	if err := json.Unmarshal(out, &rows); err != nil {
		return ClaudeSession{}, fmt.Errorf("claude agents lists no sessions: %w", err)
	}
	for _, row := range rows {
		if row.ID == id {
			return row, nil
		}
	}
	return ClaudeSession{}, nil
}

// Stop ends a session. Its conversation is kept.
func (c *Claude) Stop(ctx context.Context, id string) error {
	_, err := c.run(ctx, "stop", id)
	return err
}

func (c *Claude) run(ctx context.Context, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, claudeTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.Program, args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = c.Dir, c.Env, time.Second
	out, err := cmd.Output()
	if err == nil {
		return out, nil
	}
	words := out
	var ended *exec.ExitError
	if errors.As(err, &ended) && len(ended.Stderr) > 0 {
		words = ended.Stderr
	}
	return nil, fmt.Errorf("claude %s: %w: %s", args[0], err, peertext.Excerpt(string(words), said))
}
