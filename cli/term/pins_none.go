//go:build carries

package term

// browserPins belong to a command of the whole program.
type browserPins = struct{}
