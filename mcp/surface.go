package mcp

import (
	"context"
	"slices"
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
	if !b.takeTurn(ctx) {
		return hub.DefaultSurface(harness)
	}
	defer b.endTurn()
	ctx, cancel := context.WithTimeout(ctx, surfaceWait)
	defer cancel()
	set, err := b.link.Base().ToolSurfaces(ctx, harness)
	if err == nil && len(set) == 1 {
		return set[0].Surface
	}
	return hub.DefaultSurface(harness)
}

// few are the tools of the progressive surface.
var few = []string{"hub_search_tools", "hub_describe_tool", "hub_call_tool", "hub_post_message", "hub_poll_messages"}

// listed returns the tools that the client is shown. Where the harness finds tools by a search of its
// own, the hub's is left out. In Claude Code each tool says whether
// the model sees it at once and under which words the search finds it. Tools that stand
// apart are listed only there, because elsewhere each would take its place in the context.
func (b *bridge) listed(ctx context.Context, all []*sdk.Tool) []*sdk.Tool {
	progressive := b.surface(ctx) == hub.SurfaceProgressive
	harness := b.link.Harness()
	searches := harness.Facts().ToolSearch != ""
	list := []*sdk.Tool{}
	for _, declared := range all {
		row, ok := find(declared.Name)
		if !ok || progressive && !slices.Contains(few, row.name) || !progressive && searches && row.meta {
			continue
		}
		if row.apart && !searches { // there the search of the hub finds it, here that of the harness
			continue
		}
		whole := *declared
		whole.InputSchema = row.form().input
		if declared = &whole; harness == hub.HarnessClaudeCode {
			declared = hinted(*declared, &row)
		}
		list = append(list, declared)
	}
	return list
}

// hinted returns a tool with what Claude Code's search of tools reads: the words of hints, or else
// the title.
func hinted(declared sdk.Tool, row *tool) *sdk.Tool {
	declared.Meta = sdk.Meta{}
	hint := hints()[row.name]
	if hint == "" && !row.meta {
		hint = row.title
	}
	if hint != "" {
		declared.Meta["anthropic/searchHint"] = hint
	}
	if row.preload {
		declared.Meta["anthropic/alwaysLoad"] = true
	}
	return &declared
}
