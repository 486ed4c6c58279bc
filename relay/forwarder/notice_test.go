package forwarder

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"hubcli/internal/testhub"
	"hubcli/relay"
)

// TestNotificationIsTriedAgain: a forwarder without notification tries again at
// each sweep, for all its folders. The log tells once that there is none and
// once that it works.
func TestNotificationIsTriedAgain(t *testing.T) {
	b := newBench(t, testhub.Start(t).URL)
	b.put("early", keepName, nil)
	f := b.made(func(c *Config) { c.Notify = true })
	defer f.close()
	refuse := true
	f.notices.make = func() (*fsnotify.Watcher, error) {
		if refuse {
			return nil, errors.New("there are no more")
		}
		return fsnotify.NewWatcher()
	}
	f.look()
	for range 3 {
		f.watchAgain()
		f.look()
	}
	if f.notices.watcher != nil || strings.Count(b.log.String(), troubleNotify) != 1 {
		t.Fatalf("a watch that cannot be had:\n%s", b.log)
	}
	refuse = false
	f.watchAgain()
	if f.notices.watcher == nil || !strings.Contains(b.log.String(), "over: "+troubleNotify) {
		t.Fatalf("the watch is not had:\n%s", b.log)
	}
	b.ask("early", "GET", "/v1/hub-info", "")
	for deadline := time.After(patience); ; {
		select {
		case event := <-f.notices.events:
			if strings.HasSuffix(event.Name, relay.DoneSuffix) {
				return
			}
		case <-deadline:
			t.Fatal("nobody tells of the request")
		}
	}
}

// TestFolderIsWatchedAgain: a forwarder also tries again for a single folder.
func TestFolderIsWatchedAgain(t *testing.T) {
	b := newBench(t, testhub.Start(t).URL)
	f := b.made(func(c *Config) { c.Notify = true })
	defer f.close()
	f.look()
	d := f.folder("dev-a")
	d.watched, d.unheard = true, true
	f.log.begin(troubleNotify, errors.New("there are no more"))
	b.put("dev-a", keepName, nil)
	if f.watchAgain(); d.unheard || !strings.Contains(b.log.String(), "over: "+troubleNotify) {
		t.Errorf("it is not watched:\n%s", b.log)
	}
	f.watchAgain()
	if list := f.notices.watcher.WatchList(); len(list) != 2 {
		t.Errorf("watched are %q", list)
	}
}
