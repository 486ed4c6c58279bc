package forwarder

import (
	"os"
	"path/filepath"

	"github.com/fsnotify/fsnotify"
)

// absence tells of changes in the folder in which a spool may appear: the nearest
// one above it that is there. It is a hint. The looks find a spool that it misses.
type absence struct {
	make    func() (*fsnotify.Watcher, error) // fsnotify.NewWatcher, but in tests
	watcher *fsnotify.Watcher
	events  chan fsnotify.Event // nil: none will come
	errors  chan error
}

func (a *absence) armed() bool { return a.watcher != nil }

// arm begins to tell of the folder above dir. It reports whether the system does.
func (a *absence) arm(dir string) bool {
	w, err := a.make()
	if err != nil {
		return false
	}
	for above := filepath.Dir(dir); ; above = filepath.Dir(above) {
		if info, err := os.Stat(above); err == nil && info.IsDir() {
			if err := w.Add(above); err == nil {
				break
			}
		}
		if filepath.Dir(above) == above {
			w.Close()
			return false
		}
	}
	*a = absence{make: a.make, watcher: w, events: w.Events, errors: w.Errors}
	return true
}

func (a *absence) close() {
	if a.watcher != nil {
		a.watcher.Close()
	}
	*a = absence{make: a.make}
}

// await asks the system to tell when a spool appears that the forwarder must not
// create. It looks once more, because the spool may have appeared before that.
func (f *Forwarder) await() {
	switch {
	case f.spool != nil || f.cfg.Create || !f.cfg.Notify:
		f.absence.close()
	case !f.absence.armed() && f.absence.arm(f.cfg.Dir):
		f.look()
	}
}
