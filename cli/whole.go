//go:build !carries

package cli

import (
	"hubcli/cli/agent"
	"hubcli/cli/capsule"
	"hubcli/cli/connection"
	"hubcli/cli/machine"
	"hubcli/cli/person"
)

// The commands that only the whole program has: see carried.go.
var (
	newBrowser    = machine.NewBrowser
	newCapsule    = capsule.New
	newConnection = connection.New
	newDemo       = machine.NewDemo
	newLicense    = person.NewLicense
	newRelay      = machine.NewRelay
	newService    = machine.NewService
	newSmokeAgent = agent.NewSmokeAgent
	newTop        = person.NewTop
)
