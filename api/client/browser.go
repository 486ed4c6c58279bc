package client

import (
	"hubcli/hub"
)

var _ hub.Browsers = (*Client)(nil)
