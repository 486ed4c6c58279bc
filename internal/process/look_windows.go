package process

import (
	"strconv"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Look returns a process that runs; false if there is none. Began is in
// nanoseconds. The number of the parent may belong to another process by now, which
// began later than this one.
func Look(pid int) (Process, bool) {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return Process{}, false
	}
	defer func() { _ = windows.CloseHandle(h) }()
	var began, ended, kernel, user windows.Filetime
	var code uint32
	const running = 259 // STILL_ACTIVE
	if windows.GetProcessTimes(h, &began, &ended, &kernel, &user) != nil || windows.GetExitCodeProcess(h, &code) != nil || code != running {
		return Process{}, false
	}
	parent, name, ok := listed(uint32(pid))
	return Process{PID: pid, Parent: int(parent), Began: strconv.FormatInt(began.Nanoseconds(), 10), Name: name}, ok
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
