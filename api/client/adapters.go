package client

import (
	"context"
	"net/http"
	"net/url"

	"hubcli/hub"
)

var _ hub.Adapters = (*Client)(nil)

// adapterPaths are the last segments of the calls of an action: to preview it,
// and to do it.
var adapterPaths = map[hub.AdapterAction][2]string{
	hub.AdapterInstall:   {"preview", "install"},
	hub.AdapterUninstall: {"preview-uninstall", "uninstall"},
	hub.AdapterRepair:    {"", "repair"}, // it shows its plan when it asks to be confirmed
}

func adapterPath(harness hub.Harness, last string) string {
	return "/v1/adapters/" + url.PathEscape(string(harness)) + "/" + last
}

// Adapters lists all harnesses.
func (c *Client) Adapters(ctx context.Context) ([]hub.Adapter, error) {
	rows, _, err := get[[]hub.Adapter](ctx, c, "/v1/adapters", nil, 0)
	return rows, err
}

// Adapter returns one.
func (c *Client) Adapter(ctx context.Context, harness hub.Harness) (hub.Adapter, error) {
	row, _, err := get[hub.Adapter](ctx, c, "/v1/adapters/"+url.PathEscape(string(harness)), nil, 0)
	return row, err
}

// PreviewAdapter says what installing or uninstalling would do. It carries the
// operator token.
func (c *Client) PreviewAdapter(ctx context.Context, harness hub.Harness, action hub.AdapterAction, in hub.AdapterInput) (hub.AdapterPlan, error) {
	last := adapterPaths[action][0]
	if last == "" {
		return hub.AdapterPlan{}, hub.Errorf(hub.CodeInvalid, "%s has no preview of its own", action)
	}
	plan, _, err := result[hub.AdapterPlan](ctx, c, call{
		method: http.MethodPost, path: adapterPath(harness, last), body: in, operator: true, wait: hub.MaxAdapterChange,
	})
	return plan, err
}

// ChangeAdapter does what was confirmed. It carries the operator token.
func (c *Client) ChangeAdapter(ctx context.Context, harness hub.Harness, action hub.AdapterAction, in hub.AdapterInput) (hub.AdapterResult, error) {
	done, _, err := result[hub.AdapterResult](ctx, c, call{
		method: http.MethodPost, path: adapterPath(harness, adapterPaths[action][1]), body: in, operator: true, wait: hub.MaxAdapterChange,
	})
	return done, err
}

// VerifyAdapter tries what is installed. It carries the operator token.
func (c *Client) VerifyAdapter(ctx context.Context, harness hub.Harness, in hub.AdapterInput) (hub.AdapterVerification, error) {
	found, _, err := result[hub.AdapterVerification](ctx, c, call{
		method: http.MethodPost, path: adapterPath(harness, "verify"), body: in, operator: true, wait: hub.MaxAdapterVerify,
	})
	return found, err
}
