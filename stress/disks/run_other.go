//go:build !linux

package disks

import "context"

// Run needs the mounts of Linux.
func Run(_ context.Context, o Options) (*Summary, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	return nil, ErrCannotMount
}
