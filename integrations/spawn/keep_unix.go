//go:build unix

package spawn

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// apart makes a keeper a session of its own: a Ctrl-C that ends the hub does not
// reach it, the closing of its pipe does.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// mute keeps the signals that usually end a process from ending the keeper
// before its group: it ends with its pipe. They are caught and dropped, not
// ignored: the command would inherit ignored signals.
func mute() {
	dropped := make(chan os.Signal, 1)
	signal.Notify(dropped, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGPIPE, syscall.SIGQUIT)
}

// closeToCommands marks inherited file descriptors as close-on-exec. The
// program that started the hub may have left them open, and the command would
// inherit them too.
func closeToCommands() {
	const first, last = 3, 4096
	for fd := first; fd < last; fd++ {
		unix.CloseOnExec(fd)
	}
}

// killGroup kills the rest of a group whose keeper is gone.
func killGroup(leader int) { _ = syscall.Kill(-leader, syscall.SIGKILL) }

// group is the process group of one command; the command leads it.
type group struct {
	leader int
	ended  chan syscall.WaitStatus // of the leader; capacity 1
	reaped chan struct{}           // closed when no child is left
}

// startGroup starts the command and begins to reap. The thread that starts it is
// kept: where the system ends a child with the thread of its parent, that thread
// must last.
func startGroup(j *job) (*group, error) {
	runtime.LockOSThread()
	adopt()
	in, err := emptyInput()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	cmd := &exec.Cmd{
		Path: j.Args[0], Args: j.Args, Env: j.Env, Dir: j.Dir,
		Stdin: in, Stdout: os.Stderr, Stderr: os.Stderr, SysProcAttr: inGroup(),
	}
	if j.Pipes {
		reads, writes := os.NewFile(3, "in"), os.NewFile(4, "out")
		defer reads.Close() // the command alone has them, so that their other ends see its end
		defer writes.Close()
		if j.Standard {
			cmd.Stdin, cmd.Stdout = reads, writes
		} else {
			cmd.ExtraFiles = []*os.File{reads, writes}
		}
	}
	if j.User != nil {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: j.User.UID, Gid: j.User.GID}
	}
	if err := cmd.Start(); err != nil {
		var failed *os.PathError
		if errors.As(err, &failed) {
			err = failed.Err
		}
		return nil, errors.New("the command does not start: " + err.Error())
	}
	g := &group{leader: cmd.Process.Pid, ended: make(chan syscall.WaitStatus, 1), reaped: make(chan struct{})}
	go g.reap()
	return g, nil
}

func (g *group) pid() int { return g.leader }

// reap waits for every child that ends, the command and its orphans, so that
// none stays a zombie.
func (g *group) reap() {
	defer close(g.reaped)
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return // no child is left
		case pid == g.leader:
			g.ended <- status
		}
	}
}

// killWait is the time limit for a killed process to end: a process that waits
// for a dead disk never ends.
const killWait = 5 * time.Second

// wait returns when the group is gone. When the command ends, the rest of its
// group is ended too, with the shorter grace.
func (g *group) wait(ends <-chan time.Duration) exit {
	var last exit
	var kill <-chan time.Time
	end := func(grace time.Duration) {
		g.signal(syscall.SIGTERM)
		kill = time.After(grace)
	}
	leader, running := g.ended, true
	for running {
		select {
		case status := <-leader:
			last, leader, running = exitOf(status), nil, false
		case grace := <-ends:
			end(grace)
		case <-kill:
			g.signal(syscall.SIGKILL)
			kill = nil
		}
	}
	if g.gone() {
		return last
	}
	if kill == nil {
		end(orphanGrace)
	}
	tick := time.NewTicker(look)
	defer tick.Stop()
	var over <-chan time.Time
	for !g.gone() {
		select {
		case <-kill:
			kill, over = nil, time.After(killWait)
		case <-over:
			return last
		case <-ends:
		case <-tick.C:
			if over != nil {
				g.signal(syscall.SIGKILL) // again: a process that was about to fork has done so
			}
		}
	}
	return last
}

// gone reports whether no process of the group can be found.
func (g *group) gone() bool {
	select {
	case <-g.reaped:
	default:
		return false
	}
	return errors.Is(syscall.Kill(-g.leader, 0), syscall.ESRCH)
}

// signal sends a signal to the group, and to processes that left it and are now
// children of this process.
func (g *group) signal(s syscall.Signal) {
	_ = syscall.Kill(-g.leader, s)
	for _, pid := range children() {
		if pid != g.leader {
			_ = syscall.Kill(pid, s)
		}
	}
}

func exitOf(status syscall.WaitStatus) exit {
	if status.Signaled() {
		return exit{Signal: unix.SignalName(status.Signal())}
	}
	code := status.ExitStatus()
	return exit{Code: &code}
}
