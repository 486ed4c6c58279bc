package identity

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hubcli/hub"
)

// Background is a session of a harness that "hubcli run --background" has started.
type Background struct {
	AgentID    hub.AgentID    `json:"agent_id"`
	InstanceID hub.InstanceID `json:"instance_id"`
	BaseURL    string         `json:"base_url"`
	RoomID     hub.RoomID     `json:"room_id"`
	Harness    hub.Harness    `json:"harness"`
	Program    string         `json:"program"` // the absolute path of the harness
	Folder     string         `json:"folder"`
	Since      hub.Time       `json:"since"`
	PID        int            `json:"pid"`                // of the process that keeps the session: it ends, and the session has ended
	Began      string         `json:"began"`              // of that process; see process.Process
	Session    string         `json:"session"`            // the harness's name of it
	Address    string         `json:"address,omitempty"`  // where a terminal attaches, if the harness has an address for that
	Secret     string         `json:"secret,omitempty"`   // what the address asks for
	Log        string         `json:"log,omitempty"`      // what it has said
	Resume     bool           `json:"resume,omitempty"`   // its user has agreed that it is started again when something comes for its agent
	Sleeping   bool           `json:"sleeping,omitempty"` // it waits for that
	Starts     int            `json:"starts,omitempty"`   // how often it was started again
	Over       string         `json:"over,omitempty"`     // why it is not started any more
}

// Backgrounds keeps which sessions run in the background:
//
//	<data root>/background/<key>.json  the session of an agent
//	<data root>/background/<key>.log   what it has said
//	<data root>/background/lock        held while a note is written or removed
//
// where key is Key of the agent.
type Backgrounds struct{ Dir string }

const (
	noteWait = 5 * time.Second     // for another process that writes a note
	logKept  = 30 * 24 * time.Hour // after the last line
)

// BackgroundsOf returns the store below a data root.
func BackgroundsOf(dataRoot string) Backgrounds {
	return Backgrounds{filepath.Join(dataRoot, "background")}
}

func (b Backgrounds) path(agent hub.AgentID, ending string) string {
	return filepath.Join(b.Dir, Key(string(agent))+ending)
}

// Load returns the session of an agent. What others could have written counts as none.
func (b Backgrounds) Load(agent hub.AgentID) (s Background, found bool) {
	found = load(b.Dir, b.path(agent, ".json"), nil, &s, &s.AgentID) && s.AgentID == agent
	return s, found
}

// All returns the sessions, by their names. It looks at maxSwept files at most.
func (b Backgrounds) All() []Background {
	d, err := os.Open(b.Dir)
	if err != nil {
		return nil
	}
	defer d.Close()
	names, _ := d.Readdirnames(maxSwept) // those that were read are looked at
	var all []Background
	for _, name := range names {
		var s Background
		path := filepath.Join(b.Dir, name)
		if strings.HasSuffix(name, ".json") && load(b.Dir, path, nil, &s, &s.AgentID) && path == b.path(s.AgentID, ".json") {
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(a, b Background) int { return strings.Compare(string(a.AgentID), string(b.AgentID)) })
	return all
}

// Store notes a session, in place of an earlier one of its agent.
func (b Backgrounds) Store(s *Background) error {
	unlock, err := Lock(b.Dir, noteWait)
	if err != nil {
		return err
	}
	defer unlock()
	return replace(b.Dir, b.path(s.AgentID, ".json"), s)
}

// Forget removes the note of a session, unless its agent has another one by now.
func (b Backgrounds) Forget(s *Background) error {
	unlock, err := Lock(b.Dir, noteWait)
	if err != nil {
		return err
	}
	defer unlock()
	if now, found := b.Load(s.AgentID); !found || now.PID != s.PID || now.Began != s.Began {
		return nil
	}
	return os.Remove(b.path(s.AgentID, ".json"))
}

// OpenLog opens an empty file for what the session of an agent says. The files of sessions
// that have said nothing for a month are removed.
func (b Backgrounds) OpenLog(agent hub.AgentID) (*os.File, error) {
	if err := makeFolder(b.Dir); err != nil {
		return nil, err
	}
	now := time.Now()
	sweep(b.Dir, func(name string, info os.FileInfo) bool {
		return strings.HasSuffix(name, ".log") && age(info, now) > logKept
	})
	path := b.path(agent, ".log")
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) { // another process may still write the old one
		return nil, err
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
}
