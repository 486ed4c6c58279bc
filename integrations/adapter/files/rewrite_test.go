package files

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// addKey rewrites the Claude file as its harness does: the same content and a
// new key, under another inode.
func (p *place) addKey() error {
	b, err := os.ReadFile(p.path(".claude.json"))
	if err != nil {
		return err
	}
	key := fmt.Sprintf("{\n  \"start%d\": 1,\n", bytes.Count(b, []byte("start")))
	b = bytes.Replace(b, []byte("{\n"), []byte(key), 1)
	return errors.Join(os.WriteFile(p.path("rewritten"), b, 0o600), os.Rename(p.path("rewritten"), p.path(".claude.json")))
}

const withKey = "{\n  \"start0\": 1,"

// TestRewrittenBehindTheRename: the harness adds a key to our new content. Our
// entry is in it, so the transaction goes on.
func TestRewrittenBehindTheRename(t *testing.T) {
	p := newPlace(t)
	p.seed()
	rewritten := 0
	p.store.step = func(op, name string) error {
		if op == "folder" && name == p.path(".claude.json") {
			rewritten++
			return p.addKey()
		}
		return nil
	}
	p.must(p.install(p.entries(), Keep))
	if got := p.states(p.entries()); got != "installed installed installed installed installed" || rewritten != 1 {
		t.Errorf("states after %d rewritings: %s", rewritten, got)
	}
	p.must(p.uninstall(claude, Keep))
	if got := p.get(".claude.json"); got != strings.Replace(claudeConfig, "{", "{\n  \"start1\": 1,\n  \"start0\": 1,", 1) {
		t.Errorf("left is %s", got)
	}
	if all := p.tree(); len(all) != 3 {
		t.Errorf("left are %v", all)
	}
}

// TestRewrittenBeforeTheFailure: the harness keeps our entry in a file, and
// another file of the transaction fails. The ledger must record the entry, or
// no uninstall could remove it.
func TestRewrittenBeforeTheFailure(t *testing.T) {
	for _, first := range []bool{true, false} {
		p := newPlace(t)
		p.seed()
		if !first { // an older version, to be replaced
			older := p.entries()[:1]
			older[0].Value = json.RawMessage(`{"command":"/old/hubcli"}`)
			p.must(p.install(older, Keep))
		}
		fault := errors.New("the disk fails")
		p.store.step = func(op, name string) error {
			switch {
			case op == "folder" && name == p.path(".claude.json"):
				return p.addKey()
			case op == "exchange" && name == p.path("CLAUDE.md"):
				return fault
			}
			return nil
		}
		if err := p.install(p.entries(), Keep); !errors.Is(err, fault) || !strings.Contains(err.Error(), "keeps the hub's entry") {
			t.Errorf("the error does not tell: %v", err)
		}
		p.store.step = func(string, string) error { return nil }
		if got := p.states(p.entries()); got != "installed absent absent absent absent" {
			t.Errorf("states: %s", got)
		}
		start := p.save()
		p.must(p.install(p.entries(), Keep))
		p.must(p.uninstall(claude, Keep))
		want := strings.Replace(claudeConfig, "{", withKey, 1)
		if got := p.get(".claude.json"); got != want {
			t.Errorf("after all was installed and uninstalled it holds %s", got)
		}
		p.load(start)
		p.must(p.uninstall(claude, Keep))
		if got := p.get(".claude.json"); got != want {
			t.Errorf("after the uninstall it holds %s", got)
		}
	}
}

// TestRewrittenWhileTakenBack: the harness writes the file while its old
// content is restored. Later changes must still work.
func TestRewrittenWhileTakenBack(t *testing.T) {
	p := newPlace(t)
	p.seed()
	fault, renames := errors.New("the disk fails"), 0
	p.store.step = func(op, name string) error {
		switch {
		case op == "folder" && name == p.path(".claude.json"):
			if renames++; renames == 2 {
				return p.addKey()
			}
		case op == "exchange" && name == p.path("CLAUDE.md"):
			return fault
		}
		return nil
	}
	if err := p.install(p.entries(), Keep); !errors.Is(err, fault) || ReasonOf(err) == Interrupted {
		t.Errorf("the error is %v", err)
	}
	p.store.step = func(string, string) error { return nil }
	if got := p.get(".claude.json"); renames != 2 || got != strings.Replace(claudeConfig, "{", withKey, 1) {
		t.Errorf("after %d renames it holds %s", renames, got)
	}
	p.must(p.install(p.entries(), Keep))
	p.must(p.uninstall(claude, Keep))
}

// TestRewriter: a harness rewrites its file after each write of others.
func TestRewriter(t *testing.T) {
	p := newPlace(t)
	p.seed()
	entries := p.entries()
	entries[0].Rewrites = true
	var mu sync.Mutex // of seen
	seen, err := os.Stat(p.path(".claude.json"))
	p.must(err)
	settled := func() bool {
		mu.Lock()
		defer mu.Unlock()
		now, err := os.Stat(p.path(".claude.json"))
		return err == nil && os.SameFile(seen, now)
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
			}
			if settled() {
				time.Sleep(50 * time.Microsecond)
				continue
			}
			if err := p.addKey(); err != nil {
				t.Error(err)
				return
			}
			now, err := os.Stat(p.path(".claude.json"))
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			seen = now
			mu.Unlock()
		}
	}()
	defer func() { close(stop); <-stopped }()
	deadline := time.Now().Add(time.Minute)
	until := func(what string, change func() error, state State) {
		for p.store.Status(t.Context(), entries[0]).State != state || !settled() {
			if time.Now().After(deadline) {
				t.Fatalf("%s does not come to an end: %s\n%s", what, p.states(entries), p.get(".claude.json"))
			}
			if err := change(); err != nil && ReasonOf(err) != PlanChanged {
				t.Fatalf("%s: %v\n%s", what, err, p.get(".claude.json"))
			}
			for !settled() && time.Now().Before(deadline) {
				time.Sleep(time.Millisecond)
			}
		}
	}
	for range 10 {
		until("install", func() error { return p.install(entries, Keep) }, Installed)
		until("uninstall", func() error { return p.uninstall(claude, Keep) }, Absent)
	}
}
