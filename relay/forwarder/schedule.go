package forwarder

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime/debug"
	"time"

	"hubcli/relay"
)

// The troubles that the log tells of.
const (
	troubleSpool   = "the spool cannot be served"
	troubleNotify  = "the system sends no notification of new files; the spool is only polled"
	troubleFolder  = "an agent folder cannot be read"
	troubleTake    = "a request cannot be taken"
	troubleRespond = "a response cannot be written"
	troubleReject  = "a file cannot be rejected"
	troubleCrowd   = "there are too many agent folders; the rest is not served"
	troubleFull    = "too many calls are under way; requests wait in the spool"
)

// look opens the spool if it has appeared or was replaced, and begins to read
// the names of all its folders.
func (f *Forwarder) look() {
	if f.spool != nil && !f.spool.same(f.cfg.Dir) {
		f.retire()
	}
	if f.spool == nil && !f.open() {
		return
	}
	if err := f.list(); err != nil {
		f.log.begin(troubleSpool, err, "spool", f.cfg.Dir)
		f.retire()
		return
	}
	f.log.end(troubleSpool, "spool", f.cfg.Dir)
}

// open reports whether the spool is open now.
func (f *Forwarder) open() bool {
	var err error
	if f.cfg.Create {
		err = f.Make()
	} else {
		_, err = f.mayOpen()
	}
	if err != nil {
		f.log.begin(troubleSpool, err, "spool", f.cfg.Dir)
		return false
	}
	s, err := openSpool(f.cfg.Dir)
	if err == nil {
		if f.cfg.Owner {
			err = s.own()
		}
		if err == nil {
			err = s.accept(f.cfg.Accept)
		}
		if err != nil {
			s.close()
		}
	}
	if err != nil {
		if f.cfg.Create || !errors.Is(err, fs.ErrNotExist) {
			f.log.begin(troubleSpool, err, "spool", f.cfg.Dir)
		}
		return false
	}
	f.spool = s
	if f.cfg.Notify {
		if err := f.notices.open(f.cfg.Dir); err != nil {
			f.log.begin(troubleNotify, err)
		}
	}
	f.cfg.Ready()
	f.cfg.Ready = func() {}
	f.sweepBeside()
	return true
}

// retire lets go of the spool. Calls that are under way keep it open until they
// have ended.
func (f *Forwarder) retire() {
	f.notices.close()
	f.misfits.queue = nil
	f.leaveFolders()
	clear(f.pending)
	clear(f.quick)
	f.spool.release()
	f.spool = nil
}

func (f *Forwarder) leaveFolders() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, d := range f.folders {
		d.stop()
		d.queue, d.watched = nil, false
	}
}

// close lets go of the spool if it is open.
func (f *Forwarder) close() {
	f.absence.close()
	if f.spool != nil {
		f.retire()
	}
}

// list reads the names of all agent folders.
func (f *Forwarder) list() error {
	names, err := f.spool.requests.Open(".")
	if err != nil {
		return err
	}
	defer names.Close()
	for _, d := range f.folders {
		d.seen = false
	}
	f.crowded = false
	now := time.Now()
	for n := 0; ; {
		entries, err := names.ReadDir(batch)
		for _, e := range entries {
			if n++; n > 2*f.most.folders {
				f.crowd()
				return nil // and folders that were not listed are not forgotten
			}
			f.found(e, now)
		}
		if errors.Is(err, io.EOF) || err == nil && len(entries) == 0 {
			break
		}
		if err != nil {
			return err
		}
	}
	f.forget()
	if !f.crowded {
		f.log.end(troubleCrowd)
	}
	return nil
}

// crowd notes that there are more folders than the forwarder serves.
func (f *Forwarder) crowd() {
	f.crowded = true
	f.log.begin(troubleCrowd, fmt.Errorf("more than %d", f.most.folders))
}

// found takes note of one entry of requests/.
func (f *Forwarder) found(e fs.DirEntry, now time.Time) {
	name := e.Name()
	if k, _ := kindOf(name); k == kindIgnored {
		return
	}
	if !isFolderName(name) || !e.IsDir() {
		if len(f.misfits.queue) < batch {
			f.misfits.queue = append(f.misfits.queue, name)
			f.pending[f.misfits] = true
		}
		return
	}
	d := f.folder(name)
	if d == nil {
		f.crowd()
		return
	}
	d.seen = true
	f.watch(d)
	f.readAgain(d, now)
	if d.unread {
		f.pending[d] = true
	}
}

// The back-off from a folder whose names other forwarders have locked or under way.
// Opening such a name costs a lock attempt and gains nothing.
const (
	backOffFree = 64                   // names that cost no pause
	backOffStep = 5 * time.Millisecond // for each of the others
	backOffMax  = 5 * time.Second
)

// notOurs counts a name that another forwarder has.
func (f *Forwarder) notOurs(d *folder) {
	f.mu.Lock()
	d.heldByOthers++
	f.mu.Unlock()
}

// readAgain begins to read the names of a folder, unless another forwarder held
// too many of them the last time. The count lasts until the next reading
// begins, because the calls of one reading end long after it.
func (f *Forwarder) readAgain(d *folder, now time.Time) {
	f.mu.Lock()
	over := d.heldByOthers - backOffFree
	f.mu.Unlock()
	if over > 0 && now.Before(d.lastRead.Add(min(time.Duration(over)*backOffStep, backOffMax))) {
		return
	}
	if d.begin(f.spool.requests, now) {
		f.mu.Lock()
		d.heldByOthers = 0
		f.mu.Unlock()
	}
}

// lookQuickly reads some of the folders from which requests have just come
// unannounced. A client that made one call usually makes more. On a folder of
// another machine each of these calls would wait a poll interval.
func (f *Forwarder) lookQuickly() {
	now := time.Now()
	n := 0
	for d, until := range f.quick { // in no order, so that all get their turn
		if !d.missed || now.After(until) {
			delete(f.quick, d)
			continue
		}
		if n++; n > quickFolders {
			return
		}
		f.readAgain(d, now)
		if d.unread {
			f.pending[d] = true
		}
	}
}

// folder returns the folder of that name, nil if there are too many.
func (f *Forwarder) folder(name string) *folder {
	f.mu.Lock()
	defer f.mu.Unlock()
	d := f.folders[name]
	if d == nil && len(f.folders) < f.most.folders {
		d = newFolder(name)
		f.folders[name] = d
	}
	return d
}

// forget drops the folders that are gone, and their troubles.
func (f *Forwarder) forget() {
	var gone []string
	f.mu.Lock()
	for name, d := range f.folders {
		if !d.seen && len(d.under) == 0 {
			d.stop()
			delete(f.folders, name)
			delete(f.pending, d)
			delete(f.quick, d)
			gone = append(gone, name)
		}
	}
	f.mu.Unlock()
	for _, name := range gone {
		for _, what := range []string{troubleFolder, troubleTake, troubleRespond, troubleReject} {
			f.log.end(what, "folder", name)
		}
	}
}

// startSome starts calls, one of each folder in turn, until there is nothing left
// to start or no room.
func (f *Forwarder) startSome(ctx context.Context) {
	for progress := true; progress && ctx.Err() == nil; {
		progress = false
		for d := range f.pending { // in no order, so that no folder comes first
			if !f.room(d) {
				continue
			}
			name := f.nextOf(d)
			if name == "" {
				if !d.unread {
					delete(f.pending, d)
				}
				continue
			}
			progress = true
			if d.missed {
				f.quick[d] = time.Now().Add(quickFor)
			}
			f.start(d, name)
		}
	}
}

// nextOf returns the next name of the folder to take, or "". It logs when the
// names become unreadable and when they are readable again.
func (f *Forwarder) nextOf(d *folder) string {
	was := d.unreadable
	name, err := d.next(f.spool)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		f.log.begin(troubleFolder, err, "folder", d.name)
	case was && !d.unreadable:
		f.log.end(troubleFolder, "folder", d.name)
	}
	return name
}

// start deals with a name in a goroutine, unless one does already.
func (f *Forwarder) start(d *folder, name string) {
	f.active = time.Now()
	key := stem(name)
	_, id := kindOf(name)
	c := &call{dir: d, spool: f.spool, name: name, id: id}
	f.mu.Lock()
	if d.under[key] != nil {
		f.mu.Unlock()
		return
	}
	c.ctx, c.cancel = context.WithTimeout(f.ending, f.cfg.RequestTimeout)
	d.under[key] = c
	d.calls++
	f.inAll++
	f.mu.Unlock()
	c.spool.use()
	f.calls.Go(func() {
		defer f.done(c, key)
		defer f.survive(c)
		f.deal(c)
	})
}

// survive keeps a panic about one request from ending the other calls and the
// daemon.
func (f *Forwarder) survive(c *call) {
	if cause := recover(); cause != nil {
		f.panicked(cause, "folder", c.dir.name)
		f.block(c.dir, troubleTake, errPanicked)
	}
}

// panicked logs a panic that was caught; args tell where.
func (f *Forwarder) panicked(cause any, args ...any) {
	f.cfg.Logger.Error("relay: the forwarder panicked", append(args, "cause", fmt.Sprint(cause), "stack", string(debug.Stack()))...)
}

var errPanicked = errors.New("the forwarder panicked")

// done gives back what the call has held.
func (f *Forwarder) done(c *call, key string) {
	c.cancel()
	c.spool.release()
	f.discharge(c)
	f.drop(c)
	f.mu.Lock()
	delete(c.dir.under, key)
	f.inAll--
	c.dir.calls--
	f.unpark(c)
	f.mu.Unlock()
	f.wake()
}

// The pauses of a folder whose files cannot be written.
const (
	firstPause = 500 * time.Millisecond
	longPause  = 2 * time.Second // well below what clients wait
)

// block pauses a folder for a while, because responses could not be written
// there.
func (f *Forwarder) block(d *folder, what string, err error) {
	f.log.begin(what, err, "folder", d.name)
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	if now.Before(d.blocked) {
		return // another call of the same moment has blocked it
	}
	d.pause = min(max(2*d.pause, firstPause), longPause)
	d.blocked = now.Add(d.pause)
}

// unblock notes that a folder's files can be written.
func (f *Forwarder) unblock(d *folder) {
	f.mu.Lock()
	d.pause = 0
	f.mu.Unlock()
	f.log.end(troubleRespond, "folder", d.name)
	f.log.end(troubleTake, "folder", d.name)
}

// exists reports whether there is anything called name in root.
func exists(root *os.Root, name string) (bool, error) {
	_, err := root.Lstat(name)
	return err == nil, relay.IgnoreMissing(err)
}
