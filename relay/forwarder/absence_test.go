package forwarder

import (
	"errors"
	"os"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"hubcli/internal/require"
	"hubcli/internal/testhub"
	"hubcli/relay"
)

// TestAbsentSpoolIsAwaited: a spool that is not there is hardly looked for, because
// the system tells when it comes; where the system does not, it is looked for.
func TestAbsentSpoolIsAwaited(t *testing.T) {
	b := newBench(t, testhub.Start(t).URL)
	require.NoError(t, os.RemoveAll(b.dir))
	f := b.made(func(c *Config) { c.Notify = true })
	defer f.close()
	refuse := true
	f.absence.make = func() (*fsnotify.Watcher, error) {
		if refuse {
			return nil, errors.New("there are no more")
		}
		return fsnotify.NewWatcher()
	}
	f.look()
	f.await()
	if f.absence.armed() || f.interval() != absentInterval {
		t.Errorf("without notification it is looked for every %v", f.interval())
	}
	refuse = false
	f.await()
	if !f.absence.armed() || f.interval() != waitInterval {
		t.Errorf("with notification it is looked for every %v", f.interval())
	}
	require.NoError(t, relay.MakeSpool(b.dir))
	select {
	case <-f.absence.events:
	case <-time.After(patience):
		t.Fatal("nobody tells of the spool")
	}
	f.look()
	f.await()
	if f.spool == nil || f.absence.armed() {
		t.Errorf("the spool is served: %v, and still awaited: %v", f.spool != nil, f.absence.armed())
	}
}

// TestSpoolThatComesIsServedAtOnce, long before the next look.
func TestSpoolThatComesIsServedAtOnce(t *testing.T) {
	b := newBench(t, testhub.Start(t).URL)
	require.NoError(t, os.RemoveAll(b.dir))
	ready, _ := b.forwardUnready(func(c *Config) { c.Notify, c.PollInterval = true, MaxPollInterval })
	require.NoError(t, relay.MakeSpool(b.dir))
	select {
	case <-ready:
	case <-time.After(patience):
		t.Fatal("the spool is not served")
	}
}

// TestQuietSpoolIsLookedAtSeldom, if notification tells of it, and as ever if one
// folder needs the looks.
func TestQuietSpoolIsLookedAtSeldom(t *testing.T) {
	b := newBench(t, testhub.Start(t).URL)
	b.put("early", keepName, nil)
	f := b.made(func(c *Config) { c.Notify = true })
	defer f.close()
	f.look()
	f.startSome(t.Context())
	f.calls.Wait()
	if got := f.interval(); got != f.cfg.PollInterval {
		t.Errorf("right after a call it is looked at every %v", got)
	}
	f.active = time.Now().Add(-quietAfter)
	clear(f.pending)
	clear(f.quick)
	d := f.folder("early")
	d.missed = false
	if got := f.interval(); got != quietInterval {
		t.Errorf("a quiet spool is looked at every %v", got)
	}
	for what, change := range map[string]func(){
		"a request came unannounced":     func() { d.missed = true },
		"a folder cannot be watched":     func() { d.unheard = true },
		"a folder cannot be read":        func() { d.unreadable = true },
		"names wait":                     func() { f.pending[d] = true },
		"there is no notification":       func() { f.notices.watcher = nil },
		"a call has just begun":          func() { f.active = time.Now() },
		"another forwarder holds a name": func() { d.heldByOthers = 1 },
	} {
		missed, unheard, unreadable, held := d.missed, d.unheard, d.unreadable, d.heldByOthers
		active, notices := f.active, f.notices
		change()
		if got := f.interval(); got != f.cfg.PollInterval {
			t.Errorf("%s: it is looked at every %v", what, got)
		}
		d.missed, d.unheard, d.unreadable, d.heldByOthers = missed, unheard, unreadable, held
		f.active, f.notices = active, notices
		clear(f.pending)
	}
}
