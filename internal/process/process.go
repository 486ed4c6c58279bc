// Package process identifies processes of this machine. A process number comes
// again after its process has ended; the time at which the process began tells the
// two apart.
//
// Look is safe for concurrent use and only reads. It starts and ends nothing.
package process

// Process is a running process.
type Process struct {
	PID int `json:"pid"`
	// Began tells this process from a later one with the same number. It consists of
	// digits; their unit depends on the system.
	Began  string `json:"began"`
	Parent int    `json:"-"`
	Name   string `json:"-"` // of its program, where the system tells it
}
