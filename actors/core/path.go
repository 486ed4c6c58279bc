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
	p := path.Clean(strings.ReplaceAll(given, `\`, "/"))
	if len(p) >= 2 && p[1] == ':' && p[0] >= 'a' && p[0] <= 'z' {
		p = string(p[0]-'a'+'A') + p[1:]
	}
	return p, nil
}
