//go:build !carries && !hub_omit_service

package cli

import "hubcli/cli/machine"

var newService = machine.NewService
