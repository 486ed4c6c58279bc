//go:build !carries && hub_omit_capsule

package cli

import "hubcli/cli/opt"

var newCapsule = opt.Omitted("capsule", "hub_omit_capsule")
