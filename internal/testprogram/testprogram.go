// Package testprogram finds other people's programs for tests, and says in one form which of
// them is not installed and where to get it. It is for tests only, keeps no state, and
// installs nothing.
//
// It knows every program that a test may do without. A test that runs another one fails
// where that is not installed; internal/check runs the tests on a machine that has none of
// those listed here.
package testprogram

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
)

// TB is the part of testing.TB that the package needs.
type TB interface {
	Helper()
	Skip(args ...any)
}

// Browser is the name under which browser engines are listed. Tests look for them as the hub
// does, in more places than PATH.
const Browser = "a browser engine"

// Program is a program that a test may do without.
type Program struct {
	Name   string
	Debian string // the package that has it
}

// programs are in the order in which they are told.
var programs = []Program{
	{"age", "age"},
	{"age-keygen", "age"},
	{Browser, "chromium-headless-shell"},
	{"curl", "curl"},
	{"dbus-daemon", "dbus"},
	{"dpkg-deb", "dpkg"},
	{"gnome-keyring-daemon", "gnome-keyring"},
	{"jq", "jq"},
	{"linux.uml", "user-mode-linux"},
	{"minisign", "minisign"},
	{"mkfs.ext4", "e2fsprogs"},
	{"node", "nodejs"},
	{"npm", "npm"},
	{"secret-tool", "libsecret-tools"},
	{"strace", "strace"},
	{"systemd-analyze", "systemd"},
	{"unzip", "unzip"},
	{"zipinfo", "unzip"},
}

// All returns the programs.
func All() []Program { return slices.Clone(programs) }

// packageOf returns the package of Debian that has a program. A name that is not listed is a
// mistake in a test.
func packageOf(name string) string {
	for _, p := range programs {
		if p.Name == name {
			return p.Debian
		}
	}
	panic("testprogram: " + name + " is not listed")
}

// Need returns where programs are that a test runs, in the order of the names. It skips the
// test if one of them is not installed.
func Need(t TB, names ...string) []string {
	t.Helper()
	paths, missing := make([]string, len(names)), []string(nil)
	for i, name := range names {
		packageOf(name)
		path, err := exec.LookPath(name)
		if err != nil {
			missing = append(missing, name)
		}
		paths[i] = path
	}
	if len(missing) > 0 {
		t.Skip(Missing(missing...))
	}
	return paths
}

// notInstalled begins what Missing says. internal/check finds skipped tests by it.
const notInstalled = "not installed: "

// Missing says which programs are not installed, for the text of a test that is skipped.
func Missing(names ...string) string {
	var packages []string
	for _, name := range names {
		if p := packageOf(name); !slices.Contains(packages, p) {
			packages = append(packages, p)
		}
	}
	return fmt.Sprintf("%s%s (Debian: apt-get install %s)", notInstalled, strings.Join(names, ", "), strings.Join(packages, " "))
}

// Named returns the programs that a text of Missing names; none: it is no such text.
func Named(text string) []string {
	_, after, ok := strings.Cut(text, notInstalled)
	if !ok {
		return nil
	}
	list, _, ok := strings.Cut(after, " (Debian: apt-get install ")
	if !ok {
		return nil
	}
	var names []string
	for name := range strings.SplitSeq(list, ", ") {
		if !slices.ContainsFunc(programs, func(p Program) bool { return p.Name == name }) {
			return nil
		}
		names = append(names, name)
	}
	return names
}
