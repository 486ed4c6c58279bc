//go:build !linux

package process

import "os"

// Space names the machine on which processes have their numbers. Empty: unknown.
func Space() string {
	name, err := os.Hostname()
	if err != nil {
		return ""
	}
	return name
}
