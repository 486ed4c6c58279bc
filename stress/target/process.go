package target

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"hubcli/api/client"
	"hubcli/internal/testport"
	"hubcli/stress/wire"
)

// Bounds of waiting for a process.
const (
	readyWait = 2 * time.Minute
	stopWait  = time.Minute
	readyPoll = 2 * time.Millisecond
)

// dataRootEnv keeps a process off the notes and keys of the person who runs it.
const dataRootEnv = "HUB_DATA_ROOT"

// Process is a server that runs.
type Process struct {
	Addr     string        // host and port
	DataRoot string        // of a hub: its store lies there, and so do its notes
	Ready    time.Duration // from its start until it answered that it is ready

	cmd     *exec.Cmd
	readyAt string         // the path that answers 200 when it is ready
	profile string         // address of the profiles of a profiled hub
	clock   io.Writer      // sets the clock of a hub that has one
	off     *time.Duration // by how much it is off
	output  *tail
	ended   chan struct{}
	err     error // of Wait, once ended is closed
}

// Start starts the hub on store, a folder that it makes if need be, and waits
// until it is ready. The process is killed when ctx ends.
func (e Executable) Start(ctx context.Context, store string, args ...string) (*Process, error) {
	begin := time.Now()
	p, err := e.launch(ctx, store, args...)
	if err != nil {
		return nil, err
	}
	if err := p.waitReady(ctx, begin); err != nil {
		p.Kill()
		return nil, fmt.Errorf("the hub did not become ready: %w\n%s", err, p.output)
	}
	return p, nil
}

// Client returns a client of the hub. It knows the notes of this hub alone: one that a killed hub
// of another run has left for the same port would make this one an impostor.
func (p *Process) Client() *client.Client {
	return client.New(client.Config{BaseURL: "http://" + p.Addr, DataRoot: p.DataRoot})
}

// StartRelay starts a forwarder on the folder spool that speaks to hub, and waits
// until it has made its folders. The process is killed when ctx ends.
func (e Executable) StartRelay(ctx context.Context, hub *Process, spool string, args ...string) (*Process, error) {
	args = append([]string{"relay", "--base-url", "http://" + hub.Addr, "--spool-dir", spool}, args...)
	cmd := exec.CommandContext(ctx, e.Path, args...)
	cmd.Env = append(os.Environ(), dataRootEnv+"="+hub.DataRoot)
	p := newProcess(cmd, "")
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go p.wait()
	err := p.await(ctx, begin, func(context.Context) bool { return strings.Contains(p.output.String(), "relay ready") })
	if err != nil {
		p.Kill()
		return nil, fmt.Errorf("the forwarder did not become ready: %w\n%s", err, p.output)
	}
	return p, nil
}

// StartAndKill starts the hub on store and kills it after d, ready or not.
func (e Executable) StartAndKill(ctx context.Context, store string, d time.Duration) error {
	p, err := e.launch(ctx, store)
	if err != nil {
		return err
	}
	defer p.Kill()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-p.ended:
		return fmt.Errorf("the hub ended by itself: %w\n%s", p.exit(), p.output)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// launch starts the hub and does not wait.
func (e Executable) launch(ctx context.Context, store string, args ...string) (*Process, error) {
	addr, err := freeAddr()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(store), 0o700); err != nil {
		return nil, err
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	command := append(slices.Clone(e.Under), e.Path, "--host", host, "--port", port, "--storage", store)
	if e.Log == nil {
		command = append(command, "--quiet")
	}
	command = append(command, args...)
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir = filepath.Dir(store) // relative defaults, like the spool's, stay there
	p := newProcess(cmd, addr)
	// A store in the data root itself is this user's, also if it is a copy.
	if p.DataRoot, err = filepath.Abs(cmd.Dir); err != nil {
		return nil, err
	}
	cmd.Env = append(os.Environ(), dataRootEnv+"="+p.DataRoot)
	if e.Log != nil {
		cmd.Stderr = io.MultiWriter(p.output, e.Log)
	}
	if e.Alive {
		p.readyAt = "/healthz"
	}
	if e.Profiled {
		if p.profile, err = freeAddr(); err != nil {
			return nil, err
		}
		cmd.Env = append(cmd.Env, profileEnv+"="+p.profile)
	}
	if e.Clock != nil {
		if p.clock, err = cmd.StdinPipe(); err != nil {
			return nil, err
		}
		p.off = e.Clock
		cmd.Env = append(cmd.Env, fmt.Sprintf("%s=%d", clockEnv, int64(*e.Clock/time.Second)))
	}
	cmd.Stdout = p.output
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go p.wait()
	return p, nil
}

// Ceiling starts this executable again with args, which must make it print its
// address as a line and serve. The process is killed when ctx ends.
func Ceiling(ctx context.Context, args ...string) (*Process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, args...)
	p := newProcess(cmd, "")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	go p.wait() // only now: Wait closes the pipe
	if err == nil {
		p.Addr = strings.TrimSpace(line)
		err = p.waitReady(ctx, begin)
	}
	if err != nil {
		p.Kill()
		return nil, fmt.Errorf("the ceiling did not become ready: %w\n%s", err, p.output)
	}
	return p, nil
}

func newProcess(cmd *exec.Cmd, addr string) *Process {
	p := &Process{Addr: addr, cmd: cmd, readyAt: "/readyz", output: &tail{}, ended: make(chan struct{})}
	cmd.Stderr = p.output
	cmd.WaitDelay = time.Second
	return p
}

func (p *Process) wait() {
	p.err = p.cmd.Wait()
	close(p.ended)
}

// freeAddr returns a loopback address that nobody else is given.
func freeAddr() (string, error) {
	port, err := testport.Take()
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), err
}

// waitReady asks until the server says that it is ready.
func (p *Process) waitReady(ctx context.Context, begin time.Time) error {
	return p.await(ctx, begin, p.ready)
}

// await looks until the process is ready.
func (p *Process) await(ctx context.Context, begin time.Time, ready func(context.Context) bool) error {
	ctx, cancel := context.WithTimeout(ctx, readyWait)
	defer cancel()
	tick := time.NewTicker(readyPoll)
	defer tick.Stop()
	for {
		if ready(ctx) {
			p.Ready = time.Since(begin)
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-p.ended:
			return fmt.Errorf("it ended: %w", p.exit())
		case <-tick.C:
		}
	}
}

func (p *Process) ready(ctx context.Context) bool {
	conn, err := wire.Dial(ctx, p.Addr)
	if err != nil {
		return false
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(time.Second))
	status, _, err := conn.Do(wire.Get(p.Addr, p.readyAt).Bytes())
	return err == nil && status == 200
}

// PID is the process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Output is the end of what the process wrote.
func (p *Process) Output() string { return p.output.String() }

// Ended is closed when the process has ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Exit is how the process has ended, once Ended is closed; nil if it did so without an
// error.
func (p *Process) Exit() error { return p.err }

func (p *Process) exit() error {
	if p.err == nil {
		return errors.New("exit status 0")
	}
	return p.err
}

// Kill ends the process at once, as the loss of its machine would, and waits for
// its end.
func (p *Process) Kill() {
	p.cmd.Process.Kill() //nolint:errcheck // it fails if the process has ended: what is wanted
	<-p.ended
}

// Stop asks the process to end and waits until it has. It must end by itself and
// without an error.
func (p *Process) Stop() error {
	if runtime.GOOS == "windows" {
		p.Kill()
		return nil
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	timer := time.NewTimer(stopWait)
	defer timer.Stop()
	select {
	case <-p.ended:
	case <-timer.C:
		p.Kill()
		return fmt.Errorf("it did not stop within %v and was killed\n%s", stopWait, p.output)
	}
	if p.err != nil {
		return fmt.Errorf("it stopped with %w\n%s", p.err, p.output)
	}
	return nil
}

// tail keeps the last bytes that a process wrote, for a report of its failure. The lines of
// single calls are not shown.
type tail struct {
	mu sync.Mutex
	b  []byte
}

const tailBytes = 4 << 10

var _ io.Writer = (*tail)(nil)

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, b...)
	if len(t.b) > 2*tailBytes {
		t.b = bytes.Clone(t.b[len(t.b)-tailBytes:])
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var shown strings.Builder
	for line := range strings.Lines(string(t.b)) {
		if !strings.Contains(line, " msg=call ") {
			shown.WriteString(line)
		}
	}
	return shown.String()
}
