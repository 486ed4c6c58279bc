// Package testrace keeps tests out of runs under the race detector where it can find nothing and costs minutes: it
// makes a program several times as slow and as large. It is for tests only and keeps no state.
//
// internal/check runs the tests that it has kept out in a build without the detector, after the others.
package testrace

// TB is the part of testing.TB that the package needs.
type TB interface {
	Helper()
	Skip(args ...any)
}

// Without begins the reason of a test that was kept out.
const Without = "needs a build without the race detector: "

// Avoid keeps a test out of a run under the race detector. The reason ends the sentence, such as "it measures memory".
func Avoid(tb TB, reason string) {
	tb.Helper()
	if on {
		tb.Skip(Without + reason)
	}
}
