package main

import (
	"fmt"
	"os"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"

	"hubcli/internal/testport"
)

// condition knows [mount]: the test may mount disks of its own; and [interface]: this
// machine has an address beside loopback, which is $ADDRESS; and [root]: the tests run as root.
func condition(name string) (bool, error) {
	if name == "interface" {
		return testport.Interface() != "", nil
	}
	if name == "root" {
		return os.Geteuid() == 0, nil
	}
	if name == "mount" {
		return mayMount(), nil
	}
	return false, fmt.Errorf("unknown condition %q", name)
}

var mayMount = sync.OnceValue(func() bool {
	dir, err := os.MkdirTemp("", "mount")
	if err != nil {
		return false
	}
	defer os.Remove(dir)
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		return false
	}
	return unix.Unmount(dir, unix.MNT_DETACH) == nil
})

func cmdSmallDisk(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 2, "smalldisk <dir> <KiB>")
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o700))
	ts.Check(unix.Mount("tmpfs", dir, "tmpfs", 0, "size="+args[1]+"k"))
	ts.Defer(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
}

func cmdReadOnly(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, args, 1, "readonly <dir>")
	dir := ts.MkAbs(args[0])
	ts.Check(unix.Mount(dir, dir, "", unix.MS_BIND, ""))
	ts.Defer(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	ts.Check(unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY, ""))
}
