package capsules

import (
	"testing"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/require"
)

// threeMessages is a snapshot with three messages.
type threeMessages struct{ core.Snapshot }

func (threeMessages) Messages(_ core.Scope, _, _ hub.MessageID, _ bool, fn func(*core.StoredMessage) bool) error {
	for id := range hub.MessageID(3) {
		if !fn(&core.StoredMessage{ID: id + 1}) {
			break
		}
	}
	return nil
}

// TestExportLetsOthersGoFirst: before each message.
func TestExportLetsOthersGoFirst(t *testing.T) {
	rests, seen := 0, 0
	s := Resting(threeMessages{}, func() { rests++ })
	require.NoError(t, s.Messages(core.Scope{}, 0, 9, false, func(*core.StoredMessage) bool {
		seen++
		return seen < 2
	}))
	if rests != 2 || seen != 2 {
		t.Errorf("it rested %d times for %d messages, of which 2 were wanted", rests, seen)
	}
}
