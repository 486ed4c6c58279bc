package pause

import "syscall"

// yield lets another thread run that waits for this processor. Linux lets a thread go on for
// some milliseconds before one that has woken up gets its turn, even if that one has slept for
// long: all of that a short call would wait.
func yield() { _, _, _ = syscall.Syscall(syscall.SYS_SCHED_YIELD, 0, 0, 0) } // it cannot fail
