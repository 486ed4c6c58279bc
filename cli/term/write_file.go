package term

import (
	"errors"
	"io/fs"
	"os"

	"hubcli/internal/osfile"
)

// WriteContent writes a whole file or none, even if the command dies. With
// force it replaces a regular file and keeps the file's mode; it replaces
// nothing else.
func WriteContent(path string, data []byte, force bool) error {
	mode, there, err := Replaceable(path, force)
	if err != nil {
		return err
	}
	content := osfile.Content{Write: osfile.Bytes(data), Prefix: ".hubcli-", Mode: mode, Exactly: there}
	if force && there {
		err = osfile.Replace(osfile.Disk{}, path, content)
	} else {
		err = osfile.Create(path, content)
	}
	switch {
	case errors.Is(err, fs.ErrExist):
		return FileExists(path)
	case err != nil:
		return CannotWrite(path, err)
	}
	return nil
}

// Replaceable returns whether there is a file at path, and its mode. It refuses
// a path that must not be replaced.
func Replaceable(path string, force bool) (mode fs.FileMode, there bool, err error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0o644, false, nil
	case err != nil:
		return 0, false, CannotWrite(path, err)
	case !force:
		return 0, true, FileExists(path)
	case info.Mode()&fs.ModeSymlink != 0:
		return 0, true, Usage("name the file that the link leads to", "%s is a symbolic link, which is not replaced", path)
	case !info.Mode().IsRegular():
		return 0, true, Usage("name a file, or use --out - and a pipe", "%s is not a regular file, and is not replaced", path)
	}
	return info.Mode().Perm(), true, nil
}

// CannotWrite leaves out the name of the temporary file, which the user did not give.
func CannotWrite(path string, err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok && e.Path != path {
		err = e.Err
	}
	return Usage("name a file that can be written", "%s cannot be written: %v", path, err)
}

// FileExists is the failure of a file that would be replaced.
func FileExists(path string) error {
	return Usage("name another file, or give --force to replace it", "%s is there already", path)
}
