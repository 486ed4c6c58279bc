package api

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"hubcli/hub"
)

// Limits of a list of folders in which programs are looked for.
const (
	MaxSearchPathBytes = 4096
	MaxSearchFolders   = 256
)

// SearchPath makes the value of PATH into one that CheckSearchPath takes. It leaves out what is no
// absolute folder, what stands twice, and the last ones if there are too many.
func SearchPath(env string) string {
	var folders []string
	size := 0
	for _, folder := range filepath.SplitList(env) {
		if checkSearchFolder(folder) != "" || slices.Contains(folders, folder) {
			continue
		}
		if size += len(folder) + 1; size > MaxSearchPathBytes || len(folders) == MaxSearchFolders {
			break
		}
		folders = append(folders, folder)
	}
	return strings.Join(folders, string(os.PathListSeparator))
}

// CheckSearchPath checks a list of folders in which programs are looked for, in the form of PATH on the
// hub's system.
func CheckSearchPath(field, list string) error {
	if len(list) > MaxSearchPathBytes {
		return hub.Invalid(field, "the list of folders is too long").With("limit", MaxSearchPathBytes).With("size", len(list)).
			WithFix("send fewer folders")
	}
	folders := filepath.SplitList(list)
	if len(folders) > MaxSearchFolders {
		return hub.Invalid(field, "there are too many folders").With("limit", MaxSearchFolders).With("size", len(folders)).
			WithFix("send fewer folders")
	}
	for _, folder := range folders {
		if why := checkSearchFolder(folder); why != "" {
			return hub.Invalid(field, "a folder in the list "+why).WithFix("send absolute folders, as PATH has them on the hub's system")
		}
	}
	return nil
}

func checkSearchFolder(folder string) string {
	switch {
	case !filepath.IsAbs(folder):
		return "is not absolute"
	case !utf8.ValidString(folder) || strings.ContainsFunc(folder, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return "is not valid text"
	}
	return ""
}
