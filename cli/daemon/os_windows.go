package daemon

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/windows"
)

// detached makes a child that has no console and does not get the Ctrl-C of its
// starter's console.
func detached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		HideWindow:    true,
		CreationFlags: windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP,
	}
}

// IgnoreClosedOutput: writing to a closed pipe is only an error here.
func IgnoreClosedOutput() {}

// IsAddrInUse reports whether an error of the system says that an address is taken
// where errors.Is with EADDRINUSE does not.
func IsAddrInUse(err error) bool { return errors.Is(err, windows.WSAEADDRINUSE) }

// OpenFiles returns 0: Windows has no such limit.
func OpenFiles() uint64 { return 0 }

// closedAtOtherEnd: a pipe does not tell; the write at the end does.
func closedAtOtherEnd(*os.File) bool { return false }
