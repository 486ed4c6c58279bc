//go:build !linux

package wake

// executable knows no file of a process here.
func executable(int) (string, bool) { return "", false }
