//go:build !carries && !hub_omit_capsule

package cli

import "hubcli/cli/capsule"

var newCapsule = capsule.New
