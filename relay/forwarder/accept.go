package forwarder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"hubcli/hub"
	"hubcli/internal/maker"
	"hubcli/internal/osfile"
	"hubcli/relay"
)

// Acceptance says which spools may be served. A process that can write into a spool
// acts as every agent in it, and a spool may have come with a checkout. So a forwarder leaves a mark in a spool
// that it accepts, and what lay there before is never carried out.
type Acceptance struct {
	// Key marks the spools that this user's forwarders have accepted; nil: none can be
	// marked, and each start accepts a named spool anew.
	Key *maker.Key
	// Server names the forwarder in the mark.
	Server string
	// Named says that the operator has named the spool: it is accepted, whoever made it.
	// Else it is served only if it has a mark, or if the forwarder makes it.
	Named bool
	// Anyones lets a spool without a name be served whichever forwarder of this user has
	// marked it. Else the mark must be Server's.
	Anyones bool
}

// ErrNotAccepted says that a spool may have come from others and that nobody has named it.
var ErrNotAccepted = errors.New("no forwarder of yours has made it, and nobody has named it; to serve it, name it with --spool-dir: what lies in it by then is rejected")

// Marks of a spool lie beside its folders, one for each server:
//
//	server SERVER
//	mark 64 hexadecimal digits
//
// The mark is of the secret of the data root, over the server and the folder's own number.
// The time at which the file came is the time of the acceptance, by the clock of the file
// system that also dates the requests.
const (
	markPrefix   = ".maker-"
	markPurpose  = "spool"
	maxMarks     = 64 // that are read
	maxMarkBytes = 1024
)

// marks is what the marks of a spool say.
type marks struct {
	any, own bool
	accepted time.Time // the earliest
}

// read looks at the marks of the spool below root.
func (a *Acceptance) read(root *os.Root) (m marks, err error) {
	if a.Key == nil {
		return m, nil
	}
	list, err := root.Open(".")
	if err != nil {
		return m, err
	}
	defer list.Close()
	folder, err := osfile.ID(list)
	if err != nil {
		return m, err
	}
	for looked := 0; looked < maxMarks; {
		entries, err := list.ReadDir(batch)
		for _, e := range entries {
			if !strings.HasPrefix(e.Name(), markPrefix) || looked >= maxMarks {
				continue
			}
			looked++
			if server, at, ok := a.proved(root, e.Name(), folder); ok {
				m.own = m.own || server == a.Server
				if !m.any || at.Before(m.accepted) {
					m.any, m.accepted = true, at
				}
			}
		}
		if err != nil || len(entries) == 0 {
			break
		}
	}
	return m, nil
}

// proved reads one mark.
func (a *Acceptance) proved(root *os.Root, name, folder string) (server string, at time.Time, ok bool) {
	b, err := osfile.ReadSmallIn(root, name, maxMarkBytes)
	if err != nil {
		return "", at, false
	}
	lines := strings.Split(string(b), "\n")
	if len(lines) != 3 || lines[2] != "" {
		return "", at, false
	}
	server, named := strings.CutPrefix(lines[0], "server ")
	mark, marked := strings.CutPrefix(lines[1], "mark ")
	if !named || !marked || !a.Key.Proves(mark, markPurpose, server, folder) {
		return "", at, false
	}
	info, err := root.Lstat(name)
	if err != nil {
		return "", at, false
	}
	at, ok = osfile.Came(info)
	return server, at, ok
}

// write leaves the mark of Server in a spool, and returns the time of the acceptance.
func (a *Acceptance) write(root *os.Root) (time.Time, error) {
	name, mark := markPrefix+"none", "none"
	if a.Key != nil {
		here, err := root.Open(".")
		if err != nil {
			return time.Time{}, err
		}
		folder, err := osfile.ID(here)
		_ = here.Close()
		if err != nil {
			return time.Time{}, err
		}
		name, mark = markPrefix+a.Key.Mark(markPurpose, a.Server)[:16], a.Key.Mark(markPurpose, a.Server, folder)
	}
	return came(root, name, fmt.Appendf(nil, "server %s\nmark %s\n", a.Server, mark))
}

// came writes a file and returns when it came, by the clock of the file system.
func came(root *os.Root, name string, content []byte) (time.Time, error) {
	if err := relay.WriteWhole(root, ".", name, content); err != nil {
		return time.Time{}, err
	}
	info, err := root.Lstat(name)
	if err != nil {
		return time.Time{}, err
	}
	at, ok := osfile.Came(info)
	if !ok {
		return at, errors.New("the file system tells no times")
	}
	return at, nil
}

// Bounds of the wait for the clock of a file system. It is coarse: most have 4 ms, FAT has
// two seconds.
const (
	clockPatience = 3 * time.Second
	clockAgain    = time.Millisecond
)

// nextTick returns once the clock of the file system has gone on, so that all that is there
// when it is called is older than all that comes after.
func nextTick(root *os.Root) error {
	probe := relay.TempPrefix + string(relay.NewRequestID())
	defer func() { _ = root.Remove(probe) }()
	first, err := came(root, probe, nil)
	for began := time.Now(); err == nil && time.Since(began) < clockPatience; time.Sleep(clockAgain) {
		now, again := came(root, probe, nil)
		if again != nil || now.After(first) {
			return again
		}
	}
	return err
}

// served reports whether a spool that nobody has named may be served by its marks.
func (a *Acceptance) served(m marks) bool { return m.own || m.any && a.Anyones }

// mayOpen refuses a spool that nobody has named and that has no mark, before anything in it
// is made. missing says that there is none.
func (f *Forwarder) mayOpen() (missing bool, err error) {
	a := f.cfg.Accept
	if a == nil {
		return false, nil
	}
	info, err := os.Lstat(f.cfg.Dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true, nil
	case err != nil:
		return false, err
	case a.Named:
		return false, nil
	case !info.IsDir(): // also a link: it leads anywhere
		return false, ErrNotAccepted
	}
	root, err := os.OpenRoot(f.cfg.Dir)
	if err != nil {
		return false, err
	}
	defer root.Close()
	m, err := a.read(root)
	if err == nil && !a.served(m) {
		err = ErrNotAccepted
	}
	return false, err
}

// Make makes the spool, if it is missing, so that the caller learns why it cannot be made.
// Errors: ErrNotAccepted, or one of the file system.
func (f *Forwarder) Make() error {
	missing, err := f.mayOpen()
	if err != nil {
		return err
	}
	if missing && f.cfg.Accept != nil {
		if err := makeMarked(f.cfg.Dir, f.cfg.Accept); err != nil {
			return err
		}
	}
	return relay.MakeSpool(f.cfg.Dir)
}

// makeMarked makes a spool that has its mark before anybody can write into it. Another
// process that makes it at the same time does no harm.
func makeMarked(dir string, a *Acceptance) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(filepath.Dir(dir), relay.TempPrefix)
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(temp) }()
	if err := relay.MakeSpool(temp); err != nil {
		return err
	}
	root, err := os.OpenRoot(temp)
	if err != nil {
		return err
	}
	_, err = a.write(root)
	_ = root.Close()
	if err != nil {
		return err
	}
	if err := os.Rename(temp, dir); err != nil {
		if _, there := os.Lstat(dir); there == nil {
			return nil
		}
		return err
	}
	return osfile.SyncDir(filepath.Dir(dir))
}

// accept notes since when the spool is accepted, and marks it if the operator has named it.
func (s *spool) accept(a *Acceptance) error {
	if a == nil {
		return nil
	}
	m, err := a.read(s.root)
	if err != nil {
		return err
	}
	s.accepted = m.accepted
	switch {
	case !a.Named && !a.served(m): // it was exchanged since mayOpen
		return ErrNotAccepted
	case m.own || !a.Named:
		return nil
	}
	if m.any {
		_, err = a.write(s.root)
		return err
	}
	if err := nextTick(s.root); err != nil {
		return err
	}
	s.accepted, err = a.write(s.root)
	return err
}

// fresh refuses a request that lay in the spool before it was accepted. It is asked before
// the file gets another name, because that changes the time at which a file came.
func (s *spool) fresh(info fs.FileInfo) error {
	if s.accepted.IsZero() {
		return nil
	}
	// What comes right after the mark may have its time.
	if at, ok := osfile.Came(info); ok && !at.Before(s.accepted) {
		return nil
	}
	return &misfit{
		why: "It lay in the spool before the spool was served: it may have come with a checkout. It was not carried out.",
		answer: hub.NewError(hub.CodeNotRelayed, "the request lay in the spool before the spool was served; nothing was done").
			WithFix("send it again under a new request_id"),
	}
}
