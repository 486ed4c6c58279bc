//go:build unix

package files

import (
	"errors"
	"io/fs"
	"os"
	"os/user"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// dontWait keeps a pipe that took a file's place from holding its opener.
const dontWait = syscall.O_NONBLOCK

// lockFile takes the exclusive lock of an open file without waiting. The kernel
// releases it with the process. false: somebody else has it.
func lockFile(f *os.File) (bool, error) {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// syncFolder makes the entries of a folder durable.
func syncFolder(d *os.File) error {
	err := d.Sync()
	if errors.Is(err, syscall.EINVAL) {
		err = nil // a file system that has nothing to sync for folders
	}
	return err
}

func links(info fs.FileInfo) uint64 {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 1
	}
	return uint64(st.Nlink)
}

// foreignFile says why a file is not the user's own; "" if it is.
func foreignFile(info fs.FileInfo) string {
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok:
		return "has no owner that is known"
	case int(st.Uid) != os.Geteuid():
		return "belongs to another user (" + strconv.Itoa(int(st.Uid)) + ")"
	}
	return writable(info, st)
}

// foreignFolder says why others could change what is in a folder; "" if they
// cannot. Folders of root are as good as the user's, and one with the sticky bit
// protects what is in it.
func foreignFolder(info fs.FileInfo) string {
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok:
		return "has no owner that is known"
	case int(st.Uid) != os.Geteuid() && st.Uid != 0:
		return "belongs to another user (" + strconv.Itoa(int(st.Uid)) + ")"
	case info.Mode()&fs.ModeSticky != 0:
		return ""
	}
	return writable(info, st)
}

func writable(info fs.FileInfo, st *syscall.Stat_t) string {
	switch mode := info.Mode().Perm(); {
	case mode&0o002 != 0:
		return "may be written by everybody"
	case mode&0o020 != 0 && !private(st.Uid, st.Gid):
		return "may be written by a group"
	}
	return ""
}

// private reports whether a group is the user's alone, as systems with a group per
// user make it.
func private(uid, gid uint32) bool {
	if uid == gid {
		return true
	}
	u, err := user.LookupId(strconv.Itoa(int(uid)))
	if err != nil {
		return false
	}
	g, err := user.LookupGroupId(strconv.Itoa(int(gid)))
	return err == nil && g.Name == u.Username
}

// likeness gives a new file the group of the one it takes the place of. The owner
// is the user in both.
func likeness(f *os.File, old fs.FileInfo) error {
	st, ok := old.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	now, err := f.Stat()
	if err != nil {
		return err
	}
	if is, ok := now.Sys().(*syscall.Stat_t); ok && is.Gid == st.Gid {
		return nil
	}
	return f.Chown(-1, int(st.Gid))
}
