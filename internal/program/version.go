package program

import (
	_ "embed"
	"runtime/debug"
	"strings"
	"time"
)

// release is the number of the release, as the file VERSION holds it. The Python
// client and the change log carry the same number; a test of internal/release holds
// them together.
//
//go:embed VERSION
var release string

// commit is the commit that was built. The release command sets it:
// -ldflags "-X hubcli/internal/program.commit=<hash>". Other builds leave it empty.
var commit string

// date is the day of the commit, such as 2026-11-30. The release command sets it as it sets commit.
var date string

// commitLength is how many digits of a commit are shown.
const commitLength = 12

// Version says which program this is, as a version of SemVer with the commit as its
// build metadata: 0.1.0+7996f202b78a. The commit is left out where the build does
// not know it. The daemon, the bridge and --version all show this one text.
func Version() string {
	built := commit
	if info, ok := debug.ReadBuildInfo(); ok && built == "" {
		built = commitOf(info)
	}
	number := strings.TrimSpace(release)
	if built == "" {
		return number
	}
	return number + "+" + built
}

// Built says from which commit the program was built, and of which day that commit is. It says so
// too where the build does not know one.
func Built() string {
	hash, day := commit, date
	if info, ok := debug.ReadBuildInfo(); ok && hash == "" {
		hash, day = commitOf(info), dateOf(info)
	}
	switch {
	case hash == "":
		return "no commit is known: it was built outside of a repository, or with -buildvcs=false"
	case day == "":
		return "from commit " + hash
	}
	return "from commit " + hash + " of " + day
}

// dateOf reads the day of the commit, which the go command notes beside it: from the repository, or
// from a pseudo-version.
func dateOf(info *debug.BuildInfo) string {
	for _, s := range info.Settings {
		if s.Key == "vcs.time" {
			return s.Value[:min(len(s.Value), len(time.DateOnly))]
		}
	}
	for _, part := range strings.FieldsFunc(info.Main.Version, func(r rune) bool { return r == '-' || r == '.' }) {
		if at, err := time.Parse("20060102150405", part); err == nil {
			return at.Format(time.DateOnly)
		}
	}
	return ""
}

// commitOf reads the commit that the go command has noted in the executable: from
// the repository that was built, or from the pseudo-version that go install fetched.
// It returns "" if there is neither.
func commitOf(info *debug.BuildInfo) string {
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	if hash := settings["vcs.revision"]; hash != "" {
		hash = hash[:min(len(hash), commitLength)]
		if settings["vcs.modified"] == "true" {
			hash += ".dirty"
		}
		return hash
	}
	// A pseudo-version ends in -<time>-<12 digits of the commit>.
	pseudo, _, _ := strings.Cut(info.Main.Version, "+")
	parts := strings.Split(pseudo, "-")
	if last := parts[len(parts)-1]; len(parts) >= 3 && len(last) == commitLength && strings.Trim(last, "0123456789abcdef") == "" {
		return last
	}
	return ""
}
