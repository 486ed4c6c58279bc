package client

import (
	"hubcli/hub"
)

var _ hub.Licenses = (*Client)(nil)
