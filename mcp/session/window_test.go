package session

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hubcli/hub"
	"hubcli/internal/process"
)

// desk holds bridges that one client starts in folders, one process for all.
type desk struct {
	hub    *scripted
	root   string
	client string
}

// open starts the bridge of a window. The returned function ends it.
func (d *desk) open(t *testing.T, folder string) (hub.AgentID, func()) {
	t.Helper()
	l, end := linkTo(t, d.hub, func(c *Config) {
		c.Agent, c.DataRoot = "", d.root
		c.Getenv = func(name string) string { return map[string]string{"CLAUDE_PROJECT_DIR": folder}[name] }
		c.Process = func(pid int) (process.Process, bool) { return process.Process{PID: pid, Parent: 1, Began: "7"}, true }
		c.Parent = func() int { return 4242 }
	})
	l.Meet(d.client)
	s, err := l.Session(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s.Agent, end
}

// TestWindowsComeBackInAnyOrder: each window of a client is the agent that it was, in whatever
// order the windows come back, whether the client is known or not.
func TestWindowsComeBackInAnyOrder(t *testing.T) {
	for _, client := range []string{"zed", "an-unknown-editor"} {
		d := &desk{hub: &scripted{script: map[string]string{}}, root: t.TempDir(), client: client}
		front, endFront := d.open(t, "/w/front")
		back, endBack := d.open(t, "/w/back")
		if front == back {
			t.Fatalf("%s: both are %s", client, front)
		}
		endFront()
		endBack()
		for range 2 {
			again, end := d.open(t, "/w/back")
			if again != back {
				t.Errorf("%s: the back window was %s and is %s", client, back, again)
			}
			if other, end := d.open(t, "/w/front"); other != front {
				t.Errorf("%s: the front window was %s and is %s", client, front, other)
			} else {
				end()
			}
			end()
		}
	}
}

// TestWindowsThatNothingTellsApartAreNew: two windows in one folder are two agents, and after a
// restart both are new: nobody reads the mail of another.
func TestWindowsThatNothingTellsApartAreNew(t *testing.T) {
	for _, client := range []string{"zed", "an-unknown-editor"} {
		d := &desk{hub: &scripted{script: map[string]string{"resume": "ok"}}, root: t.TempDir(), client: client}
		var had []hub.AgentID
		for round := range 3 {
			first, end1 := d.open(t, "/w")
			second, end2 := d.open(t, "/w")
			for _, id := range []hub.AgentID{first, second} {
				if slices.Contains(had, id) || first == second {
					t.Errorf("%s, round %d: a window is %s, who was another before (%q)", client, round, id, had)
				}
			}
			had = append(had, first, second)
			end2()
			end1()
		}
		left, err := filepath.Glob(filepath.Join(d.root, slotsFolder, "*.json"))
		if err != nil || len(left) != 0 {
			t.Errorf("%s: the slots %q are kept, %v", client, left, err)
		}
	}
}

// TestLoneWindowIsWhoItWas: a window that its client starts again while the bridge before it ends
// is the same agent.
func TestLoneWindowIsWhoItWas(t *testing.T) {
	d := &desk{hub: &scripted{script: map[string]string{}}, root: t.TempDir(), client: "zed"}
	first, end := d.open(t, "/w")
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		end()
	}()
	again, end2 := d.open(t, "/w")
	<-ended
	defer end2()
	if again != first {
		t.Errorf("the window was %s and is %s", first, again)
	}
}

// TestNobodyTakesANameThatWasAnothers: the name of clients that nobody has named is taken by the
// first of them alone.
func TestNobodyTakesANameThatWasAnothers(t *testing.T) {
	h := &scripted{script: map[string]string{"had": "mcp-client"}}
	l, end := linkTo(t, h, func(c *Config) { c.Agent, c.DataRoot = "", t.TempDir() })
	defer end()
	id, remark := linked(t, l)
	if !strings.HasPrefix(string(id), "mcp-client-") || len(id) != len("mcp-client-")+8 || !strings.Contains(remark, "Another agent has or had the name mcp-client") {
		t.Errorf("it is %s and says %q", id, remark)
	}
	if said := h.transcript(); said != "register mcp-client: ok\nend s1: ok\nregister "+string(id)+": ok" {
		t.Errorf("the hub hears %q", said)
	}
	if _, err := os.Stat(filepath.Join(l.DataRoot, slotsFolder)); err != nil {
		t.Error(err)
	}
}
