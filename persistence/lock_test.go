package persistence

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"hubcli/persistence/storedir"

	"hubcli/internal/require"
)

// A process that finds a store in use learns which process has it and where
// that listens.
func TestTheLockSaysWhoHasIt(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	if held, who, err := storedir.HeldBy(dir); held || who != (storedir.Holder{}) || err != nil {
		t.Errorf("a store that is not there: %v, %+v, %v", held, who, err)
	}
	s, err := Open(dir, Options{Address: "127.0.0.1:7001"})
	require.NoError(t, err)
	want := storedir.Holder{PID: os.Getpid(), Address: "127.0.0.1:7001"}
	if held, who, err := storedir.HeldBy(dir); !held || who != want || err != nil {
		t.Errorf("an open store: %v, %+v, %v, want %+v", held, who, err, want)
	}
	_, err = Open(dir, Options{Address: "127.0.0.1:7002"})
	var start *storedir.StartError
	if !errors.As(err, &start) || start.Kind != storedir.StartLocked || start.Holder != want {
		t.Errorf("a second Open: %v", err)
	}
	require.NoError(t, s.Close())
	// What was written stays, and says nothing any more.
	if held, who, err := storedir.HeldBy(dir); held || who != (storedir.Holder{}) || err != nil {
		t.Errorf("a closed store: %v, %+v, %v", held, who, err)
	}
	s = openStore(t, dir)
	if _, who, _ := storedir.HeldBy(dir); who != (storedir.Holder{PID: os.Getpid()}) {
		t.Errorf("a store that serves nowhere is held by %+v", who)
	}
	_ = s.Close()
}

// What is not as a hub writes it is not believed.
func TestHolderIsAHint(t *testing.T) {
	for text, want := range map[string]storedir.Holder{
		"":                                      {},
		"\n":                                    {},
		"\npid 7\naddress 127.0.0.1:80\n":       {PID: 7, Address: "127.0.0.1:80"},
		"\npid 7\naddress [::]:80\n":            {PID: 7, Address: "[::]:80"},
		"\npid 7\naddress \n":                   {PID: 7, Address: ""},
		"\npid 7\naddress evil.example:1\n":     {PID: 7, Address: ""},
		"\npid 7\naddress 127.0.0.1:0\n":        {PID: 7, Address: ""},
		"\npid 7\naddress 127.0.0.1\n":          {PID: 7, Address: ""},
		"\npid 7\naddress 127.0.0.1:80":         {},
		"\npid -7\naddress 127.0.0.1:80\n":      {},
		"\npid x\naddress 127.0.0.1:80\n":       {},
		"\naddress 127.0.0.1:80\npid 7\n":       {},
		"\npid 7\naddress 127.0.0.1:80\nmore\n": {},
		"\npid 7\naddress 127.0.0.1:80" + strings.Repeat(" ", 300): {},
	} {
		if got := storedir.ReadHolder(strings.NewReader(text)); got != want {
			t.Errorf("%q says %+v, want %+v", text, got, want)
		}
	}
}

// A look at whether a store is in use does not keep a hub from opening it.
func TestLookingDoesNotLockOut(t *testing.T) {
	dir := newStore(t, 1)
	var over atomic.Bool
	var looking sync.WaitGroup
	looking.Go(func() {
		for !over.Load() {
			_, _, _ = storedir.HeldBy(dir)
		}
	})
	for range 1000 { // as Open begins and Close ends
		lock, err := storedir.TakeLock(dir, "")
		if err != nil {
			t.Error(err)
			break
		}
		_ = lock.Close()
	}
	over.Store(true)
	looking.Wait()
}
