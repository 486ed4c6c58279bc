// Package conformance tests the rules that every journal and every store of
// rows must keep. The tests run on any implementation.
//
// An implementation calls TestJournal and TestRows from a test of its own. The
// suites open each store in a folder of its own, close what they open, and never
// look into the folder.
package conformance

import (
	"testing"

	"hubcli/actors/core"
	"hubcli/hub"
)

// Journal is a journal that the suite can close.
type Journal interface {
	core.Journal
	Close() error
}

// Store is a journal whose rows can be read.
type Store interface {
	Journal
	core.Rows
	core.Snapshotter
}

// Writer builds records that follow each other, as the sequencer would.
type Writer struct{ Head core.Head }

// Record returns the next record: one fact, and a message for every draft.
func (w *Writer) Record(drafts ...core.MessageDraft) *core.Record {
	r := &core.Record{
		Seq: w.Head.Seq + 1, Owner: core.Owner{Kind: core.OwnerChannel, Name: "general"},
		HubMS: w.Head.HubMS + 7, Wall: hub.Time(1_700_000_000_000 + w.Head.HubMS),
		FirstMessage: w.Head.Message + 1, MessageCount: len(drafts),
		FirstFence: w.Head.Fence + 1, FenceCount: 1,
		Facts: []core.EncodedFact{{Type: 3, Data: []byte(`{"n":1}`)}},
	}
	for i := range drafts {
		r.Messages = append(r.Messages, drafts[i].Encode(r.FirstMessage+hub.MessageID(i), r.Wall))
	}
	w.Head.Seq, w.Head.HubMS = r.Seq, r.HubMS
	w.Head.Message += hub.MessageID(r.MessageCount)
	w.Head.Fence += hub.Fence(r.FenceCount)
	return r
}

// Post returns the next record, with one public message.
func (w *Writer) Post(channel hub.ChannelName, thread hub.ThreadID, body string) *core.Record {
	return w.Record(core.MessageDraft{
		From: "ann", Channel: channel, Thread: thread, Kind: hub.KindChat, Body: body,
		Authority: hub.AuthorityAgent, Assurance: hub.AssuranceAsserted,
	})
}

func mustAppend(t testing.TB, j Journal, records ...*core.Record) {
	t.Helper()
	if err := j.Append(&core.Group{Records: records}); err != nil {
		t.Fatalf("Append: %v", err)
	}
}

func mustClose(t testing.TB, j Journal) {
	t.Helper()
	if err := j.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
}

// replay returns the records whose numbers are above after.
func replay(t testing.TB, j Journal, after hub.Seq) []*core.Record {
	t.Helper()
	var got []*core.Record
	if err := j.Records(after, func(r *core.Record) error {
		got = append(got, r)
		return nil
	}); err != nil {
		t.Fatalf("Records(%d): %v", after, err)
	}
	return got
}
