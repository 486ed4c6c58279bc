package hook

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"hubcli/hub"
)

// Limits of the folder of sessions.
const (
	sessionsFolder = "hooks"
	maxSavedBytes  = 16 << 10
	keepSessions   = 30 * 24 * time.Hour
	keepMarks      = time.Hour // of what may be said once for one event
	maxSwept       = 4096      // files that one sweep looks at
)

// Binding is what is remembered of a harness session: which agent it is, and
// where.
type Binding struct {
	AgentID    hub.AgentID    `json:"agent_id"`
	BaseURL    string         `json:"base_url"`
	RoomID     hub.RoomID     `json:"room_id"`
	InstanceID hub.InstanceID `json:"instance_id"`
}

// sessions keeps bindings in files, one a harness session:
//
//	<data root>/hooks/<key>.json      the binding; renamed into place
//	<data root>/hooks/<key>-<what>    empty: what has been said; its making is the right to say it
//
// where key is a hash of the session's id. Files older than keepSessions go when
// another session begins.
//
// What others could have written counts as not there; tell, if there is one, is
// told.
type sessions struct {
	dir  string
	tell func(error)
}

// Key names a harness session in files and logs without giving its id away.
func Key(session string) string {
	sum := sha256.Sum256([]byte(session))
	return hex.EncodeToString(sum[:12])
}

func (s sessions) path(session string) string { return filepath.Join(s.dir, Key(session)+".json") }

// load returns the binding of a session. One that cannot be read counts as none.
func (s sessions) load(session string) (Binding, bool) {
	if s.dir == "" || session == "" {
		return Binding{}, false
	}
	if !trusts(s.dir, s.tell) || !trusts(s.path(session), s.tell) {
		return Binding{}, false
	}
	f, err := os.Open(s.path(session))
	if err != nil {
		return Binding{}, false
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxSavedBytes))
	var got Binding
	if err != nil || json.Unmarshal(b, &got) != nil || hub.CheckSender("agent_id", got.AgentID) != nil {
		return Binding{}, false
	}
	return got, true
}

// Remembered returns which agent a harness session is; dataRoot may be empty.
func Remembered(dataRoot, session string) (Binding, bool) {
	return sessionsOf(dataRoot).load(session)
}

// Remember saves which agent a harness session is.
func Remember(dataRoot, session string, b Binding) error {
	s := sessionsOf(dataRoot)
	if s.dir == "" || session == "" {
		return nil
	}
	return s.replace(session, b)
}

// Claim saves which agent a harness session is unless that is known, and returns
// what is known then: of a hook and a bridge that begin at once both go by the
// first.
func Claim(dataRoot, session string, b Binding) (Binding, error) {
	s := sessionsOf(dataRoot)
	if s.dir == "" || session == "" {
		return b, nil
	}
	return s.claim(session, b)
}

func sessionsOf(dataRoot string) sessions {
	if dataRoot == "" {
		return sessions{}
	}
	return sessions{dir: filepath.Join(dataRoot, sessionsFolder)}
}

// claim saves a binding unless the session has one, and returns the one that it
// has then: of two hooks that run at once both go by the first.
func (s sessions) claim(session string, b Binding) (Binding, error) {
	temp, err := s.write(b)
	if err != nil {
		return b, err
	}
	defer func() { _ = os.Remove(temp) }()
	err = os.Link(temp, s.path(session))
	if errors.Is(err, fs.ErrExist) {
		if first, ok := s.load(session); ok {
			return first, nil
		}
	}
	if err != nil { // it is damaged, or the disk knows no links
		err = os.Rename(temp, s.path(session))
	}
	return b, err
}

// replace saves a binding.
func (s sessions) replace(session string, b Binding) error {
	temp, err := s.write(b)
	if err != nil {
		return err
	}
	if err = os.Rename(temp, s.path(session)); err != nil {
		_ = os.Remove(temp)
	}
	return err
}

// write writes a binding into a file of its own beside the others.
func (s sessions) write(b Binding) (string, error) { return writeBeside(s.dir, b) }

// once reports true to the first that asks for this session and thing. Where
// there is no session or nothing can be kept it reports the fallback.
func (s sessions) once(session, what string, fallback bool) bool {
	if s.dir == "" || session == "" || !trusts(s.dir, s.tell) {
		return fallback
	}
	f, err := os.OpenFile(filepath.Join(s.dir, Key(session)+"-"+what), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return !errors.Is(err, fs.ErrExist) && fallback
	}
	_ = f.Close()
	return true
}

// touch keeps the binding of a session that goes on from being swept.
func (s sessions) touch(session string, now time.Time) { _ = os.Chtimes(s.path(session), now, now) }

// said reports whether once has been asked for the thing.
func (s sessions) said(session, what string) bool {
	if s.dir == "" || session == "" || !trusts(s.dir, s.tell) {
		return false
	}
	_, err := os.Lstat(filepath.Join(s.dir, Key(session)+"-"+what))
	return err == nil
}

// window is how long two runs of a hook may lie apart and still be for one event
// of the harness.
const window = 10 * time.Second

// first reports whether no other run has asked for the event of this source
// lately. Runs that ask at the same time agree on one: each marks its stretch of
// time, then looks at the one before.
func (s sessions) first(session, source string, now time.Time) bool {
	if s.dir == "" || session == "" {
		return true
	}
	mark := func(stretch int64) string { return fmt.Sprintf("began-%s-%d", label(source), stretch) }
	stretch := now.UnixNano() / int64(window)
	return s.once(session, mark(stretch), true) && !s.said(session, mark(stretch-1))
}

// label makes a name of files from what a harness wrote.
func label(source string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' {
			return r
		}
		return '_'
	}, source)
}

// sweep removes what is old.
func (s sessions) sweep(now time.Time) {
	dir, err := os.Open(s.dir)
	if err != nil {
		return
	}
	defer dir.Close()
	entries, _ := dir.ReadDir(maxSwept) // those that could be read
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		keep := keepSessions
		if strings.HasPrefix(e.Name(), ".new-") || strings.Contains(e.Name(), "-began-") {
			keep = keepMarks
		}
		if now.Sub(info.ModTime()) > keep {
			_ = os.Remove(filepath.Join(s.dir, e.Name()))
		}
	}
}
