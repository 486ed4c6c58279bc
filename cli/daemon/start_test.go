package daemon

import (
	"os"
	"path/filepath"
	"testing"
)

// TestOneLockForOneStore: starters of one store wait for each other, those of
// different stores do not.
func TestOneLockForOneStore(t *testing.T) {
	root := t.TempDir()
	m := &Machine{Root: func() (string, error) { return root, nil }}
	first := &starter{Machine: m, Request: Request{Storage: "/one"}}
	if got, err := first.takeLock(); !got || err != nil {
		t.Fatalf("takeLock = %v, %v", got, err)
	}
	if st, err := os.Stat(filepath.Join(root, "run")); err != nil || st.Mode().Perm() != 0o700 {
		t.Errorf("the folder of the locks: %v, %v; want mode 0700", st, err)
	}
	second := &starter{Machine: m, Request: Request{Storage: "/one"}}
	if got, err := second.takeLock(); got || err != nil {
		t.Fatalf("takeLock while it is held = %v, %v", got, err)
	}
	other := &starter{Machine: m, Request: Request{Storage: "/two"}}
	if got, err := other.takeLock(); !got || err != nil {
		t.Fatalf("takeLock of another store = %v, %v", got, err)
	}
	first.release()
	if got, err := second.takeLock(); !got || err != nil {
		t.Fatalf("takeLock after the release = %v, %v", got, err)
	}
	second.release()
	other.release()
}
