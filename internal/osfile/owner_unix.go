//go:build unix

package osfile

import (
	"io/fs"
	"os"
	"os/user"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// Flags of an open.
const (
	NoFollow = unix.O_NOFOLLOW // fail if the last element is a link
	NoWait   = unix.O_NONBLOCK // do not wait for the other end of a pipe

	// Cautious opens for reading what somebody else may have put there.
	Cautious = os.O_RDONLY | NoFollow | NoWait
)

// HasOwners says whether a FileInfo tells the owner of a file.
const HasOwners = true

// Owner returns the user id of the owner; false if that is not known.
func Owner(info fs.FileInfo) (uid int, ok bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(st.Uid), true
}

// Own reports whether a file that was looked at belongs to the user of this
// process.
func Own(_ string, info fs.FileInfo) bool {
	uid, ok := Owner(info)
	return ok && uid == os.Geteuid()
}

// Permissions returns what the file's mode allows to whom. It is zero where the
// system has no such permissions.
func Permissions(info fs.FileInfo) fs.FileMode { return info.Mode().Perm() }

// Links returns how many names an open file has; false if that is not known.
func Links(_ *os.File, info fs.FileInfo) (uint64, bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return uint64(st.Nlink), true
}

// ForeignFile says why others could have written a file; "" if only the user of
// this process can.
func ForeignFile(info fs.FileInfo) string {
	uid, ok := Owner(info)
	switch {
	case !ok:
		return "has no owner that is known"
	case uid != os.Geteuid():
		return "belongs to another user (" + strconv.Itoa(uid) + ")"
	}
	return writable(info)
}

// ForeignFolder says why others could change what is in a folder; "" if they
// cannot. A folder of root is as good as the user's own, and one with the sticky
// bit protects what is in it.
func ForeignFolder(info fs.FileInfo) string {
	uid, ok := Owner(info)
	switch {
	case !ok:
		return "has no owner that is known"
	case uid != os.Geteuid() && uid != 0:
		return "belongs to another user (" + strconv.Itoa(uid) + ")"
	case info.Mode()&fs.ModeSticky != 0:
		return ""
	}
	return writable(info)
}

func writable(info fs.FileInfo) string {
	switch mode := info.Mode().Perm(); {
	case mode&0o002 != 0:
		return "may be written by everybody"
	case mode&0o020 != 0 && !privateGroup(info):
		return "may be written by a group"
	}
	return ""
}

// privateGroup reports whether the group of a file is its owner's alone. Many
// systems give each user such a group, of the user's name.
func privateGroup(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return false
	}
	if st.Uid == st.Gid {
		return true
	}
	u, err := user.LookupId(strconv.Itoa(int(st.Uid)))
	if err != nil {
		return false
	}
	g, err := user.LookupGroupId(strconv.Itoa(int(st.Gid)))
	return err == nil && g.Name == u.Username
}

// CopyGroup gives a file the group of another one. The user owns both.
func CopyGroup(to *os.File, from fs.FileInfo) error {
	want, ok := from.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	now, err := to.Stat()
	if err != nil {
		return err
	}
	if is, ok := now.Sys().(*syscall.Stat_t); ok && is.Gid == want.Gid {
		return nil
	}
	return to.Chown(-1, int(want.Gid))
}

// Writable returns why this process may not write to a file, or make files in a folder; nil: it
// may. It changes nothing.
func Writable(name string) error {
	if err := unix.Faccessat(unix.AT_FDCWD, name, unix.W_OK, unix.AT_EACCESS); err != nil {
		return &fs.PathError{Op: "write to", Path: name, Err: err}
	}
	return nil
}

// Protectable returns why this process may not change the mode of a file; nil: it may.
func Protectable(name string) error {
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	if uid, ok := Owner(info); ok && uid != os.Geteuid() && os.Geteuid() != 0 {
		return &fs.PathError{Op: "change the mode of", Path: name, Err: unix.EPERM}
	}
	return nil
}

// Protect gives a file its owner's mode and takes all other rights on it away.
func Protect(name string, mode fs.FileMode) error { return os.Chmod(name, mode) }
