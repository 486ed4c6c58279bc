package httpapi

import (
	"hubcli/api"
	"hubcli/hub"
)

func muteHandlers() handlers {
	return handlers{
		"listMutes": listMutes,
		"mute":      mute,
		"endMute":   endMute,
	}
}

func listMutes(c *call) (reply, error) {
	if err := c.query().Err(); err != nil {
		return reply{}, err
	}
	rows, err := c.service().Mutes(c.context())
	return reply{result: list(rows)}, err
}

func mute(c *call) (reply, error) {
	var in hub.MuteInput
	return writeRow(c, &in, nil, anyone(api.ValidateMute), c.service().Mute, changed)
}

func endMute(c *call) (reply, error) {
	var in hub.MuteEndInput
	return writeRow(c, &in, nil, anyone(api.ValidateMuteEnd), c.service().EndMute, changed)
}
