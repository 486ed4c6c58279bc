package view

import (
	"context"
	"sync/atomic"

	"hubcli/actors/core"
	"hubcli/hub"
)

// Memory of the answers with many rows that are under way, in bytes of JSON.
const (
	pageMemory = 64 << 20 // of all of them
	// smallPage is what a call gets in any case, and what is not counted.
	smallPage = 64 << 10
)

// pageBudget shares memory among the answers that are under way. A client that does not
// read its answer keeps the rows in memory for as long as the hub bears it; thousands of
// them would keep gigabytes. The less there is left, the shorter is a page, and nobody
// waits: the rest of the rows comes with the next call.
type pageBudget struct {
	used atomic.Int64
}

// reserve returns how many bytes an answer may have.
func (b *pageBudget) reserve() int {
	for {
		used := b.used.Load()
		n := min(MaxPageBytes, (pageMemory-used)/4)
		if n <= smallPage {
			return smallPage
		}
		if b.used.CompareAndSwap(used, used+n) {
			return int(n)
		}
	}
}

// settle gives back what was reserved and not used. The rest comes back when ctx ends, with
// the answer. A caller without an end keeps nothing: it is the hub itself.
func (b *pageBudget) settle(ctx context.Context, reserved, used int) {
	if reserved == smallPage {
		return
	}
	kept := min(used, reserved) // one row may be larger
	if used <= smallPage || ctx.Done() == nil {
		kept = 0
	}
	b.used.Add(int64(kept - reserved))
	if kept > 0 {
		context.AfterFunc(ctx, func() { b.used.Add(-int64(kept)) })
	}
}

// ReadPage is Read for the answer to a call, whose context ends with its answer.
func (v *View) ReadPage(ctx context.Context, f *Feed, since, head hub.MessageID) ([]*core.StoredMessage, hub.MessageID, error) {
	if since >= head {
		return nil, since, nil
	}
	within := *f
	within.bytes = v.pages.reserve()
	rows, examined, err := v.Read(&within, since, head)
	used := 0
	for _, m := range rows {
		used += len(m.JSON)
	}
	v.pages.settle(ctx, within.bytes, used)
	return rows, examined, err
}
