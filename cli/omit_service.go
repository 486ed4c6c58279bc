//go:build !carries && hub_omit_service

package cli

import "hubcli/cli/opt"

var newService = opt.Omitted("service", "hub_omit_service")
