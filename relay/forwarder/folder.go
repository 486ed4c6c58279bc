package forwarder

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"hubcli/internal/osfile"
	"hubcli/relay"
)

// spool holds the open folders of one spool. Everything below is reached
// through them, so a folder that somebody replaces meanwhile leads nowhere
// else.
type spool struct {
	root      *os.Root
	requests  *os.Root
	responses *os.Root
	owner     *os.File // locked by the one daemon that serves the spool; nil in others

	accepted time.Time // what came earlier is never carried out; zero: all is

	users atomic.Int64 // the calls, and the forwarder while it serves the spool
}

// openSpool opens the spool in dir and makes the folders that it lacks.
func openSpool(dir string) (_ *spool, err error) {
	s := &spool{}
	s.users.Store(1)
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if s.root, err = os.OpenRoot(dir); err != nil {
		return nil, err
	}
	if s.requests, err = makeFolder(s.root, relay.RequestsDir); err != nil {
		return nil, err
	}
	s.responses, err = makeFolder(s.root, relay.ResponsesDir)
	return s, err
}

// same reports whether the names still lead to the open folders.
func (s *spool) same(dir string) bool {
	for _, each := range []struct {
		open *os.Root
		look func() (fs.FileInfo, error)
	}{
		{s.root, func() (fs.FileInfo, error) { return os.Stat(dir) }},
		{s.requests, func() (fs.FileInfo, error) { return s.root.Lstat(relay.RequestsDir) }},
		{s.responses, func() (fs.FileInfo, error) { return s.root.Lstat(relay.ResponsesDir) }},
	} {
		now, err := each.look()
		if err != nil {
			return false
		}
		was, err := each.open.Stat(".")
		if err != nil || !os.SameFile(was, now) {
			return false
		}
	}
	return true
}

// use keeps the spool open until the matching release.
func (s *spool) use() { s.users.Add(1) }

func (s *spool) release() {
	if s.users.Add(-1) == 0 {
		s.close()
	}
}

// errServed says that another daemon serves the spool.
var errServed = errors.New("another hub already serves the spool; start this one with its own --spool-dir")

// ownerName is the file that the serving daemon holds locked.
const ownerName = ".hub"

// own makes this daemon the owner of the spool. If two hubs served one spool,
// chance would decide which of them gets a call. A forwarder that was started
// as its own process needs no ownership: its caller names the hub.
func (s *spool) own() error {
	f, err := s.root.OpenFile(ownerName, osfile.Cautious|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if got, err := tryLock(f); err == nil && !got {
		f.Close()
		return errServed
	}
	s.owner = f // without locks in the file system no owner can be known
	return nil
}

// tryLock takes the lock on a file of the spool if it is free. The locked range
// lies behind all bytes that anyone reads.
func tryLock(f *os.File) (bool, error) { return osfile.TryLockBeyond(f, relay.MaxRequestBytes) }

func (s *spool) close() {
	if s.owner != nil {
		s.owner.Close()
	}
	for _, r := range []*os.Root{s.requests, s.responses, s.root} {
		if r != nil {
			r.Close()
		}
	}
}

// errNotAFolder says that a name that should be a folder is none.
var errNotAFolder = errors.New("not a folder, or a link to one")

// openFolder opens the folder name of parent and follows no link, not even one
// that stays below the spool.
func openFolder(parent *os.Root, name string) (*os.Root, error) {
	before, err := parent.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !before.IsDir() {
		return nil, fmt.Errorf("%s: %w", name, errNotAFolder)
	}
	opened, err := parent.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	after, err := opened.Stat(".")
	if err == nil && !os.SameFile(before, after) {
		err = fmt.Errorf("%s: %w", name, errNotAFolder)
	}
	if err != nil {
		opened.Close()
		return nil, err
	}
	return opened, nil
}

// makeFolder is openFolder, but makes the folder if it is missing.
func makeFolder(parent *os.Root, name string) (*os.Root, error) {
	opened, err := openFolder(parent, name)
	if !errors.Is(err, fs.ErrNotExist) {
		return opened, err
	}
	err = parent.Mkdir(name, 0o700)
	if errors.Is(err, fs.ErrExist) {
		err = nil // another process has just made it
	}
	if err == nil {
		err = osfile.SyncDirIn(parent, ".")
	}
	if err != nil {
		return nil, err
	}
	return openFolder(parent, name)
}

// isFolderName reports whether name is a valid name of an agent's folder.
func isFolderName(name string) bool {
	return len(name) <= maxFolderName && relay.RequestID(name).Valid()
}

// maxFolderName is the longest agent id.
const maxFolderName = 64

// folder is one agent folder of requests, with its calls.
type folder struct {
	name string

	// Only Run's goroutine uses the following fields.
	seen       bool     // found by the present look
	watched    bool     // notification was asked for; see unheard
	unheard    bool     // notification failed for this folder
	unread     bool     // the list of names has not been read to its end
	unreadable bool     // the last attempt to read its names failed
	list       *os.File // the place where reading goes on; nil: the beginning
	orphans    bool     // this reading also takes names of requests under way
	queue      []string // names to take

	known    bool      // it was read once, and notification has told of it since
	missed   bool      // requests came that no notification announced
	changed  time.Time // time of the last change, as of lastRead
	lastRead time.Time // time of the last reading
	nextFull time.Time // time from which it is read even if unchanged

	// Forwarder.mu guards the following fields.
	under        map[string]*call // by stem
	calls        int              // counted against maxCalls
	parked       int              // of these, those that wait in the hub
	waiting      []*call          // these wait for a place among the parked
	blocked      time.Time        // no request is taken before this time
	pause        time.Duration    // length of the last block
	heldByOthers int              // names that other forwarders held since the last reading

	large chan struct{} // the one large request of the folder holds it
}

func newFolder(name string) *folder {
	return &folder{name: name, under: map[string]*call{}, large: make(chan struct{}, 1)}
}

// batch is how many names of one folder are read at a time.
const batch = 256

// kind is what a name in an agent folder says about its file.
type kind uint8

const (
	kindIgnored  kind = iota // not for the forwarder
	kindRequest              // a request to take
	kindUnderWay             // a request that a forwarder has taken
	kindForeign              // neither; it is rejected
)

func kindOf(name string) (kind, relay.RequestID) {
	if strings.HasPrefix(name, relay.TempPrefix) || strings.HasPrefix(name, ".nfs") || name == keepName {
		return kindIgnored, "" // .nfs is what NFS calls a removed file that is open
	}
	k := kindRequest
	stem, ok := strings.CutSuffix(name, relay.DoneSuffix)
	if !ok {
		k = kindUnderWay
		stem, ok = strings.CutSuffix(name, relay.WorkSuffix)
	}
	if !ok || !relay.RequestID(stem).Valid() {
		return kindForeign, ""
	}
	return k, relay.RequestID(stem)
}

// keepName keeps an empty agent folder from being removed, for folders that are
// mounted into a sandbox.
const keepName = ".keep"

// stem returns the key under which a name's call is known.
func stem(name string) string {
	if k, id := kindOf(name); k != kindForeign {
		return string(id)
	}
	return name
}

// begin starts reading the names from the beginning if there may be new ones.
// One system call tells whether a folder has changed, and reading it takes ten:
// with a hundred idle agents that is 1 % or 5 % of a processor. A network
// folder may show a change late. So a folder is always read if requests came
// from it that no notification announced, and any other folder now and then.
func (d *folder) begin(requests *os.Root, now time.Time) bool {
	if d.unread || len(d.queue) > 0 {
		return false
	}
	info, err := requests.Lstat(d.name)
	if err != nil {
		return false // gone; any other trouble shows when the folder is used
	}
	// A request that another forwarder has taken is seldom an orphan. Opening
	// the file of each of its calls at every look is not worth it.
	d.orphans = !now.Before(d.nextFull)
	if d.orphans {
		d.nextFull = now.Add(fullInterval)
	} else if !d.missed && info.ModTime().Equal(d.changed) && d.lastRead.Sub(d.changed) > clockGrain {
		return false // a later change would show another time
	}
	d.changed, d.lastRead, d.unread = info.ModTime(), now, true
	return true
}

// next returns the next name to take, or "". It reads at most one batch.
func (d *folder) next(s *spool) (string, error) {
	var err error
	if len(d.queue) == 0 && d.unread {
		err = d.read(s)
	}
	if len(d.queue) == 0 {
		return "", err
	}
	name := d.queue[0]
	d.queue = d.queue[1:]
	return name, err
}

// read appends the next batch of names to the queue, earlier requests first.
func (d *folder) read(s *spool) error {
	if d.list == nil {
		list, err := openList(s.requests, d.name)
		d.unreadable = err != nil
		if err != nil {
			d.unread = false
			return err
		}
		d.list = list
	}
	entries, err := d.list.ReadDir(batch)
	if len(entries) == 0 || err != nil {
		d.stop() // at the end, or the folder is gone
		d.known = true
	}
	for _, e := range entries {
		k, _ := kindOf(e.Name())
		if k == kindIgnored || k == kindUnderWay && !d.orphans {
			continue
		}
		d.queue = append(d.queue, e.Name())
		d.missed = d.missed || k == kindRequest && d.known
	}
	slices.Sort(d.queue)
	return nil
}

// stop ends the reading of names.
func (d *folder) stop() {
	if d.list != nil {
		d.list.Close()
	}
	d.list, d.unread = nil, false
}

// openList opens a folder for reading its names. The empty name stands for
// requests itself.
func openList(requests *os.Root, name string) (*os.File, error) {
	dir, err := openFolder(requests, name)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return dir.Open(".")
}

// call is one name in work.
type call struct {
	dir    *folder
	spool  *spool
	name   string
	id     relay.RequestID // empty: the name is not a request's
	ctx    context.Context
	cancel context.CancelFunc

	// Guarded by Forwarder.mu.
	parks  bool          // it waits in the hub, or for a place there
	placed chan struct{} // closed when it got a place

	charged int64 // bytes of the budget for large requests
	kept    int64 // bytes of the budget for large answers
}
