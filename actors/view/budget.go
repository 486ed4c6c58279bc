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

// PageShare is what one answer may take of the memory for pages.
type PageShare struct {
	budget   *pageBudget
	reserved int
}

// SharePage reserves memory for one answer. The caller calls Used when its rows are there.
func (v *View) SharePage() PageShare {
	return PageShare{budget: &v.pages, reserved: v.pages.reserve()}
}

// Bytes is the longest that the rows of the answer may be.
func (s PageShare) Bytes() int { return s.reserved }

// Used says how long the rows have become, in bytes. They count until ctx ends, which is
// to be the end of the answer.
func (s PageShare) Used(ctx context.Context, bytes int) { s.budget.settle(ctx, s.reserved, bytes) }

// ReadPage is Read for the answer to a call, whose context ends with its answer.
func (v *View) ReadPage(ctx context.Context, f *Feed, since, head hub.MessageID) ([]*core.StoredMessage, hub.MessageID, error) {
	if since >= head {
		return nil, since, nil
	}
	share, used := v.SharePage(), 0
	defer func() { share.Used(ctx, used) }() // also where a read panics
	within := *f
	within.bytes = share.Bytes()
	rows, examined, err := v.Read(&within, since, head)
	for _, m := range rows {
		used += len(m.JSON)
	}
	return rows, examined, err
}
