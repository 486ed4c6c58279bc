//go:build unix

package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hubcli/hub"
	"hubcli/internal/require"
)

// tree lists the files below a folder.
func tree(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	require.NoError(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			name, _ := filepath.Rel(dir, path)
			all = append(all, filepath.ToSlash(name))
		}
		return err
	}))
	return all
}

// whole is the tree of a finished install.
var whole = []string{
	".lock",
	"150.0.1.2-linux64/ABOUT", "150.0.1.2-linux64/chrome-headless-shell",
	"150.0.1.2-linux64/hubcli-install.json", "150.0.1.2-linux64/locales/en.pak",
}

// refusedWith fails unless err is the hub's, says want and names a way out.
func refusedWith(t *testing.T, err error, want string) {
	t.Helper()
	var h *hub.Error
	if !errors.As(err, &h) || !strings.Contains(h.Message, want) || h.Fix == "" {
		t.Errorf("failed with %v, want %q and a way out", err, want)
	}
}

func TestInstall(t *testing.T) {
	data := archive(t, usual())
	s := newSite(t, data)
	root := t.TempDir()
	dir := folderOf(root)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "149.0.1.2-linux64"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, ".149.0.1.2-linux64.part"), nil, 0o600))
	var stages []Stage
	in := s.installer(root, pinsOf(data))
	in.Progress = func(p Progress) {
		if len(stages) == 0 || stages[len(stages)-1] != p.Stage {
			stages = append(stages, p.Stage)
		}
	}
	done, err := in.Install(t.Context())
	require.NoError(t, err)
	if !done.Fresh || !done.Usable || done.Version != testVersion || done.Source != SourceManaged || !slices.Equal(done.Removed, []string{"149.0.1.2-linux64"}) {
		t.Errorf("installed %+v", done)
	}
	equal(t, tree(t, dir), whole)
	if !slices.Equal(stages, []Stage{Downloading, Unpacking}) {
		t.Errorf("the stages were %v", stages)
	}
	info, err := os.Stat(done.Path)
	require.NoError(t, err)
	if info.Mode().Perm() != 0o700 {
		t.Errorf("the program has the mode %v", info.Mode())
	}
	// It is the first of all engines, and a second install downloads nothing.
	engines := Discover(t.Context(), in.Options)
	if len(engines) == 0 || engines[0].Path != done.Path || !engines[0].Usable {
		t.Errorf("found %+v", engines)
	}
	done, err = in.Install(t.Context())
	require.NoError(t, err)
	if done.Fresh || len(s.seen()) != 1 {
		t.Errorf("the second install was fresh: %v, with %d requests", done.Fresh, len(s.seen()))
	}
}

// TestInstallGoesOnWhereItBrokeOff: a connection that breaks off is taken up again, also by
// the next run, and only what is missing is requested.
func TestInstallGoesOnWhereItBrokeOff(t *testing.T) {
	data := archive(t, usual())
	t.Run("in one run", func(t *testing.T) {
		s := newSite(t, data)
		s.answer = s.cutsOff(100_000)
		_, err := s.installer(t.TempDir(), pinsOf(data)).Install(t.Context())
		require.NoError(t, err)
		equal(t, s.seen(), []string{"", "bytes=100000-"})
		if got := s.requests[1].Header.Get("If-Range"); got != `"one"` {
			t.Errorf("If-Range is %q", got)
		}
	})
	t.Run("in the next run", func(t *testing.T) {
		s, root := newSite(t, data), t.TempDir()
		ctx, cancel := context.WithCancelCause(t.Context())
		stop := errors.New("Ctrl-C")
		in := s.installer(root, pinsOf(data))
		in.Progress = func(Progress) { cancel(stop) }
		s.answer = s.cutsOff(100_000)
		if _, err := in.Install(ctx); !errors.Is(err, stop) {
			t.Fatalf("ended with %v", err)
		}
		part, err := os.Stat(filepath.Join(folderOf(root), "."+testVersion+"-linux64.part"))
		require.NoError(t, err)
		_, err = s.installer(root, pinsOf(data)).Install(t.Context())
		require.NoError(t, err)
		equal(t, s.seen(), []string{"", fmt.Sprintf("bytes=%d-", part.Size())})
		equal(t, tree(t, folderOf(root)), whole)
	})
}

// TestInstallBeginsAnewWhereItCannotGoOn: what is here and what the server has now do not
// belong together, or the server gives another part than asked for.
func TestInstallBeginsAnewWhereItCannotGoOn(t *testing.T) {
	data := archive(t, usual())
	for _, tt := range []struct {
		name string
		part []byte
		note string // %s is the address
		then func(w http.ResponseWriter, n int) bool
	}{
		{"the archive has changed there", data[:5000], `{"url": "%s", "etag": "\"zero\""}`, nil},
		{"nothing is known of the part", data[:5000], ``, nil},
		{"the part is from elsewhere", data[:5000], `{"url": "https://other.example/", "etag": "\"one\""}`, nil},
		{"the part is damaged", make([]byte, 5000), `{"url": "%s", "etag": "\"one\""}`, nil},
		{"the part is as long as the archive and damaged", make([]byte, len(data)), `{"url": "%s", "etag": "\"one\""}`, nil},
		{"the part is too long", make([]byte, len(data)+1), `{"url": "%s", "etag": "\"one\""}`, nil},
		{"the note is damaged", data[:5000], `{`, nil},
		{"another part comes", data[:5000], `{"url": "%s", "etag": "\"one\""}`, func(w http.ResponseWriter, n int) bool {
			if n == 1 {
				w.Header().Set("Content-Range", fmt.Sprintf("bytes 6000-%d/%d", len(data)-1, len(data)))
				w.WriteHeader(http.StatusPartialContent)
			}
			return n == 1
		}},
		{"no part comes", data[:5000], `{"url": "%s", "etag": "\"one\""}`, func(w http.ResponseWriter, n int) bool {
			if n == 1 {
				w.WriteHeader(http.StatusRequestedRangeNotSatisfiable)
			}
			return n == 1
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, root := newSite(t, data), t.TempDir()
			if tt.then != nil {
				s.answer = func(w http.ResponseWriter, _ *http.Request, n int) bool { return tt.then(w, n) }
			}
			in := s.installer(root, pinsOf(data))
			dir := folderOf(root)
			require.NoError(t, os.MkdirAll(dir, 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(dir, in.Pins.Versions[0].Archives["linux64"].part()), tt.part, 0o600))
			note := strings.Replace(tt.note, "%s", in.Pins.Versions[0].Archives["linux64"].url(s.URL+"/mirror"), 1)
			require.NoError(t, os.WriteFile(filepath.Join(dir, originName), []byte(note), 0o600))
			done, err := in.Install(t.Context())
			require.NoError(t, err)
			if !done.Usable {
				t.Errorf("it cannot be used: %s", done.Reason)
			}
			equal(t, tree(t, dir), whole)
		})
	}
}

// TestInstallRefusesAnotherArchive: whatever a server answers, nothing but the pinned archive
// is unpacked, and the failure names a way out.
func TestInstallRefusesAnotherArchive(t *testing.T) {
	data := archive(t, usual())
	other := slices.Clone(data)
	other[len(other)/2] ^= 1
	send := func(body []byte) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) { _, _ = w.Write(body) }
	}
	chunks := func(body []byte) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			_ = http.NewResponseController(w).Flush() // no Content-Length
			_, _ = w.Write(body)
		}
	}
	status := func(code int) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) { w.WriteHeader(code) }
	}
	for _, tt := range []struct {
		name   string
		answer func(http.ResponseWriter)
		want   string
	}{
		{"one bit differs", send(other), "is not the pinned one of version 150.0.1.2 for linux64: its SHA-256 is "},
		{"one byte less", func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", fmt.Sprint(len(data)-1))
			_, _ = w.Write(data[:len(data)-1])
		}, fmt.Sprintf("and the server sends %d", len(data)-1)},
		{"one byte more", send(append(slices.Clone(data), 0)), "and the server sends "},
		{"one byte more, in chunks", chunks(append(slices.Clone(data), 0)), "and the server sends more bytes than that"},
		{"one byte less, in chunks", chunks(data[:len(data)-1]), "breaks off: unexpected EOF"},
		{"a portal's page", send([]byte("<html>log in</html>")), "and the server sends 19"},
		{"a redirect", func(w http.ResponseWriter) {
			w.Header().Set("Location", "https://elsewhere.example/x?token=1")
			w.WriteHeader(http.StatusFound)
		}, "redirects the download to https://elsewhere.example, and redirects are not followed"},
		{"not there", status(http.StatusNotFound), "does not have the archive of version 150.0.1.2 for linux64"},
		{"forbidden", status(http.StatusForbidden), "refuses the download: it answers 403 Forbidden"},
		{"broken", status(http.StatusBadGateway), "it answers 502 Bad Gateway"},
		{"another encoding", func(w http.ResponseWriter) {
			w.Header().Set("Content-Encoding", "br")
			_, _ = w.Write(data)
		}, "an encoding that was not asked for"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, root := newSite(t, data), t.TempDir()
			s.answer = func(w http.ResponseWriter, _ *http.Request, _ int) bool { tt.answer(w); return true }
			_, err := s.installer(root, pinsOf(data)).Install(t.Context())
			refusedWith(t, err, tt.want)
			if strings.Contains(err.Error(), "token") {
				t.Errorf("the failure tells what a server sent: %v", err)
			}
			for _, name := range tree(t, folderOf(root)) {
				if strings.Contains(name, "/") || name == stageName {
					t.Errorf("%s was unpacked", name)
				}
			}
			s.answer = nil
			_, err = s.installer(root, pinsOf(data)).Install(t.Context())
			require.NoError(t, err)
		})
	}
}

// TestInstallTrustsNobodyElse: a server whose certificate the machine does not know is not
// asked, and no option changes that.
func TestInstallTrustsNobodyElse(t *testing.T) {
	data := archive(t, usual())
	s := newSite(t, data)
	in := s.installer(t.TempDir(), pinsOf(data))
	in.RootCAs = nil
	_, err := in.Install(t.Context())
	refusedWith(t, err, "does not prove that it is the server: this machine does not know who signed its certificate")
	if len(s.seen()) != 0 {
		t.Error("the server was asked all the same")
	}
	for _, mirror := range []string{"http://mirror.example", "ftp://mirror.example", "mirror.example", "https://", "https://m.example/?a=b", "://"} {
		in.Getenv = variablesOf(map[string]string{EnvMirror: mirror})
		_, err := in.Install(t.Context())
		refusedWith(t, err, EnvMirror+" is no address of a mirror")
	}
}

// TestInstallGivesUpOnASilentServer: a server that sends nothing is left after a while.
func TestInstallGivesUpOnASilentServer(t *testing.T) {
	data := archive(t, usual())
	s := newSite(t, data)
	s.answer = func(w http.ResponseWriter, r *http.Request, _ int) bool {
		_, _ = w.Write(data[:10])
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		return true
	}
	in := s.installer(t.TempDir(), pinsOf(data))
	in.stall = 20 * time.Millisecond
	_, err := in.Install(t.Context())
	refusedWith(t, err, "breaks off: it sent nothing for 20ms")
}

// TestInstallsWaitForEachOther: of several at once one downloads.
func TestInstallsWaitForEachOther(t *testing.T) {
	data := archive(t, usual())
	s, root := newSite(t, data), t.TempDir()
	var wg sync.WaitGroup
	var mu sync.Mutex
	fresh, waited := 0, 0
	for range 4 {
		in := s.installer(root, pinsOf(data))
		in.Progress = func(p Progress) {
			mu.Lock()
			defer mu.Unlock()
			if p.Stage == Waiting {
				waited++
			}
		}
		wg.Go(func() {
			done, err := in.Install(t.Context())
			require.NoError(t, err)
			mu.Lock()
			defer mu.Unlock()
			if done.Fresh {
				fresh++
			}
		})
	}
	wg.Wait()
	if fresh != 1 || len(s.seen()) != 1 || waited == 0 {
		t.Errorf("%d installs were fresh with %d requests, %d waited", fresh, len(s.seen()), waited)
	}
}

// TestInstallReplacesADamagedEngine: an engine that is not as it was installed is no engine,
// and the next install brings it back.
func TestInstallReplacesADamagedEngine(t *testing.T) {
	data := archive(t, usual())
	s := newSite(t, data)
	for name, damage := range map[string]func(dir string) error{
		"its checksum is not the pinned one": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "chrome-headless-shell"), []byte("#!/bin/sh\necho HeadlessChrome 150.9.9.9\n"), 0o700)
		},
		"its file locales/en.pak is missing or damaged": func(dir string) error { return os.Remove(filepath.Join(dir, "locales", "en.pak")) },
		"it was not installed by hubcli browser install, or not as a whole": func(dir string) error {
			return os.Remove(filepath.Join(dir, receiptName))
		},
		"its note about the install does not fit the pinned archive": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, receiptName), []byte(`{"archive_sha256": "0"}`), 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			in := s.installer(t.TempDir(), pinsOf(data))
			done, err := in.Install(t.Context())
			require.NoError(t, err)
			require.NoError(t, damage(filepath.Dir(done.Path)))
			if got := Discover(t.Context(), in.Options)[0]; got.Usable || got.Path != done.Path || got.Reason != name {
				t.Errorf("found %+v", got)
			}
			done, err = in.Install(t.Context())
			require.NoError(t, err)
			if !done.Fresh || !done.Usable {
				t.Errorf("installed %+v", done)
			}
			equal(t, tree(t, folderOf(in.DataRoot)), whole)
		})
	}
}

// TestInstallChecksTheProgram: the pin of the program counts beside that of the archive.
func TestInstallChecksTheProgram(t *testing.T) {
	data := archive(t, usual())
	s := newSite(t, data)
	pins := pinsOf(data)
	pins.Versions[0].Archives["linux64"].ExecutableSHA256 = strings.Repeat("0", 64)
	in := s.installer(t.TempDir(), pins)
	_, err := in.Install(t.Context())
	refusedWith(t, err, "the program in the archive of version 150.0.1.2 for linux64 is not the pinned one")
	if got := tree(t, folderOf(in.DataRoot)); slices.ContainsFunc(got, func(name string) bool { return strings.Contains(name, "/") }) {
		t.Errorf("left %v", got)
	}
}

// TestInstallKnowsItsPlaces: where there is no engine to install, or no place for it, a
// sentence says so before anything is downloaded.
func TestInstallKnowsItsPlaces(t *testing.T) {
	data := archive(t, usual())
	s := newSite(t, data)
	for _, tt := range []struct {
		name   string
		change func(t *testing.T, in *Installer)
		want   string
	}{
		{"another system", func(_ *testing.T, in *Installer) { in.GOOS = "freebsd" }, "there is no engine to download for freebsd on amd64"},
		{"no GNU C library", func(t *testing.T, in *Installer) { in.top = t.TempDir() }, "needs the GNU C library"},
		{"others may write there", func(t *testing.T, in *Installer) {
			require.NoError(t, os.MkdirAll(folderOf(in.DataRoot), 0o700))
			require.NoError(t, os.Chmod(folderOf(in.DataRoot), 0o777))
		}, "may be written by everybody, so others could change the engine"},
		{"a link", func(t *testing.T, in *Installer) {
			require.NoError(t, os.Symlink(t.TempDir(), filepath.Join(in.DataRoot, "browsers")))
		}, "is a link or a file"},
		{"a file in the way", func(t *testing.T, in *Installer) {
			require.NoError(t, os.WriteFile(filepath.Join(in.DataRoot, "browsers"), nil, 0o600))
		}, "the engine cannot be installed"},
		{"no room", func(t *testing.T, in *Installer) {
			pin := *in.Pins.Versions[0].Archives["linux64"]
			pin.Bytes = 1 << 55
			in.Pins.Versions[0].Archives["linux64"] = &pin
		}, "has no room for the engine: it needs "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := s.installer(t.TempDir(), pinsOf(data))
			tt.change(t, in)
			_, err := in.Install(t.Context())
			refusedWith(t, err, tt.want)
		})
	}
	if len(s.seen()) != 0 {
		t.Errorf("%d requests", len(s.seen()))
	}
}
