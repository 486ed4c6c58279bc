package view

import (
	"context"
	"sync/atomic"

	"hubcli/actors/core"
	"hubcli/hub"
)

// Memory of the answers that are under way, in bytes of JSON.
const (
	pageMemory = 64 << 20 // of the answers with many rows
	// answerMemory is for all answers, also for those with one long row or content, which
	// cannot be made shorter. What would go beyond it is refused.
	answerMemory = 2 * pageMemory
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

// settle changes what was reserved to what was used, which one long row can make more. The
// rest comes back when ctx ends, with the answer. A caller without an end keeps nothing: it
// is the hub itself. Error: overloaded, and then nothing is kept.
func (b *pageBudget) settle(ctx context.Context, reserved, used int) error {
	if reserved == smallPage {
		reserved = 0
	}
	kept := used
	if used <= smallPage || ctx.Done() == nil {
		kept = 0
	}
	if all := b.used.Add(int64(kept - reserved)); kept > reserved && all > answerMemory {
		b.used.Add(-int64(kept))
		return errAnswersFull()
	}
	if kept > 0 {
		context.AfterFunc(ctx, func() { b.used.Add(-int64(kept)) })
	}
	return nil
}

func errAnswersFull() error {
	return hub.NewError(hub.CodeOverloaded, "the answers that clients have not read yet take all the memory that there is for answers").
		With("limit", answerMemory).WithRetryAfter(1).
		WithFix("send the same call again after the time in Retry-After, and read your answers as they come")
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

// Bytes is the longest that the rows of the answer may be; the last of them may be longer.
func (s PageShare) Bytes() int { return s.reserved }

// Used says how long the rows have become, in bytes. They count until ctx ends, which is
// to be the end of the answer. Error: overloaded, and then the rows must not be sent.
func (s PageShare) Used(ctx context.Context, bytes int) error {
	return s.budget.settle(ctx, s.reserved, bytes)
}

// Share counts an answer of one row, or of content, of a length in bytes until ctx ends.
// Error: overloaded.
func (v *View) Share(ctx context.Context, bytes int) error {
	return v.pages.settle(ctx, 0, bytes)
}

// ReadPage is Read for the answer to a call, whose context ends with its answer. Errors:
// those of Read, and overloaded.
func (v *View) ReadPage(ctx context.Context, f *Feed, since, head hub.MessageID) (rows []*core.StoredMessage, examined hub.MessageID, err error) {
	if since >= head {
		return nil, since, nil
	}
	share, used := v.SharePage(), 0
	defer func() { // also where a read panics
		if full := share.Used(ctx, used); full != nil {
			rows, examined, err = nil, since, full
		}
	}()
	within := *f
	within.bytes = share.Bytes()
	rows, examined, err = v.Read(&within, since, head)
	for _, m := range rows {
		used += len(m.JSON)
	}
	return rows, examined, err
}
