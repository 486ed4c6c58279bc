//go:build !linux

package power

import "context"

// Run needs user-mode Linux.
func Run(_ context.Context, o Options) (*Summary, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	return nil, ErrNoMachine
}

// Guest is the first process of a machine of user-mode Linux.
func Guest([]string) {}
