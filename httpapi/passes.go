package httpapi

import (
	"hubcli/api"
	"hubcli/hub"
)

func passHandlers() handlers {
	return handlers{
		"listPasses":     listPasses,
		"createPass":     createPass,
		"createPassCode": createPassCode,
		"endPass":        endPass,
		"provePass":      provePass,
	}
}

// passPrefix begins every pass, and no operator token: that has 43 characters of base64.
const passPrefix = "pass_"

// passHolds returns an error if the call came with a pass that has ended since.
func (c *call) passHolds() error {
	if c.caller.Pass == "" {
		return nil
	}
	return c.server.config.Sessions.PassHolds(c.caller.Pass)
}

func listPasses(c *call) (reply, error) {
	if err := c.query().Err(); err != nil {
		return reply{}, err
	}
	rows, err := c.service().Passes(c.context())
	return reply{result: list(rows)}, err
}

func createPassCode(c *call) (reply, error) {
	if err := c.needsSecret("make codes"); err != nil {
		return reply{}, err
	}
	var in hub.PassCodeInput
	if err := c.decode(&in); err != nil {
		return reply{}, err
	}
	if err := api.ValidatePassCode(&in); err != nil {
		return reply{}, err
	}
	return oneRow(c.service().CreatePassCode(c.context(), in))
}

// createPass is open to all that can reach the hub: a caller with a code was given
// it by the operator. Wrong codes are limited, as those of invites are.
func createPass(c *call) (reply, error) {
	var in hub.PassInput
	if err := c.decode(&in); err != nil {
		return reply{}, err
	}
	if err := api.ValidatePass(&in); err != nil {
		return reply{}, err
	}
	out, err := guess(c, hub.CodeOperatorRequired, func() (hub.Outcome[hub.IssuedPass], error) {
		return c.service().CreatePass(c.context(), in)
	})
	return added(out), err
}

func endPass(c *call) (reply, error) {
	var in struct{}
	if err := c.decode(&in); err != nil {
		return reply{}, err
	}
	out, err := c.service().EndPass(c.context(), hub.PassID(c.param))
	return changed(out), err
}
