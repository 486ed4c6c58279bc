package spawn

import (
	"maps"
	"runtime"
	"slices"
	"strings"
)

// always are the variables that every child gets, if the hub has them: where
// programs and the user's files are, who the user is, and the locale. HUB_DATA_ROOT
// says where the hub's own data are, for a bridge that the child starts.
var always = []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TZ", "LANG", "LANGUAGE", "HUB_DATA_ROOT", "XDG_DATA_HOME"}

// alwaysOnWindows are further variables without which programs do not start on
// Windows.
var alwaysOnWindows = []string{
	"SystemRoot", "SystemDrive", "windir", "ComSpec", "PATHEXT", "TEMP", "TMP", "USERPROFILE", "USERNAME",
	"APPDATA", "LOCALAPPDATA", "ProgramData", "ProgramFiles",
}

// environment returns the variables of a child: those of env that every child
// gets, those of env that are named, and those that are set.
func environment(env, named []string, set map[string]string) []string {
	out := map[string]string{}
	for _, pair := range env {
		name, value, ok := strings.Cut(pair, "=")
		if ok && name != "" && (handedOn(name) || slices.ContainsFunc(named, func(n string) bool { return sameName(n, name) })) {
			out[name] = value
		}
	}
	maps.Copy(out, set)
	pairs := make([]string, 0, len(out))
	for _, name := range slices.Sorted(maps.Keys(out)) {
		pairs = append(pairs, name+"="+out[name])
	}
	return pairs
}

func handedOn(name string) bool {
	names := always
	if runtime.GOOS == "windows" {
		names = slices.Concat(always, alwaysOnWindows)
	}
	return strings.HasPrefix(name, "LC_") || slices.ContainsFunc(names, func(n string) bool { return sameName(n, name) })
}

// sameName compares names of variables as the system does.
func sameName(a, b string) bool {
	if runtime.GOOS == "windows" {
		return strings.EqualFold(a, b)
	}
	return a == b
}
