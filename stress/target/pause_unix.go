//go:build unix

package target

import "syscall"

// CanPause says whether processes can be paused here.
const CanPause = true

// Pause stops all threads of the process until Continue.
func (p *Process) Pause() error { return p.cmd.Process.Signal(syscall.SIGSTOP) }

// Continue lets a paused process go on.
func (p *Process) Continue() error { return p.cmd.Process.Signal(syscall.SIGCONT) }
