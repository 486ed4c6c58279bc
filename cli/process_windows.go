package cli

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/windows"
)

// detached makes a child without a console of its own that does not get the
// Ctrl-C of its starter's.
func detached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		HideWindow:    true,
		CreationFlags: windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP,
	}
}

// ignoreClosedOutput: writing to a closed pipe is only an error here.
func ignoreClosedOutput() {}

func isAddrInUse(err error) bool { return errors.Is(err, windows.WSAEADDRINUSE) }

// openFiles is how many files the process may open; there is no such limit here.
func openFiles() uint64 { return 0 }

// closedAtOtherEnd: a pipe does not tell; the write at the end does.
func closedAtOtherEnd(*os.File) bool { return false }
