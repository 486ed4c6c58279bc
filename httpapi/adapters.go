package httpapi

import (
	"context"

	"hubcli/api"
	"hubcli/hub"
)

func adapterHandlers() handlers {
	return handlers{
		"listAdapters":            listAdapters,
		"getAdapter":              getAdapter,
		"installAdapter":          changeAdapter(hub.AdapterInstall),
		"previewAdapter":          previewAdapter(hub.AdapterInstall),
		"previewAdapterUninstall": previewAdapter(hub.AdapterUninstall),
		"repairAdapter":           changeAdapter(hub.AdapterRepair),
		"uninstallAdapter":        changeAdapter(hub.AdapterUninstall),
		"verifyAdapter":           verifyAdapter,
	}
}

func listAdapters(c *call) (reply, error) {
	q, err := c.adapterQuery()
	if err != nil {
		return reply{}, err
	}
	rows, err := c.server.config.Adapters.Adapters(c.context(), q)
	return reply{result: list(rows)}, err
}

func getAdapter(c *call) (reply, error) {
	harness, err := c.harness()
	if err != nil {
		return reply{}, err
	}
	q, err := c.adapterQuery()
	if err != nil {
		return reply{}, err
	}
	row, err := c.server.config.Adapters.Adapter(c.context(), harness, q)
	return reply{result: row}, err
}

func previewAdapter(action hub.AdapterAction) handler {
	return func(c *call) (reply, error) {
		harness, in, err := c.adapterInput()
		if err != nil {
			return reply{}, err
		}
		c.parks(hub.MaxAdapterChange)
		plan, err := c.server.config.Adapters.PreviewAdapter(c.context(), harness, action, in)
		return reply{result: plan}, err
	}
}

func changeAdapter(action hub.AdapterAction) handler {
	return func(c *call) (reply, error) {
		harness, in, err := c.adapterInput()
		if err != nil {
			return reply{}, err
		}
		c.parks(hub.MaxAdapterChange)
		return once(c, func() (hub.AdapterResult, error) {
			return c.server.config.Adapters.ChangeAdapter(c.context(), harness, action, in)
		})
	}
}

func verifyAdapter(c *call) (reply, error) {
	harness, in, err := c.adapterInput()
	if err != nil {
		return reply{}, err
	}
	c.parks(hub.MaxAdapterVerify)
	found, err := c.server.config.Adapters.VerifyAdapter(c.context(), harness, in)
	return reply{result: found}, err
}

// adapterQuery reads how harnesses are looked for. A caller that names folders learns which
// programs are in them. So the hub's own PATH counts for callers that are not of the hub's user.
func (c *call) adapterQuery() (hub.AdapterQuery, error) {
	query := c.query()
	q := hub.AdapterQuery{SearchPath: query.Text("search_path")}
	query.Keep(api.CheckSearchPath("search_path", q.SearchPath))
	if err := query.Err(); err != nil {
		return hub.AdapterQuery{}, err
	}
	if !c.local || c.caller.User != "" || c.caller.Relay != "" {
		return hub.AdapterQuery{}, nil
	}
	return q, nil
}

// harness is the one that the path names.
func (c *call) harness() (hub.Harness, error) {
	if h, ok := hub.ParseHarness(c.param); ok {
		return h, nil
	}
	return "", adapterNotFound()
}

func adapterNotFound() *hub.Error {
	return hub.NewError(hub.CodeAdapterNotFound, "there is no adapter for a harness of that name")
}

// adapterInput reads the input of a change. The change writes the user's own
// files, so another machine may not make it, whatever token it has.
func (c *call) adapterInput() (hub.Harness, hub.AdapterInput, error) {
	var in hub.AdapterInput
	if !c.local {
		return "", in, hub.NewError(hub.CodeOperatorRequired, "adapters are changed from the hub's own machine only").
			WithFix("make the call on the machine of the hub")
	}
	harness, err := c.harness()
	if err == nil {
		err = c.decode(&in)
	}
	if err == nil {
		err = api.ValidateAdapter(&in)
	}
	return harness, in, err
}

// noAdapters serves a hub without adapters.
type noAdapters struct{}

func (noAdapters) Adapters(context.Context, hub.AdapterQuery) ([]hub.Adapter, error) { return nil, nil }

func (noAdapters) Adapter(context.Context, hub.Harness, hub.AdapterQuery) (hub.Adapter, error) {
	return hub.Adapter{}, adapterNotFound()
}

func (noAdapters) PreviewAdapter(context.Context, hub.Harness, hub.AdapterAction, hub.AdapterInput) (hub.AdapterPlan, error) {
	return hub.AdapterPlan{}, adapterNotFound()
}

func (noAdapters) ChangeAdapter(context.Context, hub.Harness, hub.AdapterAction, hub.AdapterInput) (hub.AdapterResult, error) {
	return hub.AdapterResult{}, adapterNotFound()
}

func (noAdapters) VerifyAdapter(context.Context, hub.Harness, hub.AdapterInput) (hub.AdapterVerification, error) {
	return hub.AdapterVerification{}, adapterNotFound()
}
