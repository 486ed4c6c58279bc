package httpapi

import (
	"crypto/hmac"
	"crypto/sha256"

	"hubcli/api"
	"hubcli/hub"
)

func connectionHandlers() handlers {
	return handlers{
		"listProviders":       listProviders,
		"listConnections":     listConnections,
		"createConnection":    createConnection,
		"updateConnection":    updateConnection,
		"setConnectionKey":    setConnectionKey,
		"verifyConnection":    verifyConnection,
		"getConnectionModels": getConnectionModels,
		"deleteConnection":    deleteConnection,
	}
}

func listProviders(c *call) (reply, error) {
	rows, err := c.service().Providers(c.context())
	return reply{result: list(rows)}, err
}

func listConnections(c *call) (reply, error) {
	rows, err := c.service().Connections(c.context())
	return reply{result: list(rows)}, err
}

func createConnection(c *call) (reply, error) {
	var in hub.ConnectionInput
	return writeRow(c, &in, nil, salted(c, api.ValidateConnection), c.service().CreateConnection, created)
}

func updateConnection(c *call) (reply, error) {
	var in hub.ConnectionUpdate
	return writeRow(c, &in, nil, anyone(api.ValidateConnectionUpdate), of(c.param, c.service().UpdateConnection), changed)
}

func setConnectionKey(c *call) (reply, error) {
	var in hub.ConnectionKeyInput
	return writeRow(c, &in, nil, salted(c, api.ValidateConnectionKey), of(c.param, c.service().SetConnectionKey), changed)
}

func verifyConnection(c *call) (reply, error) {
	out, err := c.service().VerifyConnection(c.context(), c.param)
	return changed(out), err
}

func getConnectionModels(c *call) (reply, error) {
	return oneRow(c.service().ConnectionModels(c.context(), c.param))
}

func deleteConnection(c *call) (reply, error) {
	out, err := c.service().DeleteConnection(c.context(), c.param)
	return changed(out), err
}

// salted salts the hash of a body with a key in it before a check. The hash is stored with
// the answer to a repeated call, and nobody shall try keys against it.
func salted[In any](c *call, check func(*In) error) func(*In, bool) error {
	return func(in *In, _ bool) error {
		c.saltHash()
		return check(in)
	}
}

func (c *call) saltHash() {
	if c.caller.Idempotency == nil {
		return
	}
	h := hmac.New(sha256.New, []byte(c.server.config.OperatorToken))
	h.Write(c.key.Hash[:])
	copy(c.key.Hash[:], h.Sum(nil))
}
