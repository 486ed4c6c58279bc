package main

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// fromMemory runs the carried program from a file in memory, which lives as long as the process.
func fromMemory(args []string) error {
	fd, err := unix.MemfdCreate("hubcli", unix.MFD_CLOEXEC)
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), "hubcli")
	defer f.Close()
	if err := write(f); err != nil {
		return err
	}
	return syscall.Exec(fmt.Sprintf("/proc/self/fd/%d", fd), args, os.Environ())
}
