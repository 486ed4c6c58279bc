package engine

import (
	"errors"
	"testing"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/require"
)

func fiveAndHundred(core.Head) (seqs, messages int64) { return 5, 100 }

// A gap stands alone in its group, between the records before and behind it.
func TestGapStandsBetweenRecords(t *testing.T) {
	q := newSequencer(core.Head{Seq: 7, Message: 20})
	record := func() *core.Record {
		s := &entry{record: newRecord()}
		require.NoError(t, q.reserve(s, 0, nowAt(1), 1, 0, core.SessionProof{}))
		q.publish(s)
		return s.record
	}
	before := record()
	gap, err := q.passOver(&gapEntry{}, fiveAndHundred, func(error) {})
	require.NoError(t, err)
	behind := record()
	want := core.Gap{FromSeq: before.Seq + 1, UptoSeq: before.Seq + 5, FromMessage: before.FirstMessage + 1, UptoMessage: before.FirstMessage + 100}
	if gap != want || behind.Seq != gap.UptoSeq+1 || behind.FirstMessage != gap.UptoMessage+1 {
		t.Errorf("gap %+v, want %+v; the next record is %d with message %d", gap, want, behind.Seq, behind.FirstMessage)
	}
	for i, want := range []bool{false, true, false} {
		group := q.take(nil, 100, 1<<20)
		if len(group) != 1 || (group[0].gap != nil) != want {
			t.Errorf("group %d has %d entries, and the first is a gap: %v", i, len(group), group[0].gap != nil)
		}
	}
	q.passedOver(&gap)
	if q.DurableSeq() != gap.UptoSeq {
		t.Errorf("durable up to %d, want %d", q.DurableSeq(), gap.UptoSeq)
	}
}

// A gap for which the disk has no room gives its numbers back.
func TestGapIsTakenBack(t *testing.T) {
	q := newSequencer(core.Head{Seq: 7, Message: 20})
	var answer error
	_, err := q.passOver(&gapEntry{}, fiveAndHundred, func(err error) { answer = err })
	require.NoError(t, err)
	left, _, _ := q.withdraw(q.take(nil, 100, 1<<20))
	for _, s := range left {
		s.deliver(s.withdrawn)
	}
	if !errors.Is(answer, &hub.Error{Code: hub.CodeStorageFull}) || q.head.Seq != 7 || q.head.Message != 20 {
		t.Errorf("answered %v, at %+v", answer, q.head)
	}
}
