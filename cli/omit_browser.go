//go:build !carries && hub_omit_browser

package cli

import "hubcli/cli/opt"

var newBrowser = opt.Omitted("browser", "hub_omit_browser")
