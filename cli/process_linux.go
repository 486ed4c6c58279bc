package cli

import (
	"bytes"
	"os"
	"strconv"

	"hubcli/integrations/hook"
)

// lookProcess returns a process that runs. It began at a tick of the clock since
// the machine started.
func lookProcess(pid int) (hook.Process, bool) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return hook.Process{}, false
	}
	// pid (name) state parent …: the name may hold anything, even parentheses.
	end := bytes.LastIndexByte(stat, ')')
	f := bytes.Fields(stat[end+1:])
	const state, parent, began = 0, 1, 19
	if end < 0 || len(f) <= began || f[state][0] == 'Z' || f[state][0] == 'X' {
		return hook.Process{}, false
	}
	_, name, _ := bytes.Cut(stat[:end], []byte("("))
	p := hook.Process{PID: pid, Began: string(f[began]), Name: string(name)}
	p.Parent, err = strconv.Atoi(string(f[parent]))
	return p, err == nil
}
