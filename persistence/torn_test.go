package persistence

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hubcli/persistence/badgerfile"
	"hubcli/persistence/storedir"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/persistence/conformance"
)

// TestTransactionThatWasNeverSynced: a disk that failed has the last transaction in the write-ahead file, and the values of it
// never came to the disk. It is dropped, once, and the doctor agrees. What looks like anything else is damage.
func TestTransactionThatWasNeverSynced(t *testing.T) {
	const before = 6
	s := openStore(t, filepath.Join(t.TempDir(), "store"))
	post(t, s, before)
	w := &conformance.Writer{Head: s.durable}
	large := func() {
		t.Helper()
		require.NoError(t, s.Append(&core.Group{Records: []*core.Record{w.Post("general", "t", strings.Repeat("x ", 6*badgerfile.PageSize))}}))
	}
	head := mustRead(t, filepath.Join(s.dir, storedir.NameHead)) // it does not know of a commit that fails
	at := len(bytes.TrimRight(mustRead(t, inBadger(s.dir, "000001.vlog")), "\x00"))
	large()
	end := len(bytes.TrimRight(mustRead(t, inBadger(s.dir, "000001.vlog")), "\x00"))
	killed := filepath.Join(t.TempDir(), "killed")
	copyFolder(t, s.dir, killed)
	large()
	later := filepath.Join(t.TempDir(), "later")
	copyFolder(t, s.dir, later)
	require.NoError(t, s.Close())
	page := (at/badgerfile.PageSize + 2) * badgerfile.PageSize // within the values of the large message
	if end-page < badgerfile.PageSize {
		t.Fatalf("the values are at %d to %d", at, end)
	}

	for name, c := range map[string]struct {
		from   string
		change func(log []byte)
		whole  hub.MessageID // messages that are there; 0: the store is refused
		told   bool          // somebody was told that the last one is stored
	}{
		"blank from a page on":            {killed, func(b []byte) { clear(b[page:]) }, before, false},
		"blank from its first byte on":    {killed, func(b []byte) { clear(b[at:]) }, before, false},
		"nothing is missing":              {killed, func([]byte) {}, before + 1, false},
		"blank, and it was acknowledged":  {killed, func(b []byte) { clear(b[page:]) }, 0, true},
		"a bit is another":                {killed, func(b []byte) { b[page] ^= 1 }, 0, false},
		"blank within a page":             {killed, func(b []byte) { clear(b[page+100 : page+200]) }, 0, false},
		"blank, and written again":        {killed, func(b []byte) { clear(b[page : page+badgerfile.PageSize]) }, 0, false},
		"values of two are missing":       {later, func(b []byte) { clear(b[page:]) }, 0, false},
		"an earlier one is missing alone": {later, func(b []byte) { clear(b[page:end]) }, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "s")
			copyFolder(t, c.from, dir)
			_ = os.RemoveAll(inBadger(dir, "LOCK"))
			if !c.told {
				put(t, dir, storedir.NameHead, string(head))
			}
			log := mustRead(t, inBadger(dir, "000001.vlog"))
			c.change(log)
			require.NoError(t, os.WriteFile(inBadger(dir, "000001.vlog"), log, 0o600))
			found, err := Examine(dir)
			require.NoError(t, err)
			if (found.Refused == nil && len(found.Damaged) == 0) != (c.whole > 0) {
				t.Errorf("the doctor says %+v", found)
			}
			if c.whole == 0 {
				var refusal *storedir.StartError
				if _, err := Open(dir, Options{}); !errors.As(err, &refusal) {
					t.Errorf("it is opened with %v", err)
				}
				return
			}
			for start := range 2 {
				s, lines := openLogged(t, dir)
				if told := strings.Contains(lines, "was dropped"); told != (start == 0 && c.whole == before) {
					t.Errorf("start %d tells\n%s", start, lines)
				}
				if head := s.Head().Message; head != c.whole+hub.MessageID(start) {
					t.Errorf("start %d: the history ends at %d, want %d", start, head, c.whole)
				}
				if start == 0 {
					post(t, s, 1)
				}
				if err := checkReads(s, c.whole+1); err != nil {
					t.Error(err)
				}
				require.NoError(t, s.Close())
			}
		})
	}
}
