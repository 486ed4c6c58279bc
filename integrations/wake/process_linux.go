package wake

import (
	"os"
	"strconv"
	"strings"
	"syscall"
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
	proc := "/proc/" + strconv.Itoa(pid)
	line, err := os.ReadFile(proc + "/cmdline")
	if err != nil || len(line) == 0 {
		return nil, "", false
	}
	dir, _ = os.Readlink(proc + "/cwd") // unknown: only an absolute path is of use
	return strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00"), dir, true
}
