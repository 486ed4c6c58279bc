package session

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hubcli/hub"
	"hubcli/internal/process"
	"hubcli/internal/require"
)

// slotted gives a link a slot.
func slotted(root, name string) func(*Config) {
	return func(c *Config) { c.Agent, c.DataRoot, c.ResumeKey = "", root, name }
}

// linked returns the agent of a link and its remark.
func linked(t *testing.T, l *Link) (hub.AgentID, string) {
	t.Helper()
	l.Meet("a client")
	l.Called(nil)
	s, err := l.Session(t.Context())
	require.NoError(t, err)
	return s.Agent, s.Remark
}

func TestDefaultNameNeverDisplaces(t *testing.T) {
	h := &scripted{script: map[string]string{"register": "session_conflict ok"}}
	l, end := linkTo(t, h, func(c *Config) { c.Agent = "" })
	defer end()
	if id, remark := linked(t, l); !strings.HasPrefix(string(id), "mcp-client-") || !strings.Contains(remark, "Another agent has or had the name mcp-client, so you are "+string(id)) {
		t.Errorf("it is %s and says %q", id, remark)
	}
	if said := h.transcript(); strings.Contains(said, "by force") {
		t.Errorf("the hub hears %q", said)
	}
}

func TestTwoBridgesOnOneSlot(t *testing.T) {
	root := t.TempDir()
	first, end := linkTo(t, &scripted{}, slotted(root, "s"))
	defer end()
	linked(t, first)
	if _, err := first.TakeUp(t.Context(), "joined"); err != nil {
		t.Fatal(err)
	}
	second, end2 := linkTo(t, &scripted{}, slotted(root, "s"))
	defer end2()
	if id, remark := linked(t, second); id != "mcp-client" || !strings.Contains(remark, "Another running bridge uses the slot s") {
		t.Errorf("the second is %s and says %q", id, remark)
	}
	h := &scripted{script: map[string]string{"register": "session_conflict ok"}}
	named, end3 := linkTo(t, h, func(c *Config) { slotted(root, "s")(c); c.Agent = "mcp-client" })
	defer end3()
	if id, _ := linked(t, named); id != "mcp-client-2" || strings.Contains(h.transcript(), "by force") {
		t.Errorf("with --agent on a held slot it is %s", id)
	}
}

func TestSlotThatCannotBeTrustedIsRefused(t *testing.T) {
	for name, spoil := range map[string]func(path string) error{
		"damaged":  func(p string) error { return os.WriteFile(p, []byte("{"), 0o600) },
		"readable": func(p string) error { return os.Chmod(p, 0o640) },
		"huge":     func(p string) error { return os.WriteFile(p, make([]byte, 1<<20), 0o600) },
		"symlink": func(p string) error {
			if err := os.Rename(p, p+".away"); err != nil {
				return err
			}
			return os.Symlink(p+".away", p)
		},
		"folder": func(p string) error { return os.Chmod(filepath.Dir(p), 0o750) },
		"a folder in its place": func(p string) error {
			if err := os.Remove(p); err != nil {
				return err
			}
			return os.Mkdir(p, 0o755)
		},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			first, end := linkTo(t, &scripted{}, slotted(root, "s"))
			linked(t, first)
			end()
			if err := spoil(filepath.Join(root, slotsFolder, "key-s.json")); err != nil {
				t.Fatal(err)
			}
			h := &scripted{}
			second, end := linkTo(t, h, slotted(root, "s"))
			defer end()
			second.Meet("a client")
			_, err := second.Session(t.Context())
			var e *hub.Error
			if !errors.As(err, &e) || !strings.Contains(e.Message, "the slot key-s cannot be used") || e.Fix == "" {
				t.Fatalf("it says %v", err)
			}
			if strings.HasPrefix(name, "a ") && (strings.Contains(e.Fix, "chmod") || !strings.Contains(e.Fix, "move the folder away")) {
				t.Errorf("of a folder it says %q", e.Fix)
			}
			if said := h.transcript(); said != "" {
				t.Errorf("the hub hears %q", said)
			}
		})
	}
}

func TestSlotNames(t *testing.T) {
	for _, bad := range []string{"", ".", "..", "a/b", `a\b`, "../x", "/x", "a b", "ä", ".hidden", strings.Repeat("a", 65), "a\x00"} {
		if CheckSlot(bad) == nil {
			t.Errorf("%q is taken", bad)
		}
	}
	for _, good := range []string{"a", "codex-main", "A.b_c-9"} {
		if err := CheckSlot(good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
}

// Harnesses that share a process, and those that name their agent, are not one.
func TestSlotsTellHarnessesAndNamesApart(t *testing.T) {
	h, root := &scripted{}, t.TempDir()
	named := func(name hub.AgentID, more func(*Config)) func(*Config) {
		return func(c *Config) {
			c.Agent, c.DataRoot = "", root
			c.Getenv = func(variable string) string { return map[string]string{"HUB_AGENT": string(name)}[variable] }
			more(c)
		}
	}
	seen := map[hub.AgentID]string{}
	for _, c := range []struct{ harness, named string }{{"claude-code", ""}, {"codex", ""}, {"zed", ""}, {"codex", "alpha"}, {"zed", "alpha"}, {"codex", "beta"}} {
		me, end := linkTo(t, h, named(hub.AgentID(c.named), func(cfg *Config) {
			cfg.Harness = c.harness
			cfg.Parent = func() int { return 4242 }
			cfg.Process = func(pid int) (process.Process, bool) { return process.Process{PID: pid, Began: "then"}, true }
		}))
		id, _ := linked(t, me)
		if before, ok := seen[id]; ok && c.named == "" || c.named != "" && string(id) != c.named || c.named == "" && !strings.HasPrefix(string(id), c.harness) {
			t.Errorf("%+v is %s, as was %s", c, id, before)
		}
		seen[id] = c.harness
		end()
	}
	// A slot that is named is left where the environment names another.
	for _, name := range []hub.AgentID{"alpha", "beta", "beta"} {
		me, end := linkTo(t, h, named(name, func(cfg *Config) { cfg.ResumeKey = "s" }))
		if id, _ := linked(t, me); id != name {
			t.Errorf("HUB_AGENT=%s is %s", name, id)
		}
		end()
	}
}

// A slot is of a hub, not of its address: where nobody has named the address, the agent goes on at
// the hub's next one. An address that was named is the hub.
func TestSlotOfAHubThatMoved(t *testing.T) {
	for name, c := range map[string]struct {
		named bool
		store string // of the hub at the second address
		want  string
	}{
		"the same store":  {false, "store", "resume s1 by k1: ok"},
		"another store":   {false, "else", "register me by force: ok"},
		"a named address": {true, "store", "register me by force: ok"},
	} {
		t.Run(name, func(t *testing.T) {
			h, root := &scripted{script: map[string]string{}}, t.TempDir()
			link := func(url string) (*Link, func()) {
				return linkTo(t, h, func(cfg *Config) {
					cfg.DataRoot, cfg.ResumeKey = root, "s"
					if !c.named {
						cfg.Where = func() string { return url }
					}
				})
			}
			me, end := link("http://127.0.0.1:6969")
			linked(t, me)
			end()
			h.transcript()
			h.script["info at port 6975"] = c.store
			me, end = link("http://127.0.0.1:6975")
			if c.named {
				me.base.Store(me.dial("http://127.0.0.1:6975"))
			}
			linked(t, me)
			if said := h.transcript(); said != c.want {
				t.Errorf("the hub hears %q, want %q", said, c.want)
			}
			end()
		})
	}
}
