//go:build unix

package hook

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hubcli/internal/identity"
	"hubcli/internal/require"
)

// TestFilesThatOthersCanWriteAreIgnored: the hook uses neither the note of a
// bridge nor the binding of a session if others can write it, and the log says
// so.
func TestFilesThatOthersCanWriteAreIgnored(t *testing.T) {
	elsewhere := func(path string) error {
		away := filepath.Join(filepath.Dir(filepath.Dir(path)), "away")
		if err := os.Rename(path, away); err != nil {
			return err
		}
		return os.Symlink(away, path)
	}
	mode := func(m os.FileMode) func(string) error { return func(path string) error { return os.Chmod(path, m) } }
	for name, tt := range map[string]struct {
		spoil func(path string) error
		said  string // what the log says; empty: the file is used
	}{
		"of the user alone":   {mode(0o600), ""},
		"read by others":      {mode(0o644), ""},
		"written by a group":  {mode(0o620), "others can write to "},
		"written by all":      {mode(0o602), "others can write to "},
		"a link":              {elsewhere, " is no plain file or folder; move it away"},
		"of another user":     {func(path string) error { return os.Chown(path, 12345, -1) }, " belongs to another user; "},
		"in a group's folder": {func(path string) error { return os.Chmod(filepath.Dir(path), 0o770) }, "others can write to "},
		"in another's folder": {func(path string) error { return os.Chown(filepath.Dir(path), 12345, -1) }, " belongs to another user; "},
		"in a linked folder":  {func(path string) error { return elsewhere(filepath.Dir(path)) }, " is no plain file or folder"},
	} {
		if strings.Contains(name, "another") && os.Geteuid() != 0 {
			continue // only root can change the owner of a file
		}
		for _, what := range []string{"note", "binding"} {
			t.Run(what+" "+name, func(t *testing.T) {
				w := newWorld(t)
				path := filepath.Join(w.DataRoot, "hooks", identity.Key("s1")+".json")
				if what == "note" {
					w.inHarness(t, "planted", "s1")
					found, err := filepath.Glob(filepath.Join(w.DataRoot, "bridges", "*.json"))
					if err != nil || len(found) != 1 {
						t.Fatal(found, err)
					}
					path = found[0]
				} else if err := identity.SessionsOf(w.DataRoot).Replace("s1", identity.Binding{AgentID: "planted", BaseURL: "http://planted", InstanceID: "i1"}); err != nil {
					t.Fatal(err)
				}
				require.NoError(t, tt.spoil(path))
				var dialled string
				w.Dial = func(url string) (Service, error) { dialled += url; return w.hub, nil }
				w.hub.attention = withDirected(7)
				believed := strings.Contains(w.say(t, Stop, session), "agent planted:")
				b, _ := os.ReadFile(filepath.Join(w.DataRoot, logName)) // the cases below count the lines of the log
				switch {
				case believed != (tt.said == ""):
					t.Errorf("the hook used the file: %v", believed)
				case believed:
				case strings.Contains(dialled, "planted"):
					t.Errorf("the hook called %s", dialled)
				case strings.Count(string(b), "ignored: ") != 1 || !strings.Contains(string(b), tt.said):
					t.Errorf("the log:\n%s", b)
				}
			})
		}
	}
}
