package httpapi

import (
	"context"
	"slices"

	"hubcli/api"
	"hubcli/hub"
)

func notifyHandlers() handlers {
	return handlers{
		"getNotify":  getNotify,
		"setNotify":  putNotify,
		"testNotify": testNotify,
	}
}

func getNotify(c *call) (reply, error) { return oneRow(c.service().Notify(c.context())) }

func putNotify(c *call) (reply, error) {
	var in hub.NotifyInput
	return writeRow(c, &in, nil, anyone(api.ValidateNotify), func(ctx context.Context, in hub.NotifyInput) (hub.Outcome[hub.Notify], error) {
		if err := c.keepsNotifyProgram(ctx, in.Command); err != nil {
			return hub.Outcome[hub.Notify]{}, err
		}
		return c.service().SetNotify(ctx, in)
	}, changed)
}

// keepsNotifyProgram refuses a pass that names another program than the one that is set. It may
// take the program away.
func (c *call) keepsNotifyProgram(ctx context.Context, command []string) error {
	if c.caller.Pass == "" || len(command) == 0 {
		return nil
	}
	set, err := c.service().Notify(ctx)
	if err != nil || slices.Equal(set.Command, command) {
		return err
	}
	return c.needsSecret("say which program tells of questions")
}

func testNotify(c *call) (reply, error) {
	return once(c, func() (hub.Notified, error) { return c.service().TestNotify(c.context()) })
}
