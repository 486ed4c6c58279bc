package persistence

import (
	"bufio"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// giveBack gives back the memory of the files in dir with this suffix that the process has
// mapped. It is safe for shared mappings of files only, and only while none of them goes:
// their pages are dropped from the process, and no byte of a file changes.
func giveBack(dir, suffix string) {
	f, err := os.Open("/proc/self/maps")
	if err != nil {
		return // the system takes the memory when it needs it
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		at, size, name := sharedMapping(lines.Text())
		if size > 0 && filepath.Dir(name) == dir && filepath.Ext(name) == suffix {
			_, _, _ = unix.Syscall(unix.SYS_MADVISE, at, size, unix.MADV_DONTNEED)
		}
	}
}

// sharedMapping reads a line of /proc/self/maps. The size is 0 if the line is not about a
// shared mapping of a file.
func sharedMapping(line string) (at, size uintptr, name string) {
	fields := strings.SplitN(line, " ", 6)
	if len(fields) < 6 || len(fields[1]) != 4 || fields[1][3] != 's' {
		return 0, 0, ""
	}
	from, to, _ := strings.Cut(fields[0], "-")
	begin, err1 := strconv.ParseUint(from, 16, strconv.IntSize)
	end, err2 := strconv.ParseUint(to, 16, strconv.IntSize)
	if err1 != nil || err2 != nil || end < begin {
		return 0, 0, ""
	}
	return uintptr(begin), uintptr(end - begin), strings.TrimLeft(fields[5], " ")
}
