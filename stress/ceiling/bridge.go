package ceiling

import (
	"context"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// echoed is both what the ceiling's tool takes and what it answers.
type echoed struct {
	Body string `json:"body"`
}

// ServeBridge serves the Model Context Protocol on standard input and output,
// with one tool, echo, and nothing behind it: what the SDK costs that the bridge
// is made with.
func ServeBridge(ctx context.Context) error {
	server := mcp.NewServer(&mcp.Implementation{Name: "ceiling", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "echo", Description: "Answers what it is given."},
		func(_ context.Context, _ *mcp.CallToolRequest, in echoed) (*mcp.CallToolResult, echoed, error) {
			return nil, in, nil
		})
	if err := server.Run(ctx, &mcp.StdioTransport{}); err != nil && ctx.Err() == nil {
		return fmt.Errorf("ceiling: %w", err)
	}
	return nil
}
