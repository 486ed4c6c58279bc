//go:build !carries && !hub_omit_browser

package cli

import "hubcli/cli/machine"

var newBrowser = machine.NewBrowser
