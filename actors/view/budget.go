package view

import (
	"context"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/answers"
)

// Memory of the answers that are under way, in bytes of JSON.
const (
	pageMemory = 64 << 20 // of the answers with many rows
	// answerMemory is for all answers, also for those with one long row or content, which
	// cannot be made shorter. What would go beyond it is refused.
	answerMemory = 2 * pageMemory
	// smallPage is what a call gets in any case, and what is not counted.
	smallPage = answers.Small
)

// PageShare is what one answer may take of the memory for pages. The less there is left, the
// shorter is a page: the rest of the rows comes with the next call.
type PageShare struct {
	memory   *answers.Memory
	agent    hub.AgentID
	reserved int64 // 0: only what is not counted
}

// SharePage reserves memory for one answer. The caller calls Used when its rows are there.
func (v *View) SharePage(ctx context.Context) PageShare {
	s := PageShare{memory: &v.pages, agent: answers.Of(hub.CallerOf(ctx))}
	n := min(MaxPageBytes, v.pages.Left(s.agent, pageMemory)/4)
	if n > smallPage {
		s.reserved = n
		v.pages.Add(s.agent, n)
	}
	return s
}

// Bytes is the longest that the rows of the answer may be; the last of them may be longer.
func (s PageShare) Bytes() int { return int(max(s.reserved, smallPage)) }

// Used says how long the rows have become, in bytes. They count until the answer is over. A
// caller without an end keeps nothing: it is the hub itself. Error: overloaded, and then
// nothing is kept, and the rows must not be sent.
func (s PageShare) Used(ctx context.Context, bytes int) error {
	answer, kept := hub.AnswerOf(ctx), int64(bytes)
	if kept <= smallPage || answer.Done() == nil {
		kept = 0
	}
	more := kept - s.reserved
	switch {
	case more <= 0 || s.agent == hub.AgentOperator:
		s.memory.Add(s.agent, more)
	case !s.memory.Take(s.agent, more, answerMemory):
		s.memory.Add(s.agent, -s.reserved)
		return answers.Full(answerMemory)
	}
	if kept > 0 {
		context.AfterFunc(answer, func() { s.memory.Add(s.agent, -kept) })
	}
	return nil
}

// Share counts an answer of one row, or of content, of a length in bytes until the answer is
// over. Error: overloaded.
func (v *View) Share(ctx context.Context, bytes int) error {
	return PageShare{memory: &v.pages, agent: answers.Of(hub.CallerOf(ctx))}.Used(ctx, bytes)
}

// ReadPage is Read for the answer to a call; see hub.AnswerOf. Errors: those of Read, and
// overloaded.
func (v *View) ReadPage(ctx context.Context, f *Feed, since, head hub.MessageID) (rows []*core.StoredMessage, examined hub.MessageID, err error) {
	if since >= head {
		return nil, since, nil
	}
	share, used := v.SharePage(ctx), 0
	defer func() { // also where a read panics
		if full := share.Used(ctx, used); full != nil {
			rows, examined, err = nil, since, full
		}
	}()
	within := *f
	within.bytes = share.Bytes()
	if rows, examined, err = v.Read(&within, since, head); !f.All {
		rows = v.HandOut(ctx, rows)
	}
	for _, m := range rows {
		used += len(m.JSON)
	}
	return rows, examined, err
}
