//go:build !carries && hub_omit_license

package cli

import "hubcli/cli/opt"

var newLicense = opt.Omitted("license", "hub_omit_license")
