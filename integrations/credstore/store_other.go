//go:build !linux && !netbsd && !openbsd && !darwin && !windows

package credstore

// maxSecret is the largest number of bytes of a secret.
const maxSecret = 2560

func whyNone() string { return "this operating system has none that the hub knows" }

func classify(error) (Kind, string) { return Failed, "" }
