package osfile

import (
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// Flags of an open. They are zero here: no pipe can take the place of a file, and
// a file that was opened is compared with the one that was looked at.
const (
	NoFollow = 0
	NoWait   = 0

	// Cautious opens for reading what somebody else may have put there.
	Cautious = os.O_RDONLY | NoFollow | NoWait
)

// HasOwners says whether a FileInfo tells the owner of a file.
const HasOwners = false

// Owner is not known: a FileInfo does not tell it.
func Owner(fs.FileInfo) (uid int, ok bool) { return 0, false }

// Own reports whether a file belongs to the user of this process, or to the
// administrators, who own what a user with their rights makes. A disk without
// owners has none to compare: its files count as the user's.
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
		return 0, false // a FileInfo does not tell it
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

// Protect does nothing: rights are inherited from the folder of the user.
func Protect(string, fs.FileMode) error { return nil }
