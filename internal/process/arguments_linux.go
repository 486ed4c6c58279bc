package process

import (
	"os"
	"strconv"
	"strings"
)

// Arguments returns the command line of a process that runs; false if nobody may read it.
func Arguments(pid int) ([]string, bool) {
	line, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	if err != nil || len(line) == 0 {
		return nil, false
	}
	return strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00"), true
}
