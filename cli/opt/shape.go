package opt

import "fmt"

// UnknownShape is the error for an answer of the hub that this program cannot read.
func UnknownShape(err error) error {
	return fmt.Errorf("the hub's answer has an unknown shape: %w", err)
}
