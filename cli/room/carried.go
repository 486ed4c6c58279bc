//go:build carries

package room

import "hubcli/cli/opt"

// The commands that only the whole program has.
var (
	newProjectExport = opt.OfTheWhole
	newRoomReplay    = opt.OfTheWhole
)
