package persistence

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"hubcli/persistence/codec"
	"hubcli/persistence/storedir"

	"hubcli/actors/core"
	"hubcli/internal/formatlist"
	"hubcli/internal/require"
	"hubcli/persistence/conformance"
)

// TestStoredThingsHaveNumbers holds the files of a store, the encodings, the prefixes of
// keys and the flags of messages; see the test of this name in package core.
func TestStoredThingsHaveNumbers(t *testing.T) {
	var things []formatlist.Thing
	add := func(name string, number int) { things = append(things, formatlist.Thing{Name: name, Number: number}) }
	var sources []string
	for _, pattern := range []string{"*.go", "codec/*.go", "storedir/*.go", "badgerfile/*.go"} {
		found, err := filepath.Glob(pattern)
		require.NoError(t, err)
		sources = append(sources, found...)
	}
	for _, source := range sources {
		file, err := parser.ParseFile(token.NewFileSet(), source, nil, 0)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.ValueSpec); ok && strings.HasPrefix(strings.ToLower(spec.Names[0].Name), "name") && len(spec.Values) == 1 {
				if lit, ok := spec.Values[0].(*ast.BasicLit); ok && lit.Kind == token.STRING {
					name := strings.Trim(lit.Value, `"`)
					add("file "+name, core.StoreFormats().OfName(name))
				}
			}
			return true
		})
	}
	if len(things) < 10 {
		t.Errorf("%d names of files were found", len(things))
	}
	for _, e := range []struct {
		name   string
		latest int
	}{
		{"frame", codec.FrameVersion},
		{"record", codec.RecordVersion},
		{"message", codec.MessageVersion},
		{"block", codec.BlockVersion},
		{"index", codec.IndexVersion},
		{"row", codec.RowVersion},
		{"effect", codec.EffectVersion},
		{"gap", codec.GapVersion},
		{"checkpoint", checkpointVersion},
	} {
		for version := 1; version <= e.latest; version++ {
			name := fmt.Sprintf("%s %d", e.name, version)
			add("encoding "+name, core.StoreFormats().OfName(name))
		}
	}
	for _, prefix := range []string{
		codec.PrefixFrame, codec.PrefixMessage, codec.PrefixChannel, codec.PrefixThread, codec.PrefixInbox, codec.PrefixRow, codec.PrefixEffect, codec.PrefixGap, codec.PrefixImport, codec.KeyRedone,
	} {
		add("prefix "+prefix, core.StoreFormats().OfName(prefix))
	}
	m := core.StoredMessage{Whole: true, Muted: true}
	for bit := range 8 {
		if flag := byte(1) << bit; codec.MessageFlags(&m)&flag != 0 {
			add(fmt.Sprintf("flag of messages %d", flag), core.StoreFormats().OfFlags(flag))
		}
	}
	formatlist.Check(t, "testdata/format.txt", things, *update)
}

// stepsUpTo are the steps of a program that knows formats up to last: each brings an owner
// kind with a fact, a table, an answer, a member of a row, and a file.
func stepsUpTo(last int) *core.Formats {
	var steps []core.FormatStep
	for n := core.BaseFormat + 1; n <= last; n++ {
		steps = append(steps, core.FormatStep{
			Number: n, Brings: "a step",
			Owners: []core.OwnerKind{core.OwnerKind(200 + n)}, Facts: []core.FactType{core.FactType(20_000 + n)},
			Tables: []core.Table{core.Table(200 + n)}, Effects: []uint8{uint8(200 + n)},
			Members: []core.FormatMember{{Table: core.TableTask, Name: fmt.Sprint("step_", n)}}, Files: []string{fmt.Sprint("STEP-", n)},
		})
	}
	return core.NewFormats(steps)
}

// useStep writes something that a step brought, each time in another way.
func useStep(t *testing.T, s *Store, w *conformance.Writer, n int) {
	t.Helper()
	r := w.Post("general", "", fmt.Sprint("step ", n))
	var err error
	switch n % 6 {
	case 0:
		r.Owner.Kind = core.OwnerKind(200 + n)
		err = s.Append(&core.Group{Records: []*core.Record{r}})
	case 1:
		r.Facts = []core.EncodedFact{{Type: core.FactType(20_000 + n), Data: []byte("{}")}}
		err = s.Append(&core.Group{Records: []*core.Record{r}})
	case 2:
		err = errors.Join(s.Append(&core.Group{Records: []*core.Record{r}}), s.PutRows([]core.Row{{Table: core.Table(200 + n), Key: []byte("k"), Value: []byte("v")}}))
	case 3:
		r.Effect = &core.Effect{Scope: [32]byte{byte(n)}, Seq: r.Seq, Kind: uint8(200 + n), Answer: []byte("{}")}
		err = s.Append(&core.Group{Records: []*core.Record{r}})
	case 4:
		r.Rows = []core.Row{{Table: core.TableTask, Key: core.IDKey(1), Value: fmt.Appendf(nil, `{"step_%d":true}`, n)}}
		err = s.Append(&core.Group{Records: []*core.Record{r}})
	case 5:
		err = errors.Join(s.Append(&core.Group{Records: []*core.Record{r}}), s.RaiseFor(fmt.Sprint("STEP-", n)))
	}
	if err != nil {
		t.Fatalf("step %d: %v", n, err)
	}
}

// TestTenStepsUpAndDown takes a store through ten steps of its format. A program of each
// step opens the store as each earlier one left it, with all that is in it, and leaves its
// number alone until something new is written. Every program of an earlier step says that
// the store is a newer one's, and changes no byte of it.
func TestTenStepsUpAndDown(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	const steps = 10
	w := &conformance.Writer{}
	for n := core.BaseFormat; n <= core.BaseFormat+steps; n++ {
		s, err := Open(dir, Options{formats: stepsUpTo(n)})
		require.NoError(t, err)
		if want := max(n-1, core.BaseFormat); s.Format() != want {
			t.Errorf("opened by the program of format %d it has format %d, want %d", n, s.Format(), want)
		}
		if s.Head() != w.Head {
			t.Errorf("format %d: head %+v, want %+v", n, s.Head(), w.Head)
		}
		mustAppend(t, s, w.Post("general", "", "nothing new"))
		if m, err := storedir.InspectFor(dir, n); err != nil || m.Format != max(n-1, core.BaseFormat) {
			t.Errorf("format %d: nothing new was written and FORMAT says %+v, %v", n, m, err)
		}
		if n > core.BaseFormat {
			useStep(t, s, w, n)
		}
		if m, err := storedir.InspectFor(dir, n); err != nil || m.Format != n || s.Format() != n {
			t.Errorf("format %d: FORMAT says %+v, %v", n, m, err)
		}
		require.NoError(t, s.Close())
		was := folderState(t, dir)
		for older := core.BaseFormat; older < n; older++ {
			refusedAsNewer(t, dir, older, n)
		}
		if now := folderState(t, dir); now != was {
			t.Errorf("format %d: the older programs have changed the store:\n%s\nit was\n%s", n, now, was)
		}
	}
	for n := core.BaseFormat + steps; n <= core.BaseFormat+steps+1; n++ {
		s, err := Open(dir, Options{formats: stepsUpTo(n)})
		require.NoError(t, err)
		if s.Format() != core.BaseFormat+steps || s.Head() != w.Head {
			t.Errorf("in the end: format %d, head %+v", s.Format(), s.Head())
		}
		require.NoError(t, s.Close())
	}
}

func mustAppend(t *testing.T, s *Store, r *core.Record) {
	t.Helper()
	require.NoError(t, s.Append(&core.Group{Records: []*core.Record{r}}))
}

// mustCommit commits entries that no record has, and lets them be read.
func mustCommit(t *testing.T, s *Store, entries ...codec.Entry) {
	t.Helper()
	s.writing.Lock()
	defer s.writing.Unlock()
	require.NoError(t, s.commit(entries))
	s.gate.publish(s.lastTS)
}

func refusedAsNewer(t *testing.T, dir string, knows, needs int) {
	t.Helper()
	s, err := Open(dir, Options{formats: stepsUpTo(knows)})
	var said *storedir.StartError
	if !errors.As(err, &said) || said.Kind != storedir.StartNewerFormat || !strings.Contains(said.Sentence, "made by a newer hubcli") ||
		!strings.Contains(said.Sentence, fmt.Sprintf("format %d, and this hubcli knows formats up to %d", needs, knows)) {
		t.Errorf("a program of format %d opens a store of format %d: %v, %v", knows, needs, s != nil, err)
	}
}

// folderState is what a folder holds: names, modes, times and contents. Of the ballast the size
// counts, and of Badger's logs, which are holes but for their beginning, the first bytes.
func folderState(t testing.TB, dir string) string {
	t.Helper()
	state, err := stateOf(dir)
	require.NoError(t, err)
	return state
}

func stateOf(dir string) (string, error) {
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		fmt.Fprintf(&b, "%s %v %s", rel, info.Mode(), info.ModTime().Format(time.RFC3339Nano))
		if info.Mode().IsRegular() {
			fmt.Fprintf(&b, " %d", info.Size())
		}
		if info.Mode().IsRegular() && d.Name() != storedir.NameBallast {
			f, err := os.Open(path)
			if err != nil {
				return err
			}
			defer f.Close()
			most := int64(math.MaxInt64)
			if ext := filepath.Ext(path); ext == ".vlog" || ext == ".mem" {
				most = 1 << 20
			}
			sum := sha256.New()
			if _, err := io.Copy(sum, io.LimitReader(f, most)); err != nil {
				return err
			}
			fmt.Fprintf(&b, " %x", sum.Sum(nil))
		}
		b.WriteByte('\n')
		return nil
	})
	return b.String(), err
}

// TestRaisedBeforeItIsWritten: at every moment a crash leaves a store whose number fits what
// is in it. On a disk without room for the number, nothing is written and nothing fails.
func TestRaisedBeforeItIsWritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	full := &fullFormat{}
	s, err := Open(dir, Options{formats: stepsUpTo(core.BaseFormat + 6), fs: full})
	require.NoError(t, err)
	defer s.Close()
	w := &conformance.Writer{}
	mustAppend(t, s, w.Post("general", "", "old"))
	before := w.Head
	r := w.Post("general", "", "new")
	r.Owner.Kind = core.OwnerKind(200 + core.BaseFormat + 1)
	full.on = true
	if err := s.Append(&core.Group{Records: []*core.Record{r}}); !errors.Is(err, core.ErrNoRoom) {
		t.Errorf("without room for FORMAT: %v", err)
	}
	if err := s.RaiseFor(fmt.Sprint("STEP-", core.BaseFormat+2)); !errors.Is(err, core.ErrNoRoom) {
		t.Errorf("without room for FORMAT: %v", err)
	}
	if s.Format() != core.BaseFormat || s.durable.Seq != before.Seq || s.Err() != nil {
		t.Errorf("format %d, head %+v, %v", s.Format(), s.durable, s.Err())
	}
	full.on = false
	full.renamed = func() { // FORMAT is in its place, and nothing else has been written
		if s.durable.Seq != before.Seq {
			t.Errorf("the record is there before the number")
		}
	}
	require.NoError(t, s.Append(&core.Group{Records: []*core.Record{r}}))
	if s.Format() != core.BaseFormat+1 || full.renames != 1 {
		t.Errorf("format %d after %d writes of FORMAT", s.Format(), full.renames)
	}
	r = w.Post("general", "", "again")
	r.Owner.Kind = core.OwnerKind(200 + core.BaseFormat + 1)
	require.NoError(t, s.Append(&core.Group{Records: []*core.Record{r}}))
	if full.renames != 1 {
		t.Errorf("FORMAT was written %d times for one number", full.renames)
	}
}

// fullFormat is a disk that has no room for FORMAT while it is on.
type fullFormat struct {
	storedir.DiskFS
	on      bool
	renamed func()
	renames int
}

func (f *fullFormat) OpenFile(name string, flag int, perm os.FileMode) (storedir.File, error) {
	if f.on && strings.HasPrefix(filepath.Base(name), storedir.NameFormat) && flag&os.O_CREATE != 0 {
		return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.ENOSPC}
	}
	return f.DiskFS.OpenFile(name, flag, perm)
}

func (f *fullFormat) Rename(from, to string) error {
	err := f.DiskFS.Rename(from, to)
	if filepath.Base(to) == storedir.NameFormat && f.renamed != nil {
		f.renames++
		f.renamed()
	}
	return err
}

// TestBackupsCarryTheFormat: a backup needs what its store needed then, and the restored
// store too. So does a salvaged one.
func TestBackupsCarryTheFormat(t *testing.T) {
	base := t.TempDir()
	dir := filepath.Join(base, "store")
	newest := core.BaseFormat
	s, err := Open(dir, Options{})
	require.NoError(t, err)
	w := &conformance.Writer{}
	mustAppend(t, s, w.Post("general", "", "a"))
	var out bytes.Buffer
	require.NoError(t, s.Backup(t.Context(), &out))
	b, err := CheckBackup(bytes.NewReader(out.Bytes()))
	require.NoError(t, err)
	if b.format != newest {
		t.Errorf("the backup has format %d, want %d", b.format, newest)
	}
	require.NoError(t, s.Close())
	to := filepath.Join(base, "restored")
	_, err = Restore(bytes.NewReader(out.Bytes()), to, RestoreOptions{})
	require.NoError(t, err)
	if m, err := storedir.Inspect(to); err != nil || m.Format != newest {
		t.Errorf("restored: %+v, %v", m, err)
	}
	saved := filepath.Join(base, "salvaged")
	_, err = Salvage(dir, saved, SalvageOptions{})
	require.NoError(t, err)
	if m, err := storedir.Inspect(saved); err != nil || m.Format != newest {
		t.Errorf("salvaged: %+v, %v", m, err)
	}
}
