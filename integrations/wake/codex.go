// Package wake begins turns of idle sessions of a harness from outside, by the means that
// the harness has for it. It knows no hub and no message: what a turn begins with is a
// fixed text, because harnesses take it for the words of their user.
//
// Its functions are safe for concurrent use. They wait for the harness's own command, keep
// no process, and write to no file but the input file of a session.
package wake

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"hubcli/internal/peertext"
)

const (
	queueTime = 15 * time.Second // of the command, which takes a fifth of a second
	queueSays = 300              // characters of its complaint that an error repeats
)

// Codex returns a function that queues a text for a session of Codex. An idle session
// begins a turn with it, at once if it runs in Codex's daemon and within ten seconds if
// not; a busy one does so after its turn. parent is the process that the executable of
// Codex may be taken from; else the search path decides. thread is the id of the session.
func Codex(parent int) func(ctx context.Context, thread, text string) error {
	return func(ctx context.Context, thread, text string) error {
		exe, err := codex(parent)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(ctx, queueTime)
		defer cancel()
		// Joined by "=", so that no value is taken for an option.
		cmd := exec.CommandContext(ctx, exe, "queue", "--thread="+thread, "--message="+text)
		cmd.WaitDelay = time.Second
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("codex queue: %w: %s", err, peertext.Excerpt(string(out), queueSays))
		}
		return nil
	}
}

// codex finds the executable: that of the session, which has the version that wrote the
// session's files, else the one that the user starts.
func codex(parent int) (string, error) {
	if exe, ok := executable(parent); ok && strings.HasPrefix(filepath.Base(exe), "codex") {
		return exe, nil
	}
	return exec.LookPath("codex")
}
