package forwarder

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hubcli/internal/require"
	"hubcli/relay"
)

// hoard makes an agent's folder that is wide, and deeper than one path can
// name. It returns the number of names in it.
func (b *bench) hoard(wide, deep int) (names int) {
	b.Helper()
	b.put("a", keepName, nil)
	inner, outer := b.path(relay.RequestsDir, "a", "inner"), b.path(relay.RequestsDir, "a", "hoard")
	err := os.Mkdir(inner, 0o700)
	for i := 0; i < deep && err == nil; i++ {
		if err = os.Mkdir(outer, 0o700); err == nil {
			err = os.Rename(inner, filepath.Join(outer, strings.Repeat("d", 100)))
		}
		if err == nil && i < deep-1 {
			err = os.Rename(outer, inner)
		}
	}
	for i := 0; i < wide && err == nil; i++ {
		err = os.WriteFile(filepath.Join(outer, fmt.Sprintf("f%05d", i)), nil, 0o600)
	}
	require.NoError(b, err)
	return wide + deep
}

// rejectedNames counts the names in rejected/, as deep as a path can lead.
func (b *bench) rejectedNames() (n int) {
	b.Helper()
	_ = filepath.WalkDir(b.path(relay.RejectedDir, "a"), func(_ string, _ fs.DirEntry, _ error) error {
		n++
		return nil
	})
	return n - 1
}

// TestHoardIsRemovedInParts: a folder that is too large is removed in parts,
// however deep it is, and no part after the end of ctx.
func TestHoardIsRemovedInParts(t *testing.T) {
	b := newBench(t, "")
	f := b.swept()
	const part = 200
	total := b.hoard(3000, 500)
	ended, end := context.WithCancel(t.Context())
	end()
	f.reject.run = ended
	require.NoError(t, f.reject.move(f.spool, "a", "hoard", "It is a folder."))
	left := b.rejectedNames()
	if err := f.reject.trim(ended, f.spool, manyRemovals); err == nil || b.rejectedNames() != left {
		t.Errorf("files are removed after the end: %v", err)
	}
	for n := 1; ; n++ {
		require.NoError(t, f.reject.trim(t.Context(), f.spool, part))
		now := b.rejectedNames()
		if n == 1 && now < left-part {
			t.Errorf("%d names were removed at once, want %d at most", left-now, part)
		}
		if now == 1 { // the file with the reason is left
			break
		}
		if n > 4*total/part {
			t.Fatalf("after %d times %d of %d names are left", n, now, total)
		}
	}
}

// TestNobodyWaitsForATrim: a file is rejected while others are being removed.
func TestNobodyWaitsForATrim(t *testing.T) {
	b := newBench(t, "")
	f := b.swept()
	f.reject.trimming.Lock()
	defer f.reject.trimming.Unlock()
	b.put("a", "no request", nil)
	require.NoError(t, f.reject.move(f.spool, "a", "no request", "It is none."))
	if n := len(b.names(relay.RejectedDir, "a")); n != 2 {
		t.Errorf("%d files, want it and its reason", n)
	}
}
