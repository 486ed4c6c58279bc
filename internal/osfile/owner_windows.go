package osfile

import (
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// Flags for opening a file. They are zero on Windows: no pipe can take the
// place of a file, and callers compare the opened file with the one that they
// checked.
const (
	NoFollow = 0
	NoWait   = 0

	// Cautious is for reading a file that somebody else may have put there.
	Cautious = os.O_RDONLY | NoFollow | NoWait
)

// HasOwners says whether a FileInfo tells the owner of a file.
const HasOwners = false

// Owner returns false: a FileInfo does not hold the owner.
func Owner(fs.FileInfo) (uid int, ok bool) { return 0, false }

// Own reports whether a file belongs to the user of this process, or to the
// administrators, who own the files that a user with their rights creates. If a
// file has no owner that can be read, it counts as the user's.
func Own(path string, _ fs.FileInfo) bool {
	sd, err := windows.GetNamedSecurityInfo(path, windows.SE_FILE_OBJECT, windows.OWNER_SECURITY_INFORMATION)
	if err != nil {
		return true
	}
	owner, _, err := sd.Owner()
	if err != nil || owner == nil {
		return true
	}
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	return err != nil || owner.Equals(user.User.Sid) || owner.IsWellKnown(windows.WinBuiltinAdministratorsSid)
}

// Permissions is zero: rights are inherited from the folder of the user.
func Permissions(fs.FileInfo) fs.FileMode { return 0 }

// Links returns how many names an open file has; false if that is not known.
func Links(f *os.File, _ fs.FileInfo) (uint64, bool) {
	if f == nil {
		return 0, false // a FileInfo does not hold the number
	}
	var info windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(windows.Handle(f.Fd()), &info); err != nil {
		return 0, false
	}
	return uint64(info.NumberOfLinks), true
}

// ForeignFile is empty: rights are inherited from the folder of the user.
func ForeignFile(fs.FileInfo) string { return "" }

// ForeignFolder is empty: rights are inherited from the folder of the user.
func ForeignFolder(fs.FileInfo) string { return "" }

// CopyGroup does nothing: rights are inherited from the folder of the user.
func CopyGroup(*os.File, fs.FileInfo) error { return nil }

// Writable returns why this process may not write to a file; nil: it may, or the system does
// not tell.
func Writable(name string) error {
	_, err := os.Stat(name)
	return err
}

// Protectable is nil: there is nothing that Protect would do.
func Protectable(string) error { return nil }

// Protect does nothing: rights are inherited from the folder of the user.
func Protect(string, fs.FileMode) error { return nil }
