// Package require ends a test at once where a step that it builds on fails, as
// the package of that name in testify does. It is for tests only: it compares
// nothing, and it keeps no state. Like Fatal it is for the goroutine of the
// test.
package require

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
