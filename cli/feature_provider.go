//go:build !carries && !hub_omit_provider

package cli

import "hubcli/cli/connection"

var (
	newConnection = connection.New
	newProviders  = connection.NewProviders
)
