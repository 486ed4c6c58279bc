//go:build carries

package opt

import (
	"github.com/spf13/cobra"

	"hubcli/cli/term"
)

// OfTheWhole is the place of a command in the tree that only the whole program has.
func OfTheWhole(*term.Env) *cobra.Command { return &cobra.Command{Hidden: true} }
