package persistence

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"hubcli/persistence/badgerfile"
	"hubcli/persistence/storedir"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/persistence/conformance"
)

// salvages is how many damages TestSalvageOfDamage does.
func salvages(t *testing.T) int {
	n, err := strconv.Atoi(cmp.Or(os.Getenv("HUBCLI_TEST_DAMAGES"), "24"))
	require.NoError(t, err)
	return n
}

// TestSalvageOfDamage damages files of a store in every way. A salvage brings up only
// what was there, misses no more than it lists, leaves the damaged store as it is, and
// the new store starts and goes on above all numbers.
func TestSalvageOfDamage(t *testing.T) {
	killed, closed, end := damagedStores(t)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 5))
	kinds := []string{"flip", "blank", "cut", "delete", "swap"}
	for i := range salvages(t) {
		state, dir := "killed", killed
		if i%2 == 1 {
			state, dir = "closed", closed
		}
		files := storeFiles(t, dir)
		name, kind := files[random.IntN(len(files))], kinds[i/2%len(kinds)]
		base := t.TempDir()
		store := filepath.Join(base, "s")
		copyStore(t, dir, store)
		what := state + " " + name + ": " + kind
		switch kind {
		case "delete":
			require.NoError(t, os.Remove(filepath.Join(store, name)))
		case "swap":
			others := slices.DeleteFunc(slices.Clone(files), func(file string) bool { return file == name })
			other := others[random.IntN(len(others))]
			what += " with " + other
			swap(t, filepath.Join(store, name), filepath.Join(store, other))
		default:
			what += " " + damage(t, random, filepath.Join(store, name), kind)
		}
		lost := checkSalvage(t, what, store, filepath.Join(base, "new"), end)
		t.Logf("%s: %d of %d messages lost", what, lost, end.Message)
		_ = os.RemoveAll(base)
	}
}

func swap(t *testing.T, a, b string) {
	t.Helper()
	require.NoError(t, errors.Join(os.Rename(a, a+"~"), os.Rename(b, a), os.Rename(a+"~", b)))
}

// checkSalvage salvages a store whose history damagedStores has made, and returns how
// many messages are listed as lost.
func checkSalvage(t *testing.T, what, store, to string, end core.Head) int64 {
	t.Helper()
	before := contents(t, store)
	made, err := Salvage(store, to, SalvageOptions{})
	if after := contents(t, store); after != before {
		t.Errorf("%s: the damaged store was changed", what)
	}
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return 0
	}
	s, err := Open(to, Options{})
	if err != nil {
		t.Errorf("%s: the new store does not open: %v", what, err)
		return 0
	}
	defer s.Close()
	if made.Message > end.Message || s.Head().Message < end.Message || s.Head().Seq <= end.Seq {
		t.Errorf("%s: the new store goes on at %+v", what, s.Head())
	}
	if err := compareSalvaged(s, &made.Salvage, end); err != nil {
		t.Errorf("%s: %v; %+v", what, err, made.Salvage)
	}
	if _, err := s.Checkpoint(); err != nil && !errors.Is(err, core.ErrNotFound) {
		t.Errorf("%s: checkpoint: %v", what, err)
	}
	from := hub.Seq(0)
	if c, err := s.Checkpoint(); err == nil {
		from = c.Head.Seq
	}
	if err := s.Records(from, func(*core.Record) error { return nil }); err != nil {
		t.Errorf("%s: records: %v", what, err)
	}
	w := &conformance.Writer{Head: s.Head()}
	if err := s.Append(childGroup(w)); err != nil {
		t.Errorf("%s: the next group: %v", what, err)
	}
	if note, err := ReadSalvage(to); err != nil || note == nil || note.LostMessages != made.LostMessages {
		t.Errorf("%s: the note is %+v, %v", what, note, err)
	}
	return made.LostMessages
}

// compareSalvaged compares what is there, by all ways of reading, with what was
// written.
func compareSalvaged(s *Store, told *hub.Salvage, end core.Head) error {
	lost := map[hub.MessageID]bool{}
	for _, r := range told.LostIDs {
		for id := r.First; id <= r.Last; id++ {
			lost[hub.MessageID(id)] = true
		}
	}
	want := map[hub.MessageID]*core.StoredMessage{}
	rows := map[string]string{}
	for w := (&conformance.Writer{}); w.Head.Seq < end.Seq; {
		for _, r := range childGroup(w).Records {
			want[r.Messages[0].ID] = &r.Messages[0]
			rows[string(r.Rows[0].Key)] = string(r.Rows[0].Value)
		}
	}
	seen := map[hub.MessageID]bool{}
	var bad error
	err := s.Messages(core.Scope{Kind: core.ScopeAll}, 0, hub.MaxMessageID, false, func(m *core.StoredMessage) bool {
		if w := want[m.ID]; w == nil || string(w.JSON) != string(m.JSON) || w.Channel != m.Channel {
			bad = fmt.Errorf("message %d is another", m.ID)
		}
		seen[m.ID] = true
		return bad == nil
	})
	if err = errors.Join(err, bad); err != nil {
		return err
	}
	for id := hub.MessageID(1); id <= end.Message; id++ {
		if id <= told.Message && seen[id] == lost[id] {
			return fmt.Errorf("message %d is there: %v, listed as lost: %v", id, seen[id], lost[id])
		}
	}
	indexed := 0
	for i := range 5 {
		scope := core.Scope{Kind: core.ScopeChannel, Name: fmt.Sprintf("channel-%d", i)}
		if err := s.Messages(scope, 0, hub.MaxMessageID, true, func(*core.StoredMessage) bool { indexed++; return true }); err != nil {
			return err
		}
	}
	if indexed != len(seen) {
		return fmt.Errorf("%d messages are there, their channels have %d", len(seen), indexed)
	}
	err = s.RowsOf(core.TableTask, nil, false, func(key, value []byte) bool {
		if rows[string(key)] != string(value) {
			bad = fmt.Errorf("row %x is another", key)
		}
		return bad == nil
	})
	return errors.Join(err, bad)
}

// contents sums up the names and bytes of a folder.
func contents(t *testing.T, dir string) string {
	t.Helper()
	sum := sha256.New()
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		fmt.Fprintln(sum, strings.TrimPrefix(path, dir))
		if err == nil && d.Type().IsRegular() && d.Name() != storedir.NameBallast {
			var b []byte
			if b, err = os.ReadFile(path); err == nil {
				_, _ = sum.Write(b)
			}
		}
		return err
	}))
	return fmt.Sprintf("%x", sum.Sum(nil))
}

// TestExamineAgreesWithAStart: an examination refuses what a start refuses, and names
// every damage, without a change.
func TestExamineAgreesWithAStart(t *testing.T) {
	killed, closed, _ := damagedStores(t)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 6))
	for state, dir := range map[string]string{"killed": killed, "closed": closed} {
		if x, err := Examine(dir); err != nil || x.Refused != nil || len(x.Damaged) > 0 {
			t.Errorf("%s, not damaged: %+v, %v", state, x, err)
		}
	}
	for i := range salvages(t) {
		state, dir := "killed", killed
		if i%2 == 1 {
			state, dir = "closed", closed
		}
		files := storeFiles(t, dir)
		name := files[random.IntN(len(files))]
		store := filepath.Join(t.TempDir(), "s")
		copyStore(t, dir, store)
		what := state + " " + name + ": " + damage(t, random, filepath.Join(store, name), []string{"flip", "blank", "cut"}[i%3])
		before := contents(t, store)
		x, err := Examine(store)
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		if contents(t, store) != before {
			t.Errorf("%s: the examination has changed the store", what)
		}
		s, err := Open(store, Options{})
		if err == nil {
			err = s.Close()
		}
		if (err == nil) != (x.Refused == nil) {
			t.Errorf("%s: a start says %v, the examination %v; %+v", what, err, x.Refused, x)
		}
		if err != nil && len(x.Damaged) == 0 {
			t.Errorf("%s: refused with %v, and nothing is named", what, err)
		}
		_ = os.RemoveAll(store)
	}
}

// TestFolderInPlaceOfAFile: the examination refuses what a start refuses, where a folder has the
// name of one of the store's files.
func TestFolderInPlaceOfAFile(t *testing.T) {
	killed, _, _ := damagedStores(t)
	for _, name := range []string{storedir.NameLock, storedir.NameToken, storedir.NameKey, storedir.NameHead, storedir.NameFormat} {
		t.Run(name, func(t *testing.T) {
			store := filepath.Join(t.TempDir(), "s")
			copyStore(t, killed, store)
			path := filepath.Join(store, name)
			if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
			require.NoError(t, os.Mkdir(path, 0o700))
			x, err := Examine(store)
			s, started := Open(store, Options{})
			if started == nil {
				started = s.Close()
			}
			if err == nil {
				err = x.Refused
			}
			if (started == nil) != (err == nil) {
				t.Errorf("a start says %v, the examination %v", started, err)
			}
		})
	}
}

// TestListThatLeavesATableOut: a list of tables that was cut, or is an earlier one, looks
// like the trace of a crash. A start must not put the tables aside that it leaves out:
// it refuses and changes nothing, so that the list can be put back. A salvage reads the
// tables all the same.
func TestListThatLeavesATableOut(t *testing.T) {
	killed, _, end := damagedStores(t)
	list := filepath.Join(killed, storedir.NameBadger, badgerfile.NameManifest)
	good, err := os.ReadFile(list)
	require.NoError(t, err)
	for _, size := range []int64{badgerfile.ManifestHeader, 23} {
		require.NoError(t, os.WriteFile(list, good[:size], 0o600))
		if _, err := Open(killed, Options{}); !isStart(err, storedir.StartCorrupt) || !strings.Contains(err.Error(), badgerfile.NameManifest) {
			t.Errorf("cut to %d bytes: %v", size, err)
		}
		if _, err := os.Stat(filepath.Join(killed, storedir.NameBadger, badgerfile.NameAside)); err == nil {
			t.Errorf("cut to %d bytes: something was put aside", size)
		}
		x, err := Examine(killed)
		if err != nil || x.Refused == nil || len(x.Damaged) == 0 {
			t.Errorf("the examination says %+v, %v", x, err)
		}
	}
	if lost := checkSalvage(t, "list cut", killed, filepath.Join(t.TempDir(), "new"), end); lost != 0 {
		t.Errorf("the salvage lacks %d messages", lost)
	}
	require.NoError(t, os.WriteFile(list, good, 0o600))
	if outcome, err := judge(t, killed, end); err != nil || outcome != "opened" {
		t.Errorf("with the list put back: %s, %v", outcome, err)
	}
}
