package osfile

import "os"

// FolderID is ID of the file or folder that a path leads to.
func FolderID(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return ID(f)
}
