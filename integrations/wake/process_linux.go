package wake

import (
	"os"
	"strconv"
	"syscall"

	"hubcli/internal/process"
)

// nonblock keeps a pipe that nobody reads from holding a writer.
const nonblock = syscall.O_NONBLOCK

// executable returns the file that a process runs; false if it is gone.
func executable(pid int) (string, bool) {
	path, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/exe")
	if err != nil {
		return "", false
	}
	_, err = os.Stat(path)
	return path, err == nil
}

// commandLine returns the arguments and the working folder of a process; false if they are
// not known.
func commandLine(pid int) (args []string, dir string, ok bool) {
	args, ok = process.Arguments(pid)
	dir, _ = os.Readlink("/proc/" + strconv.Itoa(pid) + "/cwd") // unknown: only an absolute path is of use
	return args, dir, ok
}
