package mcp

import (
	"context"
	"errors"
	"time"

	"hubcli/internal/pause"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Of noticing that the harness is gone where its end of stdin is not: another
// program may have inherited it.
const (
	parentEvery = 2 * time.Second
	parentPing  = 3 * time.Second
)

// watchParent ends the bridge when the process that has started it is gone and
// nobody answers any more. A starter that ends at once, and leaves stdin to a
// client that lives, is none of that.
func (b *bridge) watchParent(ctx context.Context, end func()) {
	if b.Parent == nil || b.Parent() <= 1 {
		return
	}
	parent := b.Parent()
	go func() {
		for pause.For(ctx, parentEvery) {
			if now := b.Parent(); now != parent {
				if !b.answered(ctx) {
					end()
					return
				}
				parent = now
			}
		}
	}()
}

// answered asks the client whether it is there. What a client of a version without
// this question would say is not known; it counts as there.
func (b *bridge) answered(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, parentPing)
	defer cancel()
	for session := range b.server.Sessions() {
		err := session.Ping(ctx, &sdk.PingParams{})
		return err == nil || !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, sdk.ErrConnectionClosed)
	}
	return false
}
