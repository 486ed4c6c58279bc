package identity

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"hubcli/hub"
	"hubcli/internal/osfile"
)

// Run is one agent that "hubcli run" has started in a folder. The next start of the same
// harness there is the same agent again, unless the process still runs.
type Run struct {
	AgentID    hub.AgentID    `json:"agent_id"`
	InstanceID hub.InstanceID `json:"instance_id"`
	PID        int            `json:"pid"`
	Began      string         `json:"began"`             // of the process; see process.Process
	Session    string         `json:"session,omitempty"` // of the harness, which can go on with it
}

// maxRuns bounds the agents that are remembered for a folder; the latest stay.
const maxRuns = 20

// Runs keeps which agents were started where:
//
//	<data root>/names/<key>.json   the agents of a harness in a folder, the latest first
//	<data root>/names/lock         held by who chooses a name
//	<data root>/names/<key>.in     what a session of Qwen Code is told; see InputFile
//
// where key is Key of harness and folder, or of the agent.
type Runs struct{ Dir string }

// RunsOf returns the store below a data root.
func RunsOf(dataRoot string) Runs { return Runs{filepath.Join(dataRoot, "names")} }

func (r Runs) path(harness hub.Harness, folder string) string {
	return filepath.Join(r.Dir, Key(string(harness)+"\x00"+folder)+".json")
}

// Load returns the agents of a harness in a folder, the latest first. What others could
// have written counts as none.
func (r Runs) Load(harness hub.Harness, folder string) []Run {
	var all []Run
	if !read(r.Dir, r.path(harness, folder), nil, &all) {
		return nil
	}
	kept := all[:0]
	for _, one := range all {
		if hub.CheckSender("agent_id", one.AgentID) == nil {
			kept = append(kept, one)
		}
	}
	return kept
}

// Store notes an agent as the latest of a harness in a folder.
func (r Runs) Store(harness hub.Harness, folder string, latest Run) error {
	all := []Run{latest}
	for _, one := range r.Load(harness, folder) {
		if (one.AgentID != latest.AgentID || one.InstanceID != latest.InstanceID) && len(all) < maxRuns {
			all = append(all, one)
		}
	}
	return replace(r.Dir, r.path(harness, folder), all)
}

// ErrBusy says that another process has held a lock for too long.
var ErrBusy = errors.New("another process has not ended what it writes there")

// Lock waits until no other process chooses a name, for at most a time.
func (r Runs) Lock(most time.Duration) (unlock func(), err error) { return Lock(r.Dir, most) }

// Lock waits for the lock of a folder, which it makes,, for at most a time.
func Lock(dir string, most time.Duration) (unlock func(), err error) {
	if err := makeFolder(dir); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	const look = 20 * time.Millisecond
	for until := time.Now().Add(most); ; time.Sleep(look) {
		held, err := osfile.TryLock(f)
		if held {
			return func() { _ = f.Close() }, nil
		}
		if err != nil || time.Now().After(until) {
			_ = f.Close()
			return nil, errors.Join(err, ErrBusy)
		}
	}
}

// InputFile makes an empty file from which a session of an agent takes texts.
func (r Runs) InputFile(agent hub.AgentID) (string, error) {
	path := filepath.Join(r.Dir, Key(string(agent))+".in")
	if err := makeFolder(r.Dir); err != nil {
		return "", err
	}
	return path, osfile.Replace(osfile.Disk{}, path, osfile.Content{Write: osfile.Bytes(nil)})
}
