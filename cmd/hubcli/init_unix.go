//go:build unix

package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"hubcli/cli/term"
	"hubcli/internal/program"
)

// signaled is what a shell adds to the number of the signal that ended a program.
const signaled = 128

// asInit runs the program below this process if this one is process 1, as in a container,
// and reports whether it did. The system gives process 1 every child whose parent has ended,
// and such a child stays a zombie until somebody waits for it. The hub cannot wait for
// children that are not its own without taking the ends of its own away from those who wait
// for them. So this process does nothing but that, and hands signals on.
func asInit() (code int, done bool) {
	if os.Getpid() != 1 {
		return 0, false
	}
	self, err := program.Self()
	if err != nil {
		return notStarted(err), true
	}
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, forwarded...)
	child, err := os.StartProcess(self, os.Args, &os.ProcAttr{Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}})
	if err != nil {
		return notStarted(err), true
	}
	pid := child.Pid
	_ = child.Release() // reap waits for it, and for all others
	typed := term.IsTerminal(os.Stdin.Fd())
	go func() {
		for s := range signals {
			// What is typed at a terminal has reached the program already: both are in one group of
			// processes.
			if !typed || s != syscall.SIGINT && s != syscall.SIGQUIT {
				_ = syscall.Kill(pid, s.(syscall.Signal))
			}
		}
	}()
	return reap(pid), true
}

// forwarded are the signals that are meant for the program.
var forwarded = []os.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGUSR2}

func notStarted(err error) (code int) {
	fmt.Fprintf(os.Stderr, "hubcli: as process 1 it starts itself once more, to wait for processes that nobody else waits for: %v\n"+
		"fix: start it below an init, such as with docker run --init\n", err)
	return 1
}

// reap waits for all children until the one with this id has ended, and returns its exit code.
// With process 1 the system ends whatever is left.
func reap(pid int) int {
	for {
		var status syscall.WaitStatus
		ended, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			fmt.Fprintf(os.Stderr, "hubcli: its own process cannot be waited for: %v\n", err)
			return 1
		case ended == pid && status.Signaled():
			return signaled + int(status.Signal())
		case ended == pid && status.Exited():
			return status.ExitStatus()
		}
	}
}
