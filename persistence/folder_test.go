package persistence

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hubcli/persistence/storedir"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/persistence/conformance"
)

// away is where a folder is that somebody has moved.
func away(dir string) string { return dir + ".away" }

// strangers makes a folder that looks like one of a store.
func strangers(dir string) error {
	return errors.Join(os.MkdirAll(filepath.Join(dir, storedir.NameBadger), 0o700), os.MkdirAll(filepath.Join(dir, storedir.NameCheckpoints), 0o700),
		os.WriteFile(filepath.Join(dir, "letter"), []byte("not of this hub"), 0o600))
}

// losses are the ways in which a hub loses its store while it runs.
var losses = map[string]struct {
	take  func(dir string) error
	words string // that the store says
	kept  bool   // the store is in away(dir) then
}{
	"moved":   {func(dir string) error { return os.Rename(dir, away(dir)) }, "was moved away while the hub ran", true},
	"deleted": {os.RemoveAll, "was deleted while the hub ran", false},
	"replaced": {func(dir string) error {
		return errors.Join(os.Rename(dir, away(dir)), strangers(dir))
	}, "is another folder now", true},
	"made anew": {func(dir string) error {
		return errors.Join(os.RemoveAll(dir), strangers(dir))
	}, "was deleted while the hub ran", false},
	"a link": {func(dir string) error {
		return errors.Join(os.Rename(dir, away(dir)), strangers(dir+".other"), os.Symlink(dir+".other", dir))
	}, "is another folder now", true},
	"a file in its place": {func(dir string) error {
		return errors.Join(os.Rename(dir, away(dir)), os.WriteFile(dir, nil, 0o600))
	}, "is another folder now", true},
	"its database": {func(dir string) error {
		return errors.Join(os.Rename(filepath.Join(dir, storedir.NameBadger), away(dir)), os.Mkdir(filepath.Join(dir, storedir.NameBadger), 0o700))
	}, "the database in the store's folder", false},
}

// uses are the calls that write, and those that look.
var uses = map[string]func(s *Store, w *conformance.Writer) error{
	"append": func(s *Store, w *conformance.Writer) error { return s.Append(childGroup(w)) },
	"rows": func(s *Store, _ *conformance.Writer) error {
		return s.PutRows([]core.Row{{Table: core.TableThread, Key: []byte("k"), Value: []byte("v")}})
	},
	"checkpoint": func(s *Store, w *conformance.Writer) error { return s.SaveCheckpoint(&core.Checkpoint{Head: w.Head}) },
	"format":     func(s *Store, _ *conformance.Writer) error { return s.raise(s.Format() + 1) },
	"gap": func(s *Store, w *conformance.Writer) error {
		return s.PassOver(core.Gap{FromSeq: w.Head.Seq + 1, UptoSeq: w.Head.Seq + 2, FromMessage: w.Head.Message + 1, UptoMessage: w.Head.Message + 2})
	},
	"look": func(s *Store, _ *conformance.Writer) error { return s.Check() },
	"room": func(s *Store, _ *conformance.Writer) error { s.space.look(); return s.Err() },
}

const childLoss = "PERSISTENCE_TEST_LOSS"

// A store that is gone leaves its database open until the process ends. So each loss has a
// process of its own.
func init() {
	children["lose"] = func(base string) int {
		for _, use := range slices.Sorted(maps.Keys(uses)) {
			if err := lose(filepath.Join(base, use), os.Getenv(childLoss), uses[use]); err != nil {
				fmt.Printf("%s: %v\n", use, err)
				return 1
			}
		}
		return 0
	}
}

// lose takes the folder of an open store away and uses the store.
func lose(dir, loss string, use func(*Store, *conformance.Writer) error) error {
	s, err := Open(dir, Options{})
	if err != nil {
		return err
	}
	w := &conformance.Writer{}
	if err := s.Append(childGroup(w)); err != nil {
		return err
	}
	fmt.Println("acknowledged", filepath.Base(dir), w.Head.Seq, w.Head.Message)
	c := losses[loss]
	if err := c.take(dir); err != nil {
		return err
	}
	was, _ := stateOf(dir)
	err = use(s, w)
	var told *hub.Error
	if !errors.As(err, &told) || told.Code != hub.CodeStoreGone || !strings.Contains(told.Message, c.words) || told.Fix == "" {
		return fmt.Errorf("it says %w", err)
	}
	select {
	case <-s.Failed():
	default:
		return errors.New("the store has not failed")
	}
	if err := s.Append(childGroup(w)); !errors.Is(err, &hub.Error{Code: hub.CodeStoreGone}) {
		return fmt.Errorf("a later Append: %w", err)
	}
	if ok, _ := s.Room(); !ok {
		return errors.New("it is told as a full disk")
	}
	_ = s.Close()
	if now, _ := stateOf(dir); now != was {
		return fmt.Errorf("written where the store was:\n%s\nit was\n%s", now, was)
	}
	return nil
}

// TestStoreIsAFolder takes the folder of an open store away, in each way in which that
// happens. From then on nothing is made durable and nothing is written at the path, whatever
// the call; the store has failed, and it says what has become of it and not that a disk is
// full. Everything that was acknowledged before is in the folder, wherever it is.
func TestStoreIsAFolder(t *testing.T) {
	if !storedir.RenameLocked {
		t.Skip("needs a system that renames a folder with open files")
	}
	for loss, c := range losses {
		t.Run(loss, func(t *testing.T) {
			t.Parallel()
			base := t.TempDir()
			cmd := child(t, "lose", base)
			cmd.Env = append(cmd.Env, childLoss+"="+loss)
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			acknowledged := 0
			for line := range strings.Lines(string(out)) {
				var use string
				var head core.Head
				if n, _ := fmt.Sscan(line, new(string), &use, &head.Seq, &head.Message); n != 4 || !c.kept {
					continue
				}
				acknowledged++
				s := openStore(t, away(filepath.Join(base, use)))
				if s.Head().Seq != head.Seq || s.Head().Message != head.Message {
					t.Errorf("%s: in the folder is %+v, acknowledged was %+v", use, s.Head(), head)
				}
				require.NoError(t, s.Close())
			}
			if c.kept && acknowledged != len(uses) {
				t.Errorf("%d of %d stores were looked at:\n%s", acknowledged, len(uses), out)
			}
		})
	}
}

// TestLookAtAFolder: a look is a stat for each of two folders and no more, so that each commit
// can afford it. It finds nothing wrong with a store that is used by a link.
func TestLookAtAFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	require.NoError(t, os.Mkdir(dir, 0o700))
	link := dir + ".link"
	if err := os.Symlink(dir, link); err != nil {
		t.Skip("needs links: ", err)
	}
	s := openStore(t, link)
	mustAppend(t, s, (&conformance.Writer{}).Post("general", "", "a"))
	if err := s.Check(); err != nil || len(s.folder.mine) != 2 {
		t.Errorf("%v, %d folders are looked at", err, len(s.folder.mine))
	}
}

// BenchmarkLook is what the look before each commit costs.
func BenchmarkLook(b *testing.B) {
	s := openStore(b, filepath.Join(b.TempDir(), "store"))
	for b.Loop() {
		if err := s.Check(); err != nil {
			b.Fatal(err)
		}
	}
}
