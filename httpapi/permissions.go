package httpapi

import (
	"context"

	"hubcli/api"
	"hubcli/hub"
)

func permissionHandlers() handlers {
	return handlers{
		"getPermissions":    getPermissions,
		"setPermissions":    putPermissions,
		"requestPermission": requestPermission,
		"awaitPermission":   awaitPermission,
	}
}

func getPermissions(c *call) (reply, error) { return oneRow(c.service().PermissionPolicy(c.context())) }

func putPermissions(c *call) (reply, error) {
	var in hub.PermissionPolicyInput
	return writeRow(c, &in, nil, anyone(api.ValidatePermissionPolicy), c.service().SetPermissionPolicy, changed)
}

func requestPermission(c *call) (reply, error) {
	var in hub.PermissionInput
	c.hashes = true
	return writeRow(c, &in, &in.AgentID, anyone(api.ValidatePermission), c.service().RequestPermission, c.verdict(&in.Nonce))
}

func awaitPermission(c *call) (reply, error) {
	var in hub.PermissionWaitInput
	c.hashes = true
	await := func(ctx context.Context, in hub.PermissionWaitInput) (hub.Permission, error) {
		if err := c.waits(&in.WaitSec); err != nil {
			return hub.Permission{}, err
		}
		return c.service().AwaitPermission(ctx, hub.AskID(c.param), in)
	}
	return writeRow(c, &in, &in.AgentID, anyone(api.ValidatePermissionWait), await, c.verdict(&in.Nonce))
}

// verdict answers with the MAC that the caller has asked for by a nonce.
func (c *call) verdict(nonce *string) func(hub.Permission) reply {
	return func(p hub.Permission) reply {
		if *nonce != "" {
			p.MAC = api.VerdictMAC(string(c.server.operatorToken), *nonce, c.hash, &p)
		}
		return reply{result: p}
	}
}
