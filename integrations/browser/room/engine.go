package room

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"hubcli/hub"
	"hubcli/integrations/browser/cdp"
	"hubcli/integrations/browser/gate"
)

// Command is how an engine is started.
type Command struct {
	Args   []string
	Env    []string
	Dir    string
	User   *[2]uint32 // as whom; nil: as the hub
	Remove string     // that is removed when all its processes are gone, whatever becomes of the hub
}

// Process is an engine that was started.
type Process struct {
	PID  int
	In   io.ReadCloser  // what it writes
	Out  io.WriteCloser // what it reads
	Stop func(why string)
}

// Launch starts a command under a watcher that ends it with the hub. The function ended is
// called with what it printed when none of its processes is left.
type Launch func(c *Command, ended func(output []byte)) (Process, error)

const (
	startWait = 15 * time.Second // for the first answer of an engine
	endWait   = 5 * time.Second  // for the last of its processes
)

// engine is a browser that runs, and the gate that it goes through.
type engine struct {
	process Process
	conn    *cdp.Conn
	gate    *gate.Gate
	ended   chan struct{} // closed when no process is left
	once    sync.Once

	mu       sync.Mutex
	contexts map[string]*page // by the id of the context
	sessions map[string]*page
}

// startEngine starts an engine and waits until it answers.
func (m *Manager) startEngine(ctx context.Context) (*engine, error) {
	found, err := m.options.Find(ctx)
	if err != nil {
		return nil, err
	}
	user, err := runAs()
	if err != nil {
		return nil, err
	}
	g, err := gate.Open(m.options.Gate)
	if err != nil {
		return nil, hub.Errorf(hub.CodeBrowserFailed, "the way of pages to the network cannot be opened: %v", err)
	}
	dir, err := newProfile(m.options.Store, user)
	if err != nil {
		g.Close()
		return nil, hub.Errorf(hub.CodeBrowserFailed, "the browser engine gets no folder for its profile: %v", err)
	}
	e := &engine{gate: g, ended: make(chan struct{}), contexts: map[string]*page{}, sessions: map[string]*page{}}
	var printed []byte
	e.process, err = m.options.Launch(&Command{
		Args: append([]string{found.Path}, flags(g.Address(), dir, m.options.NoSandbox)...),
		Env:  environment(dir), Dir: dir, User: user, Remove: dir,
	}, func(output []byte) {
		printed = output
		close(e.ended)
	})
	if err != nil {
		g.Close()
		_ = os.RemoveAll(dir)
		return nil, errStart(&found, err.Error(), "")
	}
	e.conn = cdp.New(e.process.In, e.process.Out, e.handle)
	if err := e.greet(ctx); err != nil {
		e.end("it does not answer")
		select {
		case <-e.ended:
			return nil, errStart(&found, "it ended at once", string(printed))
		default:
			return nil, errStart(&found, err.Error(), "")
		}
	}
	m.log.Info("the browser engine runs", "path", found.Path, "version", found.Version, "pid", e.process.PID, "sandbox", !m.options.NoSandbox)
	return e, nil
}

// greet waits for the first answer, and has every new window wait for what becomes of it.
func (e *engine) greet(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, startWait, errors.New("it does not answer"))
	defer cancel()
	return e.conn.Call(ctx, "", "Target.setAutoAttach", obj{
		"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true,
		"filter": []obj{{"type": "page"}, {"exclude": true}},
	}, nil)
}

// obj is the parameters of a call.
type obj map[string]any

// over reports whether the engine has ended.
func (e *engine) over() bool {
	select {
	case <-e.conn.Closed():
		return true
	case <-e.ended:
		return true
	default:
		return false
	}
}

// end ends the engine and waits a little until all of it is gone. The keeper goes on if
// that takes longer.
func (e *engine) end(why string) {
	e.once.Do(func() {
		e.process.Stop(why)
		e.conn.Close()
		e.gate.Close()
	})
	select {
	case <-e.ended:
	case <-time.After(endWait):
	}
}

// profilePrefix begins the name of every profile; the rest tells hubs apart.
const profilePrefix = "hubcli-browser-"

// profileName begins the names of the profiles of the hub on one store.
func profileName(store string) string {
	sum := sha256.Sum256([]byte(store))
	return profilePrefix + hex.EncodeToString(sum[:6]) + "-"
}

// A whole browser listens on a socket in a folder that it makes in its folder for temporary
// files, which is its profile. It does not start if the system has no room for that path.
const (
	browserSocket = "/org.chromium.Chromium.XXXXXX/SingletonSocket" // no other engine has a longer one
	maxSocketPath = 103                                             // bytes: of macOS, which has the fewest
	randomPart    = 10                                              // the most that os.MkdirTemp puts in
)

// profileParents are the folders that profiles are made in, the first that has room for the
// path of a socket before all others.
func profileParents() []string {
	parents := []string{os.TempDir()}
	if runtime.GOOS != "windows" && parents[0] != "/tmp" {
		parents = append(parents, "/tmp")
	}
	return parents
}

// profileParent is where the next profile of a hub is made.
func profileParent(store string) string {
	parents := profileParents()
	for _, dir := range parents {
		info, err := os.Stat(dir)
		if len(dir)+len("/")+len(profileName(store))+randomPart+len(browserSocket) <= maxSocketPath && err == nil && info.IsDir() {
			return dir
		}
	}
	return parents[0]
}

// newProfile makes the folder of an engine. It is not in the store: as root the engine is
// another user, who may not enter that.
func newProfile(store string, user *[2]uint32) (string, error) {
	dir, err := os.MkdirTemp(profileParent(store), profileName(store)+"*")
	if err != nil {
		return "", err
	}
	if user != nil {
		if err := os.Chown(dir, int(user[0]), int(user[1])); err != nil {
			_ = os.Remove(dir)
			return "", err
		}
	}
	return dir, nil
}

// sweep removes the profiles that an earlier hub on the same store has left: its engine
// has ended, because a store has one hub.
func sweep(store string) {
	for _, parent := range profileParents() {
		left, _ := filepath.Glob(filepath.Join(parent, profileName(store)+"*")) // the pattern is valid
		for _, dir := range left {
			_ = os.RemoveAll(dir) // the next start tries again
		}
	}
}
