package cli

import (
	"errors"
	"os"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"

	"hubcli/integrations/hook"
)

// detached makes a child without a console of its own that does not get the
// Ctrl-C of its starter's.
func detached() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{
		HideWindow:    true,
		CreationFlags: windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP,
	}
}

// ignoreClosedOutput: writing to a closed pipe is only an error here.
func ignoreClosedOutput() {}

func isAddrInUse(err error) bool { return errors.Is(err, windows.WSAEADDRINUSE) }

// openFiles is how many files the process may open; there is no such limit here.
func openFiles() uint64 { return 0 }

// closedAtOtherEnd: a pipe does not tell; the write at the end does.
func closedAtOtherEnd(*os.File) bool { return false }

// lookProcess returns a process that runs. The parent's number may belong to
// another process by now, which the time at which that began tells.
func lookProcess(pid int) (hook.Process, bool) {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return hook.Process{}, false
	}
	defer func() { _ = windows.CloseHandle(h) }()
	var began, ended, kernel, user windows.Filetime
	var code uint32
	const running = 259 // STILL_ACTIVE
	if windows.GetProcessTimes(h, &began, &ended, &kernel, &user) != nil || windows.GetExitCodeProcess(h, &code) != nil || code != running {
		return hook.Process{}, false
	}
	parent, name, ok := listed(uint32(pid))
	return hook.Process{PID: pid, Parent: int(parent), Began: strconv.FormatInt(began.Nanoseconds(), 10), Name: name}, ok
}

// listed returns the parent and the program of a process.
func listed(pid uint32) (parent uint32, name string, ok bool) {
	all, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPPROCESS, 0)
	if err != nil {
		return 0, "", false
	}
	defer func() { _ = windows.CloseHandle(all) }()
	e := windows.ProcessEntry32{Size: uint32(unsafe.Sizeof(windows.ProcessEntry32{}))}
	for err = windows.Process32First(all, &e); err == nil; err = windows.Process32Next(all, &e) {
		if e.ProcessID == pid {
			return e.ParentProcessID, windows.UTF16ToString(e.ExeFile[:]), true
		}
	}
	return 0, "", false
}
