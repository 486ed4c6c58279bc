//go:build carries

package cli

import "hubcli/cli/opt"

// The program that carries another one (cmd/packed) leaves these commands to that one, and with them the packages that
// only they need: it would pay for the beginnings of these packages in each hook. Short says which commands it
// runs itself; none of these is among them.
var (
	newBrowser    = opt.OfTheWhole
	newCapsule    = opt.OfTheWhole
	newConnection = opt.OfTheWhole
	newDemo       = opt.OfTheWhole
	newLicense    = opt.OfTheWhole
	newProviders  = opt.OfTheWhole
	newRelay      = opt.OfTheWhole
	newService    = opt.OfTheWhole
	newSmokeAgent = opt.OfTheWhole
	newTop        = opt.OfTheWhole
)
