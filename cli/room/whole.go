//go:build !carries && !hub_omit_capsule

package room

import "hubcli/cli/capsule"

// newProjectExport makes a command that only the whole program has: see carried.go.
var newProjectExport = capsule.NewProjectExport
