package engine

import (
	"errors"
	"testing"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/require"
)

// An entry that its owner still fills when the store fails is answered once, by the
// owner's call of publish.
func TestUnpublishedEntryIsAnsweredByItsOwner(t *testing.T) {
	q := newSequencer(core.Head{})
	answers := 0
	reserve := func() *entry {
		s := &entry{record: newRecord(), deliver: func(err error) {
			if !errors.Is(err, &hub.Error{Code: hub.CodeStoreFailed}) {
				t.Error(err)
			}
			answers++
		}}
		require.NoError(t, q.reserve(s, 0, nowAt(1), 0, 0, core.SessionProof{}))
		return s
	}
	ready, unpublished := reserve(), reserve()
	q.publish(ready)
	left := q.fail(hub.NewError(hub.CodeStoreFailed, "x"))
	if len(left) != 1 || left[0] != ready || answers != 0 {
		t.Fatalf("%d entries left to the writer, %d answered", len(left), answers)
	}
	q.publish(unpublished)
	if answers != 1 {
		t.Errorf("the unpublished entry was answered %d times", answers)
	}
	if err := q.reserve(&entry{record: newRecord()}, 0, nowAt(1), 0, 0, core.SessionProof{}); !errors.Is(err, &hub.Error{Code: hub.CodeStoreFailed}) {
		t.Errorf("numbered after the failure: %v", err)
	}
}

// A turn that began before a withdrawal is refused after it.
func TestTurnOfAnEpochBefore(t *testing.T) {
	q := newSequencer(core.Head{})
	q.withdraw(nil)
	if err := q.reserve(&entry{record: newRecord()}, 0, nowAt(1), 1, 0, core.SessionProof{}); !errors.Is(err, &hub.Error{Code: hub.CodeStorageFull}) {
		t.Errorf("numbered: %v", err)
	}
	q.after(0, 0, func(err error) {
		if !errors.Is(err, &hub.Error{Code: hub.CodeStorageFull}) {
			t.Errorf("answered: %v", err)
		}
	})
	if err := q.reserve(&entry{record: newRecord()}, 1, nowAt(1), 1, 0, core.SessionProof{}); err != nil || q.head.Seq != 1 {
		t.Errorf("the next turn: %v, at %d", err, q.head.Seq)
	}
}

func newRecord() *core.Record { return &core.Record{} }

func nowAt(hubMS int64) core.Now { return core.Now{HubMS: hubMS, Wall: hub.Time(hubMS)} }
