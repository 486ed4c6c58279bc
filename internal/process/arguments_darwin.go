package process

import (
	"encoding/binary"
	"strings"

	"golang.org/x/sys/unix"
)

// Arguments returns the command line of a process that runs; false if nobody may read it. The
// system gives their count, the path of the program, and then the arguments, each ended by a zero.
func Arguments(pid int) ([]string, bool) {
	raw, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil || len(raw) < 4 {
		return nil, false
	}
	count := int(binary.NativeEndian.Uint32(raw))
	_, rest, _ := strings.Cut(string(raw[4:]), "\x00")
	args := strings.Split(strings.TrimLeft(rest, "\x00"), "\x00")
	if count < 1 || len(args) < count {
		return nil, false
	}
	return args[:count], true
}
