package readable

import (
	"path"
	"strconv"
	"strings"
	"sync"
)

// The names of files. They consist of ASCII letters, digits, hyphens, dots and underscores,
// begin and end with none of the signs, and no two of a folder differ in case alone.

// Lengths of names, in bytes.
const (
	maxStem      = 80
	maxExtension = 12 // with its dot
)

// kept are the stems that have a meaning: devices of Windows, and files that agent
// harnesses obey when they find them.
var kept = sync.OnceValue(func() map[string]bool {
	return map[string]bool{
		"con": true, "prn": true, "aux": true, "nul": true, "conin": true, "conout": true,
		"agents": true, "claude": true, "gemini": true, "skill": true, "copilot-instructions": true,
	}
})

// A folder gives names to the files of one folder.
type folder struct{ taken map[string]bool }

// free returns the name of stem and extension, or the first with a number behind the stem
// that no other file has. It belongs to the caller from then on.
func (f *folder) free(stem, extension string) string {
	name := stem + extension
	for n := 2; f.taken[strings.ToLower(name)]; n++ {
		name = stem + "-" + strconv.Itoa(n) + extension
	}
	f.take(name)
	return name
}

func (f *folder) take(name string) {
	if f.taken == nil {
		f.taken = map[string]bool{}
	}
	f.taken[strings.ToLower(name)] = true
}

// slug returns a stem in lower case of the characters of a text that a slug can have; none if there is none.
func slug(text, none string) string {
	return safeStem(strings.ReplaceAll(strings.ToLower(text), ".", "-"), none)
}

// fileName returns a stem and an extension for a title. none is the stem, and extension the
// extension, of a title that has none.
func fileName(title, none, extension string) (stem, ext string) {
	ext = path.Ext(title)
	rest := strings.TrimSuffix(title, ext)
	if len(ext) < 2 || len(ext) > maxExtension || strings.Trim(rest, ".") == "" || strings.ContainsFunc(ext[1:], func(r rune) bool { return !alphanumeric(r) }) {
		rest, ext = title, extension
	}
	return safeStem(rest, none), ext
}

func alphanumeric(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

// safeStem replaces what a stem cannot have by hyphens, one for each run.
func safeStem(text, none string) string {
	var b strings.Builder
	gap := false
	for _, r := range text {
		if !alphanumeric(r) && (r != '.' && r != '_' || gap) || b.Len() == 0 && !alphanumeric(r) {
			gap = b.Len() > 0
			continue
		}
		if gap && b.Len() < maxStem {
			b.WriteByte('-')
		}
		gap = false
		if b.Len() >= maxStem {
			break
		}
		b.WriteRune(r)
	}
	stem := strings.TrimRight(b.String(), "-._")
	if stem == "" {
		stem = none
	}
	if first, _, _ := strings.Cut(strings.ToLower(stem), "."); kept()[first] || device(first) {
		return "x-" + stem
	}
	return stem
}

// device reports whether a name is that of a port of Windows: com or lpt and a digit.
func device(name string) bool {
	return len(name) == 4 && (name[:3] == "com" || name[:3] == "lpt") && name[3] >= '0' && name[3] <= '9'
}
