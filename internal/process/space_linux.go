package process

import (
	"os"
	"strings"
)

// Space names the machine and the namespace in which processes have their numbers. In
// another one, such as that of a container or of another machine with the same home, a number means another
// process. Empty: unknown.
func Space() string {
	machine, err := os.ReadFile("/etc/machine-id")
	if err != nil {
		machine = nil // an image of a container may have none
	}
	namespace, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(machine)) + " " + namespace
}
