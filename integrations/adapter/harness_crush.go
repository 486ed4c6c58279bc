package adapter

import (
	"hubcli/hub"
	"hubcli/integrations/adapter/edit"
)

func crushRow() row {
	return row{
		harness: hub.HarnessCrush,
		folders: []place{"{crush}/"},
		global: &setup{
			mcp:       []piece{server(hub.HarnessCrush, edit.JSON, crushShape, []string{"mcp"}, "{crush}/crush.json")},
			lacking:   lacks("hooks", noTurnHooks, "instructions", perProject),
			followUps: []string{"a crushrc overrides crush.json: see that it does not"},
		},
		project: &setup{
			mcp:       []piece{server(hub.HarnessCrush, edit.JSON, crushShape, []string{"mcp"}, "./.crush.json", "./crush.json")},
			teach:     agentsMD,
			lacking:   lacks("hooks", noTurnHooks),
			warnings:  []string{committed},
			followUps: []string{"a crushrc overrides the file: see that it does not"},
		},
	}
}
