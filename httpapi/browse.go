package httpapi

import (
	"hubcli/api"
	"hubcli/hub"
)

func browseHandlers() handlers {
	return handlers{
		"browse":    browse,
		"allowHost": allowHost,
	}
}

func browse(c *call) (reply, error) {
	var in hub.BrowseInput
	c.parks(hub.BrowseStepMax)
	return writeRow(c, &in, &in.AgentID, api.ValidateBrowse, of(hub.RoomID(c.param), c.service().Browse), func(out hub.BrowsePage) reply {
		return reply{result: out}
	})
}

func allowHost(c *call) (reply, error) {
	var in hub.AllowHostInput
	return writeRow(c, &in, nil, anyone(api.ValidateAllowHost), of(hub.RoomID(c.param), c.service().AllowHost), changed)
}
