//go:build !carries

package cli

import (
	"hubcli/cli/agent"
	"hubcli/cli/machine"
	"hubcli/cli/person"
)

// The commands that only the whole program has: see carried.go. Those of the parts that a build may
// leave out are in the files feature_*.go, and omit_*.go stands in for them.
var (
	newDemo       = machine.NewDemo
	newRelay      = machine.NewRelay
	newSmokeAgent = agent.NewSmokeAgent
	newTop        = person.NewTop
)
