package target

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// ticksPerSecond is the unit of the processor times in /proc. It is the same on
// every Linux that Go supports.
const ticksPerSecond = 100

// Anonymous returns the resident memory of the process that no file backs, in
// bytes. It leaves out the mapped pages of the store, which the system can take
// back at any time. Linux only.
func (p *Process) Anonymous() (int64, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.PID()))
	if err != nil {
		return 0, err
	}
	_, rest, ok := strings.Cut(string(b), "RssAnon:")
	if !ok {
		return 0, fmt.Errorf("/proc has no RssAnon of process %d", p.PID())
	}
	fields := strings.Fields(rest)
	if len(fields) < 2 || fields[1] != "kB" {
		return 0, fmt.Errorf("/proc gives RssAnon of process %d in an unknown unit", p.PID())
	}
	kb, err := strconv.ParseInt(fields[0], 10, 64)
	return kb << 10, err
}

// CPU returns the processor time that the process has used. Linux only.
func (p *Process) CPU() (time.Duration, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.PID()))
	if err != nil {
		return 0, err
	}
	// The second field is the program's name in parentheses and may hold spaces.
	fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(fields) < 13 {
		return 0, fmt.Errorf("/proc gives too few fields for process %d", p.PID())
	}
	user, err := strconv.ParseInt(fields[11], 10, 64)
	if err != nil {
		return 0, err
	}
	system, err := strconv.ParseInt(fields[12], 10, 64)
	if err != nil {
		return 0, err
	}
	return time.Duration(user+system) * time.Second / ticksPerSecond, nil
}
