//go:build !carries && !hub_omit_license

package cli

import "hubcli/cli/person"

var newLicense = person.NewLicense
