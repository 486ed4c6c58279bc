package process

import (
	"bytes"
	"os"
	"strconv"
)

// Look returns a process that runs; false if there is none. Began counts the clock
// ticks from the start of the machine to that of the process.
func Look(pid int) (Process, bool) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return Process{}, false
	}
	// pid (name) state parent …: the name may hold anything, even parentheses.
	end := bytes.LastIndexByte(stat, ')')
	f := bytes.Fields(stat[end+1:])
	const state, parent, began = 0, 1, 19
	if end < 0 || len(f) <= began || f[state][0] == 'Z' || f[state][0] == 'X' {
		return Process{}, false
	}
	_, name, _ := bytes.Cut(stat[:end], []byte("("))
	p := Process{PID: pid, Began: string(f[began]), Name: string(name)}
	p.Parent, err = strconv.Atoi(string(f[parent]))
	return p, err == nil
}
