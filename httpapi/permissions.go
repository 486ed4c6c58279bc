package httpapi

import (
	"context"

	"hubcli/api"
	"hubcli/hub"
)

var permissionHandlers = handlers{
	"getPermissions":    getPermissions,
	"setPermissions":    putPermissions,
	"requestPermission": requestPermission,
	"awaitPermission":   awaitPermission,
}

func getPermissions(c *call) (reply, error) { return oneRow(c.service().PermissionPolicy(c.context())) }

func putPermissions(c *call) (reply, error) {
	var in hub.PermissionPolicyInput
	return writeRow(c, &in, nil, anyone(api.ValidatePermissionPolicy), c.service().SetPermissionPolicy, changed)
}

func requestPermission(c *call) (reply, error) {
	var in hub.PermissionInput
	return writeRow(c, &in, &in.AgentID, anyone(api.ValidatePermission), c.service().RequestPermission, plain[hub.Permission])
}

func awaitPermission(c *call) (reply, error) {
	var in hub.PermissionWaitInput
	await := func(ctx context.Context, in hub.PermissionWaitInput) (hub.Permission, error) {
		if err := c.waits(&in.WaitSec); err != nil {
			return hub.Permission{}, err
		}
		return c.service().AwaitPermission(ctx, hub.AskID(c.param), in)
	}
	return writeRow(c, &in, &in.AgentID, anyone(api.ValidatePermissionWait), await, plain[hub.Permission])
}
