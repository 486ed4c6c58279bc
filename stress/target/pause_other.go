//go:build !unix

package target

import "errors"

// CanPause says whether processes can be paused here.
const CanPause = false

// Pause stops all threads of the process until Continue.
func (p *Process) Pause() error { return errors.ErrUnsupported }

// Continue lets a paused process go on.
func (p *Process) Continue() error { return errors.ErrUnsupported }
