package process

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Look returns a process that runs; false if there is none. Began is in
// microseconds.
func Look(pid int) (Process, bool) {
	const zombie = 5 // SZOMB
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(k.Proc.P_pid) != pid || k.Proc.P_stat == zombie {
		return Process{}, false
	}
	began := k.Proc.P_starttime
	return Process{
		PID: pid, Parent: int(k.Eproc.Ppid), Began: fmt.Sprintf("%d%06d", began.Sec, began.Usec),
		Name: unix.ByteSliceToString(k.Proc.P_comm[:]),
	}, true
}
