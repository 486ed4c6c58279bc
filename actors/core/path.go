package core

import (
	"path"
	"strings"

	"hubcli/hub"
)

// CanonicalPath returns the form in which lock paths are compared, so that two
// spellings of one file meet in one lock. Backslashes count as slashes; repeated
// slashes, dot segments and a trailing slash are dropped; a drive letter is upper
// case. Everything else keeps its case, and symbolic links are not followed: the
// hub never looks at the file. A given path may be absolute or relative. Refusals
// are *hub.Error with code invalid.
func CanonicalPath(given string) (string, error) {
	if err := hub.CheckName("file_path", given, hub.MaxFilePathChars); err != nil {
		return "", err
	}
	return driveLetter(path.Clean(strings.ReplaceAll(given, `\`, "/"))), nil
}

// CanonicalPrefix returns the form in which the beginning of a path is compared
// with canonical paths: the canonical folder up to the last slash, and the rest
// unchanged. So `src/` selects all files in src, and `src/ma` those that begin
// with ma there.
func CanonicalPrefix(given string) (string, error) {
	given = strings.ReplaceAll(given, `\`, "/")
	i := strings.LastIndexByte(given, '/')
	folder, rest := given[:i+1], given[i+1:]
	if folder == "" {
		return driveLetter(rest), nil
	}
	folder, err := CanonicalPath(folder)
	switch {
	case err != nil:
		return "", err
	case folder == ".":
		return rest, nil // relative paths begin without it
	case !strings.HasSuffix(folder, "/"):
		folder += "/"
	}
	return folder + rest, nil
}

// driveLetter makes the drive letter of a path upper case, if it has one.
func driveLetter(p string) string {
	if len(p) >= 2 && p[1] == ':' && p[0] >= 'a' && p[0] <= 'z' {
		return string(p[0]-'a'+'A') + p[1:]
	}
	return p
}
