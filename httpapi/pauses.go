package httpapi

import (
	"hubcli/api"
	"hubcli/hub"
)

func pauseHandlers() handlers {
	return handlers{
		"listPauses": listPauses,
		"pause":      pause,
		"endPause":   endPause,
	}
}

func listPauses(c *call) (reply, error) {
	if err := c.query().Err(); err != nil {
		return reply{}, err
	}
	rows, err := c.service().Pauses(c.context())
	return reply{result: list(rows)}, err
}

func pause(c *call) (reply, error) {
	var in hub.PauseInput
	return writeRow(c, &in, nil, anyone(api.ValidatePause), c.service().Pause, changed)
}

func endPause(c *call) (reply, error) {
	var in hub.PauseEndInput
	return writeRow(c, &in, nil, anyone(api.ValidatePauseEnd), c.service().EndPause, changed)
}
