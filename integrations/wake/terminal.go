package wake

import (
	"path/filepath"
	"slices"
	"strings"
)

// peer is a process at the other end of a connection with the program that runs a session.
type peer struct {
	exe      string   // the file that it runs
	args     []string // with the name of the program
	dir      string   // working folder
	terminal bool     // it has a controlling terminal
}

// CodexFollowed returns a function that reports whether somebody may follow a session of
// Codex. Codex runs the sessions of terminals in a daemon, and they go on when their terminals are
// quit: each turn then costs money unseen, and asks for permissions that nobody grants. parent is the process
// that runs the session and dir its folder; the function takes the id of the session. The answer is true
// where it cannot be known: on another system than Linux, and for a session without a daemon, which ends with its
// terminal.
func CodexFollowed(parent int, dir string) func(thread string) bool {
	return func(thread string) bool {
		list, ok := peers(parent)
		return !ok || slices.ContainsFunc(list, func(p peer) bool { return p.follows(thread, dir) })
	}
}

// follows reports whether a client of Codex's daemon may follow a session. A terminal of Codex does
// if it was begun in the folder of the session, or names a session or a folder, which may be this one. Its other commands,
// such as codex queue, have no terminal and follow nothing. A client that is not Codex's own follows what it
// likes.
func (p *peer) follows(thread, dir string) bool {
	if !strings.HasPrefix(filepath.Base(p.exe), "codex") {
		return true
	}
	if !p.terminal {
		return false
	}
	return p.dir == dir || slices.ContainsFunc(p.args, func(arg string) bool {
		switch arg {
		case "resume", "fork", "-C", "--cd", thread:
			return true
		}
		return strings.HasPrefix(arg, "--cd=") || strings.HasPrefix(arg, "-C")
	})
}
