//go:build carries

package cli

import "github.com/spf13/cobra"

// The program that carries another one (cmd/packed) leaves these commands to that one, and with them the packages that
// only they need: it would pay for the beginnings of these packages in each hook. Short says which commands it
// runs itself; none of these is among them.
var (
	newAppDemo       = ofTheWhole
	newAppService    = ofTheWhole
	newAppTop        = ofTheWhole
	newBrowser       = ofTheWhole
	newCapsule       = ofTheWhole
	newConnection    = ofTheWhole
	newLicense       = ofTheWhole
	newProjectExport = ofTheWhole
	newRelay         = ofTheWhole
	newRoomReplay    = ofTheWhole
	newSmokeAgent    = ofTheWhole
)

// ofTheWhole is the place of such a command in the tree.
func ofTheWhole(*Env) *cobra.Command { return &cobra.Command{Hidden: true} }

// browserPins belong to a command of the whole program.
type browserPins = struct{}
