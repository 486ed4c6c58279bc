package spawn

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// apart returns the attributes of a keeper that has no console, so that it does
// not get the Ctrl-C of the hub's console.
func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{HideWindow: true, CreationFlags: windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP}
}

// mute does nothing: a process without a console gets no console signals.
func mute() {}

// closeToCommands does nothing: on Windows a command inherits only handles that
// are listed for it.
func closeToCommands() {}

// killGroup does nothing: the job has ended with its keeper.
func killGroup(int) {}

// group is a job: a command and all that it starts. The system ends it when the
// keeper ends, however that happens, because no other process has the job open.
type group struct {
	cmd *exec.Cmd
	job windows.Handle
}

func startGroup(j *job) (*group, error) {
	handle, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, err
	}
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	if _, err := windows.SetInformationJobObject(handle, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits))); err != nil {
		return nil, err
	}
	// The keeper joins first: its children are in the job from their first moment.
	if err := windows.AssignProcessToJobObject(handle, windows.CurrentProcess()); err != nil {
		return nil, err
	}
	in, err := emptyInput()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	cmd := &exec.Cmd{
		Path: j.Args[0], Args: j.Args, Env: j.Env, Dir: j.Dir, Stdin: in, Stdout: os.Stderr, Stderr: os.Stderr,
		SysProcAttr: &syscall.SysProcAttr{HideWindow: true},
	}
	if err := cmd.Start(); err != nil {
		return nil, errors.New("the command does not start: " + err.Error())
	}
	return &group{cmd: cmd, job: handle}, nil
}

func (g *group) pid() int { return g.cmd.Process.Pid }

// wait returns when the command has ended. There is no graceful end: Windows
// asks a process to end through its console, and the command has none. Its
// child processes end with the keeper.
func (g *group) wait(ends <-chan time.Duration) exit {
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = g.cmd.Wait() // ProcessState has the result
	}()
	select {
	case <-done:
	case <-ends:
		_ = g.cmd.Process.Kill()
		<-done
	}
	code := g.cmd.ProcessState.ExitCode()
	return exit{Code: &code}
}
