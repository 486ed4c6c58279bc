//go:build !hub_omit_capsule

package main

import "hubcli/supervisor/capsules"

var newCapsules = capsules.New
