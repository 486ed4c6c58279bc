package hubfile

import (
	"errors"
	"io/fs"
	"os"

	"hubcli/internal/osfile"
)

// Private returns an error unless the folder is this user's and closed to all others. What
// lies there was put there by a program of this user.
func Private(dir string) error {
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return &fs.PathError{Op: "open", Path: dir, Err: errors.New("it is no folder")}
	case !osfile.Own(dir, info):
		return &fs.PathError{Op: "open", Path: dir, Err: errors.New("the folder belongs to another user")}
	case osfile.Permissions(info)&0o077 != 0:
		return &fs.PathError{Op: "open", Path: dir, Err: errors.New("the folder is open to others")}
	}
	return nil
}
