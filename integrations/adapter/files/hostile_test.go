//go:build unix

package files

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"hubcli/integrations/adapter/edit"
	"hubcli/internal/require"
)

// TestHostilePlaces: a file that is not plainly the user's own is not changed.
func TestHostilePlaces(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(p *place)
		want Reason
	}{
		{"a link out of the home", func(p *place) {
			p.put("../elsewhere.json", "{}")
			p.must(os.Symlink("../elsewhere.json", p.path(".claude.json")))
		}, LeavesRoot},
		{"an absolute link out of the home", func(p *place) {
			p.put("../elsewhere.json", "{}")
			p.must(os.Symlink(p.path("../elsewhere.json"), p.path(".claude.json")))
		}, LeavesRoot},
		{"a link to nothing", func(p *place) { p.must(os.Symlink("nothing", p.path(".claude.json"))) }, LeavesRoot},
		{"a link to itself", func(p *place) { p.must(os.Symlink(".claude.json", p.path(".claude.json"))) }, NoAccess},
		{"a hard link", func(p *place) {
			p.put("other.json", "{}")
			p.must(os.Link(p.path("other.json"), p.path(".claude.json")))
		}, HardLinked},
		{"a folder", func(p *place) { p.must(os.Mkdir(p.path(".claude.json"), 0o700)) }, NotRegular},
		{"a pipe", func(p *place) { p.must(syscall.Mkfifo(p.path(".claude.json"), 0o600)) }, NotRegular},
		{"a file for everybody", func(p *place) {
			p.put(".claude.json", "{}")
			p.must(os.Chmod(p.path(".claude.json"), 0o666))
		}, Foreign},
		{"a home for everybody", func(p *place) { p.must(os.Chmod(p.home, 0o777)) }, Foreign},
		{"a huge file", func(p *place) {
			p.put(".claude.json", "{}")
			p.must(os.Truncate(p.path(".claude.json"), maxFile+1))
		}, TooLarge},
		{"a file that may not be read", func(p *place) {
			if os.Geteuid() == 0 {
				p.t.Skip("needs another user than root, who reads everything")
			}
			p.put(".claude.json", "{}")
			p.must(os.Chmod(p.path(".claude.json"), 0))
		}, NoAccess},
		{"another's file", func(p *place) {
			p.put(".claude.json", "{}")
			if os.Lchown(p.path(".claude.json"), 12345, 12345) != nil {
				p.t.Skip("needs root: only root gives files away")
			}
		}, Foreign},
		{"another's folder", func(p *place) {
			if os.Lchown(p.home, 12345, 12345) != nil {
				p.t.Skip("needs root: only root gives folders away")
			}
		}, Foreign},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPlace(t)
			c.make(p)
			err := p.install(p.entries()[:1], Repair)
			if ReasonOf(err) != c.want {
				t.Errorf("%v (%s), want %s", err, ReasonOf(err), c.want)
			}
			if st := p.store.Status(t.Context(), p.entries()[0]); st.State != Unreadable {
				t.Errorf("the state is %s", st.State)
			}
			if b, err := os.ReadFile(filepath.Join(filepath.Dir(p.home), "elsewhere.json")); err == nil && string(b) != "{}" {
				t.Errorf("the file outside has become %s", b)
			}
		})
	}
}

// TestLinkedFile: a link within the home folder is followed and stays a link.
func TestLinkedFile(t *testing.T) {
	for _, absolute := range []bool{false, true} {
		p := newPlace(t)
		p.put("dotfiles/claude.json", claudeConfig)
		to := "dotfiles/claude.json"
		if absolute {
			to = p.path(to)
		}
		p.must(os.Symlink(to, p.path(".claude.json")))
		p.must(p.install(p.entries()[:1], Keep))
		if link, err := os.Readlink(p.path(".claude.json")); err != nil || link != to {
			t.Errorf("the link has become %q, %v", link, err)
		}
		if !strings.Contains(p.get("dotfiles/claude.json"), `"hub"`) {
			t.Error("what the link leads to was not changed")
		}
		p.must(p.uninstall(claude, Keep))
		if got := p.get("dotfiles/claude.json"); got != claudeConfig {
			t.Errorf("left is %q", got)
		}
	}
}

// TestLinkPutThereMeanwhile: a link that appears between plan and write is not
// followed out of the root.
func TestLinkPutThereMeanwhile(t *testing.T) {
	p := newPlace(t)
	p.seed()
	p.put("../elsewhere.json", claudeConfig)
	plan, err := p.store.PlanInstall(t.Context(), p.entries()[:1], Keep)
	p.must(err)
	p.store.step = func(op, _ string) error {
		if op == "temp" {
			_ = os.Remove(p.path(".claude.json"))
			_ = os.Symlink("../elsewhere.json", p.path(".claude.json"))
		}
		return nil
	}
	if _, err = p.store.Apply(t.Context(), plan); err == nil {
		t.Error("applied through a link")
	}
	if got := p.get("../elsewhere.json"); got != claudeConfig {
		t.Errorf("the file outside holds %q", got)
	}
}

// TestStoreIsPrivate: only the user may read the store.
func TestStoreIsPrivate(t *testing.T) {
	p := newPlace(t)
	p.seed()
	p.must(p.install(p.entries(), Keep))
	err := filepath.WalkDir(p.store.dir, func(name string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", name, info.Mode())
		}
		return err
	})
	p.must(err)
}

// TestFinishedAroundALaterChange: recovery finishes the other files if a user
// has changed one of them since.
func TestFinishedAroundALaterChange(t *testing.T) {
	p := newPlace(t)
	p.seed()
	for at := 1; ; at++ {
		if !p.kill("install", at) {
			t.Fatal("no step lay between the exchanges of two files")
		}
		b, err := os.ReadFile(filepath.Join(p.store.dir, nameJournal))
		var j journal
		if err == nil && json.Unmarshal(b, &j) == nil && j.Phase == forward && p.get(".claude.json") != claudeConfig && p.get("CLAUDE.md") == "# Mine" {
			break
		}
		if _, err := Open(t.Context(), p.store.dir, "1.0"); err != nil {
			t.Fatal(err)
		}
		require.NoError(t, p.uninstall(claude, Keep))
	}
	p.put("CLAUDE.md", "# Mine, later")
	if _, err := Open(t.Context(), p.store.dir, "1.0"); err != nil {
		t.Fatal(err)
	}
	if got := p.get("CLAUDE.md"); got != "# Mine, later" {
		t.Errorf("the later change was lost: %q", got)
	}
	if got := p.states(p.entries()); got != "installed installed installed absent installed" {
		t.Errorf("states: %s", got)
	}
	p.must(p.uninstall(claude, Keep))
	if got := p.get("CLAUDE.md"); got != "# Mine, later" {
		t.Errorf("the uninstall has changed it: %q", got)
	}
	if edit.Hash([]byte(p.get(".claude.json"))) != edit.Hash([]byte(claudeConfig)) {
		t.Error("the uninstall has left something")
	}
}
