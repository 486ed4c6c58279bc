package mcp

import (
	"context"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"hubcli/hub"
)

// surfaceWait is how long the list of tools may wait for the hub's setting. A hub
// that runs answers within some milliseconds; one that is starting does not, and
// harnesses give servers little time to begin.
const surfaceWait = 250 * time.Millisecond

// surface is how many tools the client is shown: what the command line asks for,
// else the hub's setting for the harness, else the default.
func (b *bridge) surface(ctx context.Context) hub.Surface {
	if b.Surface != "" {
		return b.Surface
	}
	harness := b.link.Harness()
	ctx, cancel := context.WithTimeout(ctx, surfaceWait)
	defer cancel()
	set, err := b.link.Base.ToolSurfaces(ctx, harness)
	if err == nil && len(set) == 1 {
		return set[0].Surface
	}
	return hub.DefaultSurface(harness)
}

// shown leaves out what the progressive surface hides.
func shown(all []*sdk.Tool) []*sdk.Tool {
	live := []*sdk.Tool{}
	for _, t := range all {
		if row, ok := find(t.Name); ok && row.live {
			live = append(live, t)
		}
	}
	return live
}
