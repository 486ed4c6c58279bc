package client

import (
	"context"

	"hubcli/hub"
)

var _ hub.Browsers = (*Client)(nil)

// BrowserEngines lists the browser engines of the hub's machine. It carries the operator
// token.
func (c *Client) BrowserEngines(ctx context.Context) ([]hub.BrowserEngine, error) {
	return get[[]hub.BrowserEngine](ctx, c, to("listBrowserEngines"), nil)
}
