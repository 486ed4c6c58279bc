//go:build carries || hub_omit_browser

package term

// browserPins belong to a command that this build does not have.
type browserPins = struct{}
