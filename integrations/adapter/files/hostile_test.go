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
		{"a link out of the home to a folder for everybody", func(p *place) {
			p.put("../all/elsewhere.json", "{}")
			p.must(os.Chmod(p.path("../all"), 0o777))
			p.must(os.Symlink("../all/elsewhere.json", p.path(".claude.json")))
		}, Foreign},
		{"a link out of the home to a file for everybody", func(p *place) {
			p.put("../elsewhere.json", "{}")
			p.must(os.Chmod(p.path("../elsewhere.json"), 0o666))
			p.must(os.Symlink(p.path("../elsewhere.json"), p.path(".claude.json")))
		}, Foreign},
		{"a link out of the home to a folder", func(p *place) { p.must(os.Symlink("..", p.path(".claude.json"))) }, NotRegular},
		{"a link out of the home to a pipe", func(p *place) {
			p.must(syscall.Mkfifo(p.path("../pipe"), 0o600))
			p.must(os.Symlink("../pipe", p.path(".claude.json")))
		}, NotRegular},
		{"a link out of the home to nothing", func(p *place) { p.must(os.Symlink("../nothing/x.json", p.path(".claude.json"))) }, LeavesRoot},
		{"a link into another's folder", func(p *place) {
			p.put("../theirs/elsewhere.json", "{}")
			p.must(os.Symlink("../theirs/elsewhere.json", p.path(".claude.json")))
			if os.Lchown(p.path("../theirs"), 12345, 12345) != nil {
				p.t.Skip("needs root: only root gives folders away")
			}
		}, Foreign},
		{"a link over another's folder to a file of the user", func(p *place) {
			p.put("../theirs/x", "")
			p.put("../elsewhere.json", "{}")
			p.must(os.Symlink("../elsewhere.json", p.path("../theirs/link")))
			p.must(os.Symlink("../theirs/link", p.path(".claude.json")))
			if os.Lchown(p.path("../theirs"), 12345, 12345) != nil {
				p.t.Skip("needs root: only root gives folders away")
			}
		}, Foreign},
		{"a link over another's link", func(p *place) {
			p.put("../elsewhere.json", "{}")
			p.must(os.Symlink("elsewhere.json", p.path("../link")))
			p.must(os.Symlink("../link", p.path(".claude.json")))
			if os.Lchown(p.path("../link"), 12345, 12345) != nil {
				p.t.Skip("needs root: only root gives links away")
			}
		}, Foreign},
		{"a link over a folder for everybody back home", func(p *place) {
			p.put("../all/x", "")
			p.must(os.Chmod(p.path("../all"), 0o777))
			p.put("other.json", "{}")
			p.must(os.Symlink("../home/other.json", p.path("../all/link")))
			p.must(os.Symlink("../all/link", p.path(".claude.json")))
		}, Foreign},
		{"a link to nothing", func(p *place) { p.must(os.Symlink("nothing", p.path(".claude.json"))) }, LeavesRoot},
		{"a link to itself", func(p *place) { p.must(os.Symlink(".claude.json", p.path(".claude.json"))) }, LeavesRoot},
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

// TestLinkOutOfHome: a person keeps dotfiles outside of the home folder. The file is edited
// where the link leads, over a chain too, the plan says so, the link stays, and an uninstall
// gives the bytes back, also after the link was replaced. A project's link is not followed.
func TestLinkOutOfHome(t *testing.T) {
	for name, link := range map[string]func(p *place) string{
		"the file": func(p *place) string {
			p.must(os.Symlink("../dot/claude.json", p.path(".claude.json")))
			return ".claude.json"
		},
		"a chain": func(p *place) string {
			p.must(os.Symlink(p.path("../dot/claude.json"), p.path("../dot/second")))
			p.must(os.Symlink("../dot/second", p.path(".claude.json")))
			return ".claude.json"
		},
		"the folder": func(p *place) string {
			p.must(os.Symlink("../dot", p.path(".config")))
			return ".config/claude.json"
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			p.put("../dot/claude.json", claudeConfig)
			e := p.entries()[0]
			e.File = p.path(link(p))
			plan, err := p.store.PlanInstall(t.Context(), []Entry{e}, Keep)
			p.must(err)
			if said := strings.Join(plan.Changes[0].Notes, "\n"); !strings.Contains(said, "leads to "+p.path("../dot/claude.json")) {
				t.Errorf("the plan says %q", said)
			}
			_, err = p.store.Apply(t.Context(), plan)
			p.must(err)
			if !strings.Contains(p.get("../dot/claude.json"), `"hub"`) {
				t.Error("what the link leads to was not changed")
			}
			if st := p.store.Status(t.Context(), e); st.State != Installed || st.Outside == "" {
				t.Errorf("the state is %s, outside is %q: %v", st.State, st.Outside, st.Err)
			}
			theirs := e
			theirs.Owner = Owner{Harness: e.Owner.Harness, Scope: Project, Path: p.home}
			if st := p.store.Status(t.Context(), theirs); ReasonOf(st.Err) != LeavesRoot {
				t.Errorf("in a project: %v", st.Err)
			}
			if name == "the file" {
				p.must(os.Remove(p.path(".claude.json")))
				p.put(".claude.json", "{}")
			}
			p.must(p.uninstall(claude, Keep))
			if got := p.get("../dot/claude.json"); got != claudeConfig {
				t.Errorf("left is %q", got)
			}
			if _, err := os.Readlink(p.path(".claude.json")); name == "a chain" && err != nil {
				t.Error("the link is gone")
			}
		})
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
