package persistence

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"hubcli/persistence/badgerfile"
	"hubcli/persistence/storedir"

	"hubcli/hub"
	"hubcli/internal/osfile"
)

// SalvageOptions of Salvage.
type SalvageOptions struct {
	Logger *slog.Logger // nil: nothing is logged

	// Maker and Adopt are as in RestoreOptions, about the damaged store.
	Maker *Maker
	Adopt bool

	step func(string)                // tests: called before each step
	free func(string) (int64, error) // nil: statfs
}

// Salvaged says what Salvage has made.
type Salvaged struct {
	hub.Salvage
	NewInstance hub.InstanceID // of the new store
}

// salvageScratch is the folder in which the versions of all keys are put together.
const salvageScratch = "scratch"

// Salvage makes a store in the folder to of all that is whole in the damaged store in
// from, which it only reads. The folder to must be absent or empty, and no process may
// have the damaged store open. The new store is made and verified beside its place, as
// Restore does it, and passes over the same numbers above all that the damaged one
// names. Errors: a *StartError, or ErrNoStore. An error leaves nothing of the new store.
//
// The steps:
//
//  1. Everything in Badger's files that passes its checks goes into a scratch database,
//     each version of a key under its own number. The latest version wins there.
//  2. What records and messages lack between the numbers that are there becomes gaps.
//     The indexes of messages are made anew.
//  3. The scratch database is read as a backup, checked as one, and restored.
func Salvage(from, to string, o SalvageOptions) (Salvaged, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.step == nil {
		o.step = func(string) {}
	}
	if o.free == nil {
		o.free = osfile.Free
	}
	from, to, err := salvagePaths(from, to)
	if err != nil {
		return Salvaged{}, err
	}
	v := &salvager{options: o, from: from, damage: map[hub.StoreDamage]bool{}}
	v.out = hub.Salvage{
		From: from, Made: hub.TimeOf(time.Now()), LostIDs: []hub.NumberRange{}, LostSeqs: []hub.NumberRange{},
		Damaged: []hub.StoreDamage{}, Notes: []string{},
	}
	lock, err := lockUnchanged(from)
	if err != nil {
		return Salvaged{}, err
	}
	defer lock.Close()
	if err := v.outside(); err != nil {
		return Salvaged{}, err
	}
	state, err := o.Maker.salvages(from, v.out.Instance, o.Adopt)
	if err != nil {
		return Salvaged{}, err
	}
	v.r = &restorer{
		state: state, options: RestoreOptions{Logger: o.Logger, Maker: o.Maker, step: o.step, free: o.free}, dir: to + restoring,
		from: Backup{Bytes: 2 * v.size}, // the scratch database, too
	}
	if err := v.r.begin(); err != nil {
		return Salvaged{}, err
	}
	defer v.r.end()
	if err := v.make(); err != nil {
		return Salvaged{}, asStartError("salvaging the store", err)
	}
	if _, err := v.r.place(to, false); err != nil {
		return Salvaged{}, asStartError("putting the store in its place", err)
	}
	return Salvaged{Salvage: v.out, NewInstance: v.r.marker.InstanceID}, nil
}

// salvagePaths makes the paths absolute and refuses places in which no store may be
// made.
func salvagePaths(from, to string) (string, string, error) {
	from, err := filepath.Abs(from)
	if err == nil {
		to, err = filepath.Abs(to)
	}
	if err != nil {
		return "", "", storedir.IOError("resolving the path", err)
	}
	if within(from, to) || within(to, from) {
		e := storedir.NotAStore("the new store cannot be made in " + to + ": one folder would lie in the other")
		e.Fix = "name a folder beside the damaged store"
		return "", "", e
	}
	info, err := os.Lstat(to)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return from, to, nil
	case err != nil:
		return "", "", storedir.NoFolder("looking at the folder", err)
	}
	names, err := storedir.DiskFS{}.ReadDir(to)
	if !info.IsDir() || err != nil || len(names) > 0 {
		e := storedir.NotAStore(to + " is there already and is no empty folder")
		e.Fix = "name a folder that does not exist"
		return "", "", e
	}
	return from, to, nil
}

// within reports whether path is dir or lies in it, links followed.
func within(dir, path string) bool {
	rel, err := filepath.Rel(osfile.RealPath(dir), osfile.RealPath(path))
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// lockUnchanged takes the lock of a store without writing into its file.
func lockUnchanged(dir string) (*storedir.StoreLock, error) {
	l, err := storedir.SeizeLock(dir, false)
	var busy *storedir.LockHeld
	switch {
	case err == nil:
		return l, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, storedir.ErrNoStore
	case !errors.As(err, &busy):
		return nil, storedir.IOError("locking the store", err)
	}
	e := storedir.HeldError(dir, busy.Holder)
	e.Fix = "a store that a hub serves is whole enough for a backup: hubcli app backup FILE; to salvage it, stop the hub first"
	return nil, e
}

// salvager is a Salvage under way.
type salvager struct {
	options SalvageOptions
	from    string
	out     hub.Salvage
	damage  map[hub.StoreDamage]bool // each is told once
	size    int64                    // of the damaged store, in bytes
	key     []byte
	format  int           // of the damaged store
	mark    storedir.Mark // of HEAD; zero: it cannot be read
	point   []byte
	r       *restorer
	scratch *scratch
}

// note adds a sentence about what is missing.
func (v *salvager) note(format string, args ...any) {
	v.out.Notes = append(v.out.Notes, fmt.Sprintf(format, args...))
}

// tell adds a place that cannot be read.
func (v *salvager) tell(d hub.StoreDamage) {
	if v.damage[d] {
		return
	}
	v.out.Damages++
	if len(v.out.Damaged) < salvageListed {
		v.damage[d] = true
		v.out.Damaged = append(v.out.Damaged, d)
	}
}

func (v *salvager) make() error {
	v.options.step("collect")
	raw := badgerfile.NewRawReader(filepath.Join(v.from, storedir.NameBadger))
	defer raw.Close()
	var err error
	if v.scratch, err = newScratch(v); err != nil {
		return err
	}
	err = v.scratch.collect(raw)
	for _, d := range raw.Damaged {
		v.tell(d)
	}
	if err == nil {
		v.options.step("arrange")
		err = v.scratch.arrange()
	}
	if err == nil {
		v.options.step("load")
		err = v.load()
	}
	if err = errors.Join(err, v.scratch.close()); err != nil {
		return err
	}
	if err := os.RemoveAll(v.scratch.dir); err != nil {
		return storedir.IOError("removing what is no longer needed", err)
	}
	v.options.step("head")
	if err := v.r.writeHead(v.r.from); err != nil {
		return storedir.IOError("writing HEAD", err)
	}
	if err := writeSalvage(storedir.DiskFS{}, v.r.dir, &v.out); err != nil {
		return storedir.IOError("writing "+storedir.NameSalvaged, err)
	}
	v.options.step("verify")
	return v.r.verify()
}

// load restores the scratch database as a backup of it would be restored.
func (v *salvager) load() error {
	in, out := io.Pipe()
	done := make(chan error, 1)
	go func() {
		b := &backupWriter{out: out, sum: newSum()}
		err := v.scratch.stream(b)
		_ = out.CloseWithError(errors.Join(err, io.EOF)) // EOF alone ends the stream in order
		done <- err
	}()
	b, err := v.r.load(in)
	_ = in.CloseWithError(errors.New("the restore has ended"))
	if werr := <-done; err == nil || isFull(werr) {
		err = errors.Join(werr, err)
	}
	v.r.from = b
	return err
}

func isFull(err error) bool {
	var e *storedir.StartError
	return errors.As(err, &e) && e.Kind == storedir.StartFull
}
