//go:build unix

package forwarder

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/relay"
)

// TestHostileFiles: any file in an agent's folder is moved away or answered, no
// link is followed, and other agents are served.
func TestHostileFiles(t *testing.T) {
	request := func(id string) []byte {
		return fmt.Appendf(nil, `{"request_id":%q,"agent_id":"evil","method":"POST","path":"/v1/messages","body":{"from_agent":"evil","body":"never"}}`, id)
	}
	for _, c := range []struct {
		what, name string
		make       func(path, outside string) error
		reason     string
	}{
		{"symbolic link", "a.json", func(path, outside string) error { return os.Symlink(outside, path) }, "symbolic link"},
		{"dangling link", "a.json", func(path, _ string) error { return os.Symlink("/nowhere", path) }, "symbolic link"},
		{"link within the spool", "a.json", func(path, _ string) error { return os.Symlink(filepath.Join("..", "good", "x"), path) }, "symbolic link"},
		{"link of a request under way", "a.work", func(path, outside string) error { return os.Symlink(outside, path) }, "symbolic link"},
		{"hard link", "a.json", func(path, outside string) error { return os.Link(outside, path) }, "hard link"},
		{"hard link under way", "a.work", func(path, outside string) error { return os.Link(outside, path) }, "hard link"},
		{"pipe", "a.json", func(path, _ string) error { return unix.Mkfifo(path, 0o600) }, "pipe"},
		{"pipe under way", "a.work", func(path, _ string) error { return unix.Mkfifo(path, 0o600) }, "pipe"},
		{"socket", "a.json", func(path, _ string) error {
			l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
			if err == nil {
				l.SetUnlinkOnClose(false)
				l.Close()
			}
			return err
		}, "socket"},
		{"folder", "a.json", func(path, outside string) error {
			whole := outside + "-folder" // made outside, because the forwarder may move it before it is complete
			if err := os.MkdirAll(filepath.Join(whole, "b", "c"), 0o700); err != nil {
				return err
			}
			return os.Rename(whole, path)
		}, "folder"},
		{"sparse giant", "a.json", func(path, _ string) error { return sparse(path, 2<<30) }, "bytes"},
		{"just too large", "a.json", func(path, _ string) error { return sparse(path, relay.MaxRequestBytes+1) }, "bytes"},
		{"other ending", "a.txt", func(path, _ string) error { return os.WriteFile(path, request("a"), 0o600) }, "name"},
		{"no ending", "a", func(path, _ string) error { return os.WriteFile(path, request("a"), 0o600) }, "name"},
		{"dots", "...json", func(path, _ string) error { return os.WriteFile(path, request(".."), 0o600) }, "name"},
		{"line break", "a\nb.json", func(path, _ string) error { return os.WriteFile(path, request("a\nb"), 0o600) }, "name"},
		{"emoji", "😀.json", func(path, _ string) error { return os.WriteFile(path, request("😀"), 0o600) }, "name"},
		{"no UTF-8", "\xff\xfe.json", func(path, _ string) error { return os.WriteFile(path, request("x"), 0o600) }, "name"},
		{"long name", strings.Repeat("x", 240) + ".json", func(path, _ string) error { return os.WriteFile(path, request("x"), 0o600) }, "name"},
		{"option", "-rf.json", func(path, _ string) error { return os.WriteFile(path, request("-rf"), 0o600) }, "name"},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			b := start(t, nil)
			outside := filepath.Join(filepath.Dir(b.dir), "outside")
			dir := b.path(relay.RequestsDir, "evil")
			require.NoError(t, os.WriteFile(outside, request("a"), 0o600))
			require.NoError(t, os.Mkdir(dir, 0o700))
			require.NoError(t, c.make(filepath.Join(dir, c.name), outside))
			b.until("the file is moved away", func() bool { return len(b.names(relay.RequestsDir, "evil")) == 0 })
			b.rejectedFor("evil", c.reason)
			b.works("good")
			b.works("evil")
			if slices.Contains(b.bodies(), "never") {
				t.Error("the file was sent")
			}
			if got, err := os.ReadFile(outside); err != nil || string(got) != string(request("a")) {
				t.Errorf("the file outside has changed: %q, %v", got, err)
			}
			if strings.HasSuffix(c.reason, "bytes") {
				r, e := b.answer("evil", "a")
				if r.Status != 413 || e.Code != hub.CodeRequestTooLarge {
					t.Errorf("the client of a file that is too large is told %+v", e)
				}
			}
		})
	}
}

// sparse makes a file of a size that takes no room.
func sparse(path string, size int64) error {
	temp := filepath.Join(filepath.Dir(path), relay.TempPrefix+"sparse")
	return errors.Join(os.WriteFile(temp, nil, 0o600), os.Truncate(temp, size), os.Rename(temp, path))
}

// rejectedFor waits for a reason in the rejected files of a folder.
func (b *bench) rejectedFor(folder, word string) {
	b.Helper()
	b.until("a reason with "+word, func() bool {
		for _, name := range b.names(relay.RejectedDir, folder) {
			if !strings.HasSuffix(name, reasonSuffix) {
				continue
			}
			text, err := os.ReadFile(b.path(relay.RejectedDir, folder, name))
			if err == nil && strings.Contains(string(text), word) {
				return true
			}
		}
		return false
	})
}

// TestHostileFolders: an entry of requests/ that is not an agent's folder is
// moved away.
func TestHostileFolders(t *testing.T) {
	b := start(t, nil)
	outside := t.TempDir()
	for _, err := range []error{
		os.Mkdir(b.path(relay.RequestsDir, "Ordner Ä"), 0o700),
		os.Mkdir(b.path(relay.RequestsDir, "..."), 0o700),
		os.Mkdir(b.path(relay.RequestsDir, strings.Repeat("x", 65)), 0o700),
		os.Symlink(outside, b.path(relay.RequestsDir, "linked")),
		os.Symlink("good", b.path(relay.RequestsDir, "alias")),
		os.WriteFile(b.path(relay.RequestsDir, "file"), nil, 0o600),
		unix.Mkfifo(b.path(relay.RequestsDir, "pipe"), 0o600),
	} {
		require.NoError(t, err)
	}
	b.works("good")
	b.until("the others are moved away", func() bool { return slices.Equal(b.names(relay.RequestsDir), []string{"good"}) })
	b.until("seven are rejected, with seven reasons", func() bool { return len(b.names(relay.RejectedDir, "_")) == 14 })
	for _, agent := range []hub.AgentID{"linked", "alias", "file", "pipe"} {
		b.works(agent)
	}
}

// TestMalformedRequestsAreAnswered: a regular file under a request's name gets
// an answer whatever it holds.
func TestMalformedRequestsAreAnswered(t *testing.T) {
	b := start(t, nil)
	ids := map[relay.RequestID]hub.Code{}
	for text, want := range malformedRequests {
		id := relay.NewRequestID()
		if want.code == hub.CodeInvalidJSON {
			ids[id] = want.code
			b.put("dev-a", string(id)+relay.DoneSuffix, []byte(text))
		}
	}
	other := relay.NewRequestID()
	ids[other] = hub.CodeAgentMismatch
	b.put("dev-a", string(other)+relay.DoneSuffix, []byte(strings.ReplaceAll(strings.ReplaceAll(wholeRequest, "dev-a", "dev-b"), "r-1", string(other))))
	for id, code := range ids {
		r, e := b.answer("dev-a", id)
		if e.Code != code || r.Status != hub.NewError(code, "").Status || r.Error != e.Error || e.Detail["request_id"] != string(id) {
			t.Errorf("%+v: want %s", e, code)
		}
	}
	b.until("the files are removed", func() bool { return len(b.names(relay.RequestsDir, "dev-a")) == 0 })
	if n := len(b.bodies()); n != 0 {
		t.Errorf("%d messages of requests that were refused", n)
	}
}

// TestResponseFolderIsALink: no answer goes through the link, and other agents
// do not wait.
func TestResponseFolderIsALink(t *testing.T) {
	outside := t.TempDir()
	for _, c := range []struct {
		what string
		make func(path string) error
	}{
		{"link outside", func(path string) error { return os.Symlink(outside, path) }},
		{"link to another agent", func(path string) error { return os.Symlink("good", path) }},
		{"file", func(path string) error { return os.WriteFile(path, nil, 0o600) }},
		{"pipe", func(path string) error { return unix.Mkfifo(path, 0o600) }},
	} {
		t.Run(c.what, func(t *testing.T) {
			b := start(t, nil)
			b.works("good")
			require.NoError(t, c.make(b.path(relay.ResponsesDir, "evil")))
			id := b.ask("evil", "POST", "/v1/messages", `{"from_agent":"evil","body":"kept"}`)
			b.until("the trouble is told", func() bool { return strings.Contains(b.log.String(), troubleRespond) })
			b.works("good")
			if got := append(b.names(relay.ResponsesDir, "evil"), b.names(relay.ResponsesDir, "good")...); slices.Contains(got, string(id)+relay.DoneSuffix) {
				t.Errorf("the answer went through the link")
			}
			if entries, _ := os.ReadDir(outside); len(entries) != 0 {
				t.Errorf("files appeared outside: %v", entries)
			}
			require.NoError(t, os.Remove(b.path(relay.ResponsesDir, "evil")))
			if r, _ := b.answer("evil", id); r.Status != 201 || r.Headers["Idempotent-Replayed"] != "true" {
				t.Errorf("%+v", r)
			}
			if n := strings.Count(b.log.String(), troubleRespond+`"`); n > 2 {
				t.Errorf("the log tells %d times of the same trouble\n%s", n, b.log)
			}
			if all := strings.Join(b.bodies(), ", "); strings.Count(all, "kept") != 1 {
				t.Errorf("messages %s", all)
			}
		})
	}
}

// TestResponseNameIsALink: the link is replaced, not followed.
func TestResponseNameIsALink(t *testing.T) {
	b := start(t, nil)
	outside := filepath.Join(t.TempDir(), "outside")
	require.NoError(t, os.WriteFile(outside, []byte("untouched"), 0o600))
	id := relay.NewRequestID()
	path := b.path(relay.ResponsesDir, "dev-a", string(id)+relay.DoneSuffix)
	require.NoError(t, os.Mkdir(filepath.Dir(path), 0o700))
	require.NoError(t, os.Symlink(outside, path))
	b.askAs(id, "dev-a", "GET", "/v1/hub-info", "")
	b.until("the link is replaced", func() bool {
		info, err := os.Lstat(path)
		return err == nil && info.Mode().IsRegular()
	})
	if text, _ := os.ReadFile(outside); string(text) != "untouched" {
		t.Errorf("the file outside holds %q", text)
	}
}

// TestSpoolFoldersAreLinks: a spool whose own folders are links is not served
// until they are folders.
func TestSpoolFoldersAreLinks(t *testing.T) {
	for _, name := range []string{relay.RequestsDir, relay.ResponsesDir} {
		t.Run(name, func(t *testing.T) {
			b := start(t, nil)
			require.NoError(t, os.RemoveAll(b.path(name)))
			require.NoError(t, os.Symlink(t.TempDir(), b.path(name)))
			b.until("the trouble is told", func() bool { return strings.Contains(b.log.String(), troubleSpool) })
			f, err := New(Config{Dir: b.dir, BaseURL: b.url})
			require.NoError(t, err)
			if f.look(); f.spool != nil {
				f.close()
				t.Error("a spool was opened through a link")
			}
			require.NoError(t, os.Remove(b.path(name)))
			b.works("dev-b")
		})
	}
}
