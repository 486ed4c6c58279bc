package program

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// nullDevice is the number of /dev/null, major 1 and minor 3.
const nullDevice = 1<<8 | 3

var errStdoutClosed = errors.New("it is closed")

// closedFile refuses all that is written.
type closedFile struct{}

func (closedFile) Write([]byte) (int, error) { return 0, errStdoutClosed }

// Stdout is the standard output. If a shell has closed it (">&-"), Go's runtime has opened /dev/null in its
// place before main, and the answer of a command would be lost with success: then each write fails.
//
// The runtime opens it for reading and writing, while "> /dev/null" opens it for writing alone. Programs that
// start this one without an output may open it like the runtime, so only a shell counts that has another
// output itself. A shell that becomes the command, as that of "sh -c COMMAND" does, is not noticed.
func Stdout() io.Writer {
	if nullForBoth() && closedByShell(os.Getppid()) {
		return closedFile{}
	}
	return os.Stdout
}

// nullForBoth reports whether the standard output is /dev/null, opened for reading and writing.
func nullForBoth() bool {
	var st syscall.Stat_t
	if syscall.Fstat(syscall.Stdout, &st) != nil || st.Mode&syscall.S_IFMT != syscall.S_IFCHR || st.Rdev != nullDevice {
		return false
	}
	flags, _, failed := syscall.Syscall(syscall.SYS_FCNTL, uintptr(syscall.Stdout), syscall.F_GETFL, 0)
	return failed == 0 && flags&syscall.O_ACCMODE == syscall.O_RDWR
}

// closedByShell reports whether a process is a shell whose own standard output is not such a /dev/null.
func closedByShell(pid int) bool {
	at := fmt.Sprintf("/proc/%d/", pid)
	name, err := os.ReadFile(at + "comm")
	shells := []string{"sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "fish", "busybox"}
	if err != nil || !slices.Contains(shells, strings.TrimSpace(string(name))) {
		return false
	}
	if to, err := os.Readlink(at + "fd/1"); err != nil || to != os.DevNull {
		return err == nil || errors.Is(err, os.ErrNotExist) // it may have closed its own
	}
	info, err := os.ReadFile(at + "fdinfo/1")
	if err != nil {
		return false
	}
	_, after, _ := strings.Cut(string(info), "flags:")
	digits, _, _ := strings.Cut(strings.TrimSpace(after), "\n")
	flags, err := strconv.ParseUint(digits, 8, 64)
	return err == nil && flags&syscall.O_ACCMODE != syscall.O_RDWR
}
