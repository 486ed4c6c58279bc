package main

import (
	"os"
	"syscall"
)

// peak is the largest resident memory of an ended process, in KiB.
func peak(p *os.ProcessState) int64 {
	if usage, ok := p.SysUsage().(*syscall.Rusage); ok {
		return usage.Maxrss
	}
	return 0
}
