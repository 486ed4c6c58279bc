package peeruser

import "strconv"

// canonicalNumber reports whether a text is a uid as systems write it.
func canonicalNumber(text string) bool {
	n, err := strconv.ParseUint(text, 10, 32)
	return err == nil && strconv.FormatUint(n, 10) == text
}
