package relay

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hubcli/internal/require"
)

// TestTransportHears: an answer wakes the call that waits for it and no other,
// also after the folder was removed and made again.
func TestTransportHears(t *testing.T) {
	answers := filepath.Join(t.TempDir(), "answers")
	tr, err := NewTransport(TransportConfig{Agent: "a"})
	require.NoError(t, err)
	t.Cleanup(tr.CloseIdleConnections)
	watching := func() bool {
		tr.mu.Lock()
		defer tr.mu.Unlock()
		return tr.watch != nil
	}
	for range 3 {
		require.NoError(t, os.Mkdir(answers, 0o700))
		tr.listen(answers)
		if tr.unwatched {
			t.Skip("needs a watch, and the system gives no more")
		}
		mine, err := tr.enter(context.Background(), "mine")
		require.NoError(t, err)
		other, err := tr.enter(context.Background(), "other")
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(answers, "mine.json"), nil, 0o600))
		select {
		case <-mine.notified:
		case <-time.After(patience):
			t.Fatal("the answer has woken nobody")
		}
		if len(other.notified) != 0 {
			t.Error("the answer has woken another call")
		}
		tr.leave("mine", mine)
		tr.leave("other", other)
		require.NoError(t, os.RemoveAll(answers))
		require.Eventually(t, "the end of the watch of a folder that is gone", func() bool { return !watching() })
	}
}

// TestTransportClosesAfterItsCalls: the watch that is closed while calls wait
// ends with the last of them.
func TestTransportClosesAfterItsCalls(t *testing.T) {
	before := goleak.IgnoreCurrent()
	tr, err := NewTransport(TransportConfig{Agent: "a"})
	require.NoError(t, err)
	one, err := tr.enter(t.Context(), "one")
	require.NoError(t, err)
	other, err := tr.enter(t.Context(), "other")
	require.NoError(t, err)
	tr.listen(t.TempDir())
	if tr.unwatched {
		t.Skip("needs a watch, and the system gives no more")
	}
	tr.CloseIdleConnections()
	tr.leave("one", one)
	if tr.watch == nil {
		t.Error("the watch has ended while a call waits")
	}
	tr.leave("other", other)
	if tr.watch != nil || tr.closing {
		t.Error("the watch has not ended with the last call")
	}
	if err := goleak.Find(before); err != nil {
		t.Error(err)
	}
}
