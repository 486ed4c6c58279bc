package forwarder

import (
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"

	"hubcli/relay"
)

// notices tells of new names in the folders that were added. The looks find the
// names that it misses; on network folders it misses all.
type notices struct {
	make     func() (*fsnotify.Watcher, error) // fsnotify.NewWatcher, but in tests
	requests string
	watcher  *fsnotify.Watcher
	events   chan fsnotify.Event // nil: none will come
	errors   chan error
}

// open begins to tell of the agent folders of the spool in dir.
func (n *notices) open(dir string) error {
	w, err := n.make()
	if err != nil {
		return err
	}
	requests := filepath.Join(dir, relay.RequestsDir)
	if err := w.Add(requests); err != nil {
		w.Close()
		return err
	}
	*n = notices{make: n.make, requests: requests, watcher: w, events: w.Events, errors: w.Errors}
	return nil
}

// add begins to tell of the names in one agent folder.
func (n *notices) add(name string) error { return n.watcher.Add(filepath.Join(n.requests, name)) }

func (n *notices) close() {
	if n.watcher != nil {
		n.watcher.Close()
	}
	*n = notices{make: n.make}
}

// watch asks the system to tell of new names in the folder. The looks do not
// rely on it.
func (f *Forwarder) watch(d *folder) {
	if f.notices.watcher == nil || d.watched {
		return
	}
	err := f.notices.add(d.name)
	d.watched, d.unheard = true, err != nil && !errors.Is(err, fs.ErrNotExist)
	if d.unheard {
		f.log.begin(troubleNotify, err)
	}
}

// watchAgain asks again where notification has failed: other processes may have
// given back watches in the meantime, of which the system has few.
func (f *Forwarder) watchAgain() {
	if !f.cfg.Notify || f.spool == nil {
		return
	}
	f.mu.Lock()
	folders := slices.Collect(maps.Values(f.folders))
	f.mu.Unlock()
	if f.notices.watcher == nil {
		if err := f.notices.open(f.cfg.Dir); err != nil {
			f.log.begin(troubleNotify, err)
			return
		}
		for _, d := range folders {
			d.watched = false
		}
	}
	whole := true
	for _, d := range folders {
		d.watched = d.watched && !d.unheard
		f.watch(d)
		whole = whole && !d.unheard
	}
	if whole {
		f.log.end(troubleNotify)
	}
}

// noticed queues the request that an event is about. ok is false when the
// watcher has ended.
func (f *Forwarder) noticed(e fsnotify.Event, ok bool) {
	if !ok || f.spool == nil {
		f.notices.close()
		return
	}
	where, name := filepath.Dir(e.Name), filepath.Base(e.Name)
	gone := e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename)
	if where == f.notices.requests {
		f.mu.Lock()
		d := f.folders[name]
		f.mu.Unlock()
		if d != nil && gone {
			d.watched = false // a later folder of that name is another folder
		}
		if info, err := f.spool.requests.Lstat(name); err == nil && e.Has(fsnotify.Create) {
			f.found(fs.FileInfoToDirEntry(info), time.Now())
		}
		return
	}
	if k, _ := kindOf(name); k != kindRequest || !e.Has(fsnotify.Create) || filepath.Dir(where) != f.notices.requests {
		return
	}
	f.mu.Lock()
	d := f.folders[filepath.Base(where)]
	f.mu.Unlock()
	if d != nil && len(d.queue) < batch { // the next look finds more
		d.queue = append(d.queue, name)
		d.missed = false
		f.pending[d] = true
	}
}
