//go:build !linux

package wake

// nonblock is needed only where the command line of a process is known.
const nonblock = 0

// executable knows no process.
func executable(int) (string, bool) { return "", false }

// commandLine knows no process.
func commandLine(int) (args []string, dir string, ok bool) { return nil, "", false }
