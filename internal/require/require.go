// Package require ends a test at once where a step that it builds on fails, as
// the package of that name in testify does. It is for tests only: it compares
// nothing, and it keeps no state. Like Fatal it is for the goroutine of the
// test.
package require

import "time"

// patience is how long Eventually waits. It is long, so that a test on a busy
// machine fails only where something is wrong.
const patience = 45 * time.Second

// TB is the part of testing.TB that the package needs. A *rapid.T has it too.
type TB interface {
	Helper()
	Fatal(args ...any)
}

// NoError ends the test with the error, if there is one.
func NoError(t TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Eventually waits for a condition that other goroutines or processes bring
// about. It ends the test if the condition does not come.
func Eventually(t TB, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it does not come: " + what)
		}
	}
}
