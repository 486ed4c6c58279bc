package relay

import (
	"io/fs"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// notices tells of new names in the folders that were added. What it misses, on
// network folders everything, the looks find.
type notices struct {
	requests string
	watcher  *fsnotify.Watcher
	events   chan fsnotify.Event // nil: none will come
	errors   chan error
}

// open begins to tell of the agent folders of the spool in dir.
func (n *notices) open(dir string) error {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return err
	}
	requests := filepath.Join(dir, RequestsDir)
	if err := w.Add(requests); err != nil {
		w.Close()
		return err
	}
	*n = notices{requests: requests, watcher: w, events: w.Events, errors: w.Errors}
	return nil
}

// add begins to tell of the names in one agent folder.
func (n *notices) add(name string) error { return n.watcher.Add(filepath.Join(n.requests, name)) }

func (n *notices) close() {
	if n.watcher != nil {
		n.watcher.Close()
	}
	*n = notices{}
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
			d.watched = false // a folder of that name that comes later is another
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
	if d != nil && len(d.queue) < batch { // more are found in their turn
		d.queue = append(d.queue, name)
		d.deaf = false
		f.pending[d] = true
	}
}
