//go:build hub_omit_capsule

package main

import "hubcli/supervisor"

var newCapsules func(supervisor.Parts) supervisor.Capsules
