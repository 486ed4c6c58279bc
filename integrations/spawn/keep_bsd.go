//go:build unix && !linux

package spawn

import "syscall"

// adopt does nothing: this system has no subreapers. A process that leaves the
// group is not found.
func adopt() {}

// inGroup makes the command lead a group of its own.
func inGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// children returns nothing, because no process is adopted.
func children() []int { return nil }
