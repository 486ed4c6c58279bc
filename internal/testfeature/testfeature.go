// Package testfeature tells tests which parts of the hub their build leaves out: see docs/architecture.md. It is for
// tests only and keeps no state.
package testfeature

import (
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

// All are the parts that a build can leave out, each by the tag hub_omit_ and its name.
func All() []string {
	return []string{"browser", "capsule", "license", "notify", "provider", "service"}
}

// Tag returns the tag of the Go toolchain that leaves a part out.
func Tag(feature string) string { return "hub_omit_" + feature }

// Tags returns the tags of this build, as the flag -tags takes them.
func Tags() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "-tags" {
			return s.Value
		}
	}
	return ""
}

// Omitted reports whether this build leaves a part out.
func Omitted(feature string) bool {
	return slices.Contains(strings.Split(Tags(), ","), Tag(feature))
}

// Need skips a test if this build leaves out one of the parts.
func Need(tb testing.TB, features ...string) {
	tb.Helper()
	for _, f := range features {
		if Omitted(f) {
			tb.Skipf("needs a build without the tag %s", Tag(f))
		}
	}
}
