package identity

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"hubcli/hub"
	"hubcli/internal/osfile"
)

// Limits of the folder of sessions.
const (
	sessionsFolder = "hooks"
	keepSessions   = 30 * 24 * time.Hour
	keepMarks      = time.Hour // of what may be said once for one event
)

// Binding says which agent a harness session is, and of which hub and room.
type Binding struct {
	AgentID    hub.AgentID    `json:"agent_id"`
	BaseURL    string         `json:"base_url"`
	RoomID     hub.RoomID     `json:"room_id"`
	InstanceID hub.InstanceID `json:"instance_id"`
	SessionID  hub.SessionID  `json:"session_id,omitempty"` // the hub's session that a hook began: a secret
}

// Sessions keeps bindings and marks in files:
//
//	<data root>/hooks/<key>.json      the binding of a session; renamed into place
//	<data root>/hooks/<key>-<mark>    empty: something has been done once for the session
//	<data root>/hooks/<key>.at        the folder in which the session works now
//	<data root>/hooks/<key>.told      whether the model has read what it was told of; see Proof
//	<data root>/hooks/<key>.of        the session of the main agent of a sub-agent with a session of its own
//	<data root>/hooks/<key>-began-call  who makes a call of a tool
//
// where key is Key of the session's id, or of the call's. Sweep removes files older than keepSessions.
// A file that others could have written counts as missing.
type Sessions struct {
	Dir  string      // empty keeps nothing
	Tell func(error) // called with what is ignored; may be nil
}

// Key names a harness session in files and logs without giving its id away.
func Key(session string) string {
	sum := sha256.Sum256([]byte(session))
	return hex.EncodeToString(sum[:12])
}

// AgentOf is the agent that a harness session is where nothing says otherwise.
func AgentOf(harness hub.Harness, session string) hub.AgentID {
	return hub.AgentID(string(harness) + "-" + Key(session)[:8])
}

func (s Sessions) path(session string) string { return filepath.Join(s.Dir, Key(session)+".json") }

// Load returns the binding of a session. One that cannot be read counts as none.
func (s Sessions) Load(session string) (b Binding, ok bool) {
	if !s.keeps(session) || !load(s.Dir, s.path(session), s.Tell, &b, &b.AgentID) {
		return Binding{}, false
	}
	return b, true
}

// keeps reports whether something can be kept of a session.
func (s Sessions) keeps(session string) bool { return s.Dir != "" && session != "" }

// SessionsOf returns the sessions in a data root, which may be empty.
func SessionsOf(dataRoot string) Sessions {
	if dataRoot == "" {
		return Sessions{}
	}
	return Sessions{Dir: filepath.Join(dataRoot, sessionsFolder)}
}

// Claim saves which agent a session is unless that is known, and returns what is
// known then: of a hook and a bridge that begin at once both go by the first.
func (s Sessions) Claim(session string, b Binding) (Binding, error) {
	if !s.keeps(session) {
		return b, nil
	}
	err := create(s.Dir, s.path(session), b)
	if errors.Is(err, fs.ErrExist) {
		if first, ok := s.Load(session); ok {
			return first, nil
		}
		err = s.Replace(session, b) // what is there is damaged
	}
	return b, err
}

// Replace saves which agent a session is.
func (s Sessions) Replace(session string, b Binding) error {
	if !s.keeps(session) {
		return nil
	}
	return replace(s.Dir, s.path(session), b)
}

// place says where a session works.
type place struct {
	Folder string `json:"folder"` // absolute
}

func (s Sessions) placePath(session string) string { return filepath.Join(s.Dir, Key(session)+".at") }

// Place saves the folder in which a session works now, as its hooks tell it. Of a session of which
// nothing is kept yet it saves nothing.
func (s Sessions) Place(session, folder string) error {
	if !s.keeps(session) || folder == s.Placed(session) {
		return nil
	}
	if _, err := os.Lstat(s.path(session)); err != nil {
		return nil //nolint:nilerr // no hook has spoken for it and no bridge serves it
	}
	return replace(s.Dir, s.placePath(session), place{Folder: folder})
}

// Placed returns the folder in which a session works now; empty: no hook has told it.
func (s Sessions) Placed(session string) string {
	var p place
	if !s.keeps(session) || !read(s.Dir, s.placePath(session), s.Tell, &p) || !filepath.IsAbs(p.Folder) {
		return ""
	}
	return p.Folder
}

// root says under which session a sub-agent works.
type root struct {
	Session string `json:"session"` // the harness's id of it
}

func (s Sessions) rootPath(session string) string { return filepath.Join(s.Dir, Key(session)+".of") }

// Under notes that a sub-agent whose harness gives it a session works under another session, whose
// main agent it belongs to.
func (s Sessions) Under(session, main string) error {
	if !s.keeps(session) || main == "" || main == session {
		return errNotKept
	}
	return replace(s.Dir, s.rootPath(session), root{Session: main})
}

// Root returns the session of the main agent under which a session works: by what Under has noted,
// or the session itself.
func (s Sessions) Root(session string) string {
	var up root
	if !s.keeps(session) || !read(s.Dir, s.rootPath(session), s.Tell, &up) || up.Session == "" {
		return session
	}
	return up.Session
}

// Mark notes that something has been done for a session. The error is fs.ErrExist
// if it had been noted before: of several processes one succeeds.
func (s Sessions) Mark(session, what string) error {
	if !s.keeps(session) || !trusts(s.Dir, s.Tell) {
		return errNotKept
	}
	f, err := os.OpenFile(s.markPath(session, what), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// Marked reports whether Mark has succeeded for a session and a thing.
func (s Sessions) Marked(session, what string) bool {
	if !s.keeps(session) || !trusts(s.Dir, s.Tell) {
		return false
	}
	_, err := os.Lstat(s.markPath(session, what))
	return err == nil
}

// Unmark forgets a mark.
func (s Sessions) Unmark(session, what string) {
	if s.keeps(session) && trusts(s.Dir, s.Tell) {
		_ = os.Remove(s.markPath(session, what)) // one that stays says that it was done
	}
}

var errNotKept = errors.New("nothing is kept of this session")

func (s Sessions) markPath(session, what string) string {
	return filepath.Join(s.Dir, Key(session)+"-"+what)
}

// Touch keeps the binding of a session that goes on from being swept.
func (s Sessions) Touch(session string, now time.Time) {
	if s.keeps(session) {
		_ = os.Chtimes(s.path(session), now, now) // without it the binding is written anew one day
	}
}

// Sweep removes what is old.
func (s Sessions) Sweep(now time.Time) {
	sweep(s.Dir, func(name string, info fs.FileInfo) bool {
		if strings.HasPrefix(name, osfile.DefaultPrefix) || strings.Contains(name, shortMark) {
			return age(info, now) > keepMarks
		}
		return age(info, now) > keepSessions
	})
}

// ShortLived makes the name of a mark that is swept after an hour.
func ShortLived(what string) string { return "began-" + what }

const shortMark = "-began-"
