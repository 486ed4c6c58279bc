//go:build !carries && hub_omit_capsule

package room

import "hubcli/cli/opt"

var newProjectExport = opt.Omitted("export", "hub_omit_capsule")
