package httpapi

import (
	"hubcli/api"
	"hubcli/hub"
)

var notifyHandlers = handlers{
	"getNotify":  getNotify,
	"setNotify":  putNotify,
	"testNotify": testNotify,
}

func getNotify(c *call) (reply, error) { return oneRow(c.service().Notify(c.context())) }

func putNotify(c *call) (reply, error) {
	var in hub.NotifyInput
	return writeRow(c, &in, nil, anyone(api.ValidateNotify), c.service().SetNotify, changed)
}

func testNotify(c *call) (reply, error) { return oneRow(c.service().TestNotify(c.context())) }
