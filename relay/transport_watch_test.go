package relay

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// TestTransportHears: an answer wakes the call that waits for it and no other,
// also after the folder was removed and made again.
func TestTransportHears(t *testing.T) {
	answers := filepath.Join(t.TempDir(), "answers")
	tr, err := NewTransport(TransportConfig{Agent: "a"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tr.CloseIdleConnections)
	watching := func() bool {
		tr.mu.Lock()
		defer tr.mu.Unlock()
		return tr.watch != nil
	}
	for range 3 {
		if err := os.Mkdir(answers, 0o700); err != nil {
			t.Fatal(err)
		}
		tr.listen(answers)
		if tr.unwatched {
			t.Skip("the system gives no more watches")
		}
		mine, err := tr.enter(context.Background(), "mine")
		if err != nil {
			t.Fatal(err)
		}
		other, err := tr.enter(context.Background(), "other")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(answers, "mine.json"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
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
		if err := os.RemoveAll(answers); err != nil {
			t.Fatal(err)
		}
		for deadline := time.Now().Add(patience); watching(); time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("the watch of a folder that is gone is kept")
			}
		}
	}
}

// TestTransportClosesAfterItsCalls: the watch that is closed while calls wait
// ends with the last of them.
func TestTransportClosesAfterItsCalls(t *testing.T) {
	before := goleak.IgnoreCurrent()
	tr, err := NewTransport(TransportConfig{Agent: "a"})
	if err != nil {
		t.Fatal(err)
	}
	one, err := tr.enter(t.Context(), "one")
	if err != nil {
		t.Fatal(err)
	}
	other, err := tr.enter(t.Context(), "other")
	if err != nil {
		t.Fatal(err)
	}
	tr.listen(t.TempDir())
	if tr.unwatched {
		t.Skip("the system gives no more watches")
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
