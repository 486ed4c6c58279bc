//go:build !linux && !darwin && !windows

package machine

func systemID() (string, error) { return "", ErrNoID }
