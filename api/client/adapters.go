package client

import (
	"context"
	"net/url"
	"sync"

	"hubcli/hub"
)

var _ hub.Adapters = (*Client)(nil)

// adapterOperations holds two operations for each action: the one that previews
// it and the one that executes it.
var adapterOperations = sync.OnceValue(func() map[hub.AdapterAction][2]string {
	return map[hub.AdapterAction][2]string{
		hub.AdapterInstall:   {"previewAdapter", "installAdapter"},
		hub.AdapterUninstall: {"previewAdapterUninstall", "uninstallAdapter"},
		hub.AdapterRepair:    {"", "repairAdapter"}, // its plan is in the answer that asks for confirmation
	}
})

// Adapters lists all harnesses.
func (c *Client) Adapters(ctx context.Context, q hub.AdapterQuery) ([]hub.Adapter, error) {
	return get[[]hub.Adapter](ctx, c, to("listAdapters"), adapterQuery(q))
}

// Adapter returns one.
func (c *Client) Adapter(ctx context.Context, harness hub.Harness, q hub.AdapterQuery) (hub.Adapter, error) {
	return get[hub.Adapter](ctx, c, at("getAdapter", harness), adapterQuery(q))
}

func adapterQuery(q hub.AdapterQuery) url.Values {
	if q.SearchPath == "" {
		return nil
	}
	return url.Values{"search_path": {q.SearchPath}}
}

// PreviewAdapter says what installing or uninstalling would do. It carries the
// operator token.
func (c *Client) PreviewAdapter(ctx context.Context, harness hub.Harness, action hub.AdapterAction, in hub.AdapterInput) (hub.AdapterPlan, error) {
	preview := adapterOperations()[action][0]
	if preview == "" {
		return hub.AdapterPlan{}, hub.Errorf(hub.CodeInvalid, "%s has no preview of its own", action)
	}
	return change[hub.AdapterPlan](ctx, c, at(preview, harness), in)
}

// ChangeAdapter executes the confirmed plan. It carries the operator token.
func (c *Client) ChangeAdapter(ctx context.Context, harness hub.Harness, action hub.AdapterAction, in hub.AdapterInput) (hub.AdapterResult, error) {
	return change[hub.AdapterResult](ctx, c, at(adapterOperations()[action][1], harness), in)
}
