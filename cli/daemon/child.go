package daemon

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// keptWords bounds, in bytes, the output of a daemon that is kept for
// LastWords.
const keptWords = 16 << 10

// Child is a daemon that this process has started and that outlives it. Its
// output until it is ready comes through a pipe, so no file is left if either
// side dies.
type Child struct {
	cmd  *exec.Cmd
	pipe *os.File

	done  chan struct{} // closed when the process has ended
	heard chan struct{} // closed when its output has ended

	mu    sync.Mutex
	words []byte
}

// folderVars are the variables that name folders. A relative one means a folder below the
// current one, which the daemon does not share.
var folderVars = []string{"HUB_DATA_ROOT", "HOME", "LOCALAPPDATA", "TMPDIR"}

// environ is this process's environment with the folders named as this process has them.
func environ() []string {
	env := os.Environ()
	for _, name := range folderVars {
		if at := os.Getenv(name); at != "" && !filepath.IsAbs(at) {
			if abs, err := filepath.Abs(at); err == nil {
				env = append(env, name+"="+abs) // the last one counts
			}
		}
	}
	return env
}

// StartChild runs exe with args in a session of its own, in the folder dir: the caller's
// own one may have come with a checkout, and the daemon outlives it.
func StartChild(exe string, args []string, dir string) (*Child, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(exe, args...)
	cmd.Dir = dir
	cmd.Env = append(environ(), "PWD="+dir)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = nil, nil, w
	cmd.SysProcAttr = detached()
	err = cmd.Start()
	w.Close()
	if err != nil {
		r.Close()
		return nil, err
	}
	c := &Child{cmd: cmd, pipe: r, done: make(chan struct{}), heard: make(chan struct{})}
	go func() {
		defer close(c.done)
		_ = cmd.Wait() // ProcessState has the result
	}()
	go func() {
		defer close(c.heard)
		c.listen()
	}()
	return c, nil
}

func (c *Child) listen() {
	buf := make([]byte, 4096)
	for {
		n, err := c.pipe.Read(buf)
		c.mu.Lock()
		c.words = append(c.words, buf[:n]...)
		if over := len(c.words) - keptWords; over > 0 {
			c.words = append(c.words[:0], c.words[over:]...)
		}
		c.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// PID is the id of the process.
func (c *Child) PID() int { return c.cmd.Process.Pid }

// Ended returns the exit code once the process has ended; -1 is a signal.
func (c *Child) Ended() (exit int, ended bool) {
	select {
	case <-c.done:
		return c.cmd.ProcessState.ExitCode(), true
	default:
		return 0, false
	}
}

// LastWords returns the sentence and the fix that an ended process printed.
func (c *Child) LastWords() (sentence, fix string) {
	select {
	case <-c.heard:
	case <-time.After(time.Second):
		// A grandchild may hold the pipe open; the output so far must do.
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for line := range bytes.Lines(c.words) {
		text := strings.TrimSpace(string(line))
		if s, ok := strings.CutPrefix(text, "hubcli: "); ok {
			sentence, fix = s, ""
		} else if s, ok := strings.CutPrefix(text, "fix: "); ok {
			fix = s
		}
	}
	return sentence, fix
}

// Forget lets the process run on by itself. If it ends before this process, the
// goroutine of done reaps it.
func (c *Child) Forget() {
	c.pipe.Close()
	<-c.heard
}
