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
func (p *Process) Anonymous() (int64, error) { return Anonymous(p.PID()) }

// Anonymous is that of any process.
func Anonymous(pid int) (int64, error) { return memory(pid, "RssAnon") }

// Resident returns all resident memory of the process, in bytes: with the pages of files that
// it has mapped. Linux only.
func (p *Process) Resident() (int64, error) { return memory(p.PID(), "VmRSS") }

// memory returns a number of /proc/<pid>/status, in bytes.
func memory(pid int, name string) (int64, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	_, rest, ok := strings.Cut(string(b), name+":")
	if !ok {
		return 0, fmt.Errorf("/proc has no %s of process %d", name, pid)
	}
	fields := strings.Fields(rest)
	if len(fields) < 2 || fields[1] != "kB" {
		return 0, fmt.Errorf("/proc gives %s of process %d in an unknown unit", name, pid)
	}
	kb, err := strconv.ParseInt(fields[0], 10, 64)
	return kb << 10, err
}

// Usage is what the threads of a process have used.
type Usage struct {
	Running time.Duration // on a processor, to the nanosecond
	Wakeups int64         // times that a thread has waited and was woken
}

// Used sums up the threads that run now. Those that have ended are left out: the
// program keeps its own. Linux only.
func (p *Process) Used() (u Usage, err error) {
	tasks := fmt.Sprintf("/proc/%d/task", p.PID())
	entries, err := os.ReadDir(tasks)
	if err != nil {
		return u, err
	}
	for _, e := range entries {
		var running, waits int64
		stat, err := os.ReadFile(tasks + "/" + e.Name() + "/schedstat")
		if err != nil {
			return u, err
		}
		if _, err := fmt.Sscan(string(stat), &running); err != nil {
			return u, fmt.Errorf("/proc gives schedstat of process %d in an unknown form: %w", p.PID(), err)
		}
		status, err := os.ReadFile(tasks + "/" + e.Name() + "/status")
		if err != nil {
			return u, err
		}
		_, rest, ok := strings.Cut(string(status), "\nvoluntary_ctxt_switches:")
		if !ok {
			return u, fmt.Errorf("/proc has no voluntary_ctxt_switches of process %d", p.PID())
		}
		if _, err := fmt.Sscan(rest, &waits); err != nil {
			return u, err
		}
		u.Running += time.Duration(running)
		u.Wakeups += waits
	}
	return u, nil
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
