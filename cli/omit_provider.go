//go:build !carries && hub_omit_provider

package cli

import "hubcli/cli/opt"

var (
	newConnection = opt.Omitted("connection", "hub_omit_provider")
	newProviders  = opt.Omitted("providers", "hub_omit_provider")
)
