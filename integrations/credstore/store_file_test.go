package credstore

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"filippo.io/age"

	"hubcli/internal/require"
)

// newFile returns an encrypted file that is not there yet, with its identity.
func newFile(t *testing.T) *File {
	t.Helper()
	dir := t.TempDir()
	f := &File{Path: filepath.Join(dir, "secrets.age"), Identity: filepath.Join(dir, "identity")}
	writeIdentity(t, f.Identity)
	return f
}

func writeIdentity(t *testing.T, path string) {
	t.Helper()
	id, err := age.GenerateX25519Identity()
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, []byte("# made by a test\n"+id.String()+"\n"), 0o600))
}

var work = Ref{OS, "connection/work"}

func TestFileKeepsSecrets(t *testing.T) {
	f := newFile(t)
	s := &Store{File: f}
	_, err := s.Get(t.Context(), work)
	if KindOf(err) != NotFound {
		t.Errorf("a file that is not there: %v", err)
	}
	for name, secret := range map[string]string{"connection/work": "sk-planted-1", "license": "sk-planted-2"} {
		require.NoError(t, s.Set(t.Context(), Ref{OS, name}, secret))
	}
	other := &Store{File: f} // after a restart
	got, err := other.Get(t.Context(), work)
	if err != nil || got != "sk-planted-1" {
		t.Errorf("%q, %v", got, err)
	}
	data, err := os.ReadFile(f.Path)
	if err != nil || bytes.Contains(data, []byte("planted")) || !bytes.HasPrefix(data, []byte("age-encryption.org/")) {
		t.Errorf("%v: the file begins with %.40q", err, data)
	}
	info, err := os.Stat(f.Path)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	require.NoError(t, other.Delete(t.Context(), work))
	require.NoError(t, other.Delete(t.Context(), work)) // again
	if _, err := s.Get(t.Context(), work); KindOf(err) != NotFound {
		t.Errorf("after it was deleted: %v", err)
	}
	if got, err := s.Get(t.Context(), Ref{OS, "license"}); err != nil || got != "sk-planted-2" {
		t.Errorf("the other secret: %q, %v", got, err)
	}
}

// Each case has a sentence that says what is wrong, keeps the file as it was, and tells
// no secret.
func TestFileThatDoesNotOpen(t *testing.T) {
	for name, c := range map[string]struct {
		harm func(t *testing.T, f *File)
		kind Kind
		says string
	}{
		"no identity named": {func(_ *testing.T, f *File) { f.Identity = "" }, NoStore, "HUB_SECRETS_IDENTITY is not"},
		"no file named":     {func(_ *testing.T, f *File) { f.Path = "" }, NoStore, "HUB_SECRETS_FILE is not"},
		"relative":          {func(_ *testing.T, f *File) { f.Path = "secrets.age" }, NoStore, "absolute"},
		"identity is gone":  {func(t *testing.T, f *File) { require.NoError(t, os.Remove(f.Identity)) }, NoStore, "age-keygen"},
		"identity is none": {func(t *testing.T, f *File) {
			require.NoError(t, os.WriteFile(f.Identity, []byte("AGE-SECRET-KEY-PLANTED\n"), 0o600))
		}, NoStore, "no identity"},
		"identity is a link": {func(t *testing.T, f *File) {
			require.NoError(t, os.Rename(f.Identity, f.Identity+"2"))
			require.NoError(t, os.Symlink(f.Identity+"2", f.Identity))
		}, NoStore, "identity"},
		"identity of another": {func(t *testing.T, f *File) { writeIdentity(t, f.Identity) }, Locked, "does not open"},
		"file was cut": {func(t *testing.T, f *File) {
			data, err := os.ReadFile(f.Path)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(f.Path, data[:len(data)-3], 0o600))
		}, Failed, "cut or changed"},
		"file is a folder": {func(t *testing.T, f *File) {
			require.NoError(t, os.Remove(f.Path))
			require.NoError(t, os.Mkdir(f.Path, 0o700))
		}, Failed, "cannot be read"},
		"file is too long": {func(t *testing.T, f *File) { require.NoError(t, os.Truncate(f.Path, maxFile+1)) }, Failed, "too long"},
		"file of another program": {func(t *testing.T, f *File) {
			text, err := os.ReadFile(f.Identity)
			require.NoError(t, err)
			id, err := age.ParseX25519Identity(strings.TrimSpace(strings.SplitN(string(text), "\n", 2)[1]))
			require.NoError(t, err)
			var sealed bytes.Buffer
			w, err := age.Encrypt(&sealed, id.Recipient())
			require.NoError(t, err)
			_, err = w.Write([]byte("diary"))
			require.NoError(t, err)
			require.NoError(t, w.Close())
			require.NoError(t, os.WriteFile(f.Path, sealed.Bytes(), 0o600))
		}, Failed, "something else"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFile(t)
			require.NoError(t, (&Store{File: f}).Set(t.Context(), work, "sk-planted"))
			path := f.Path
			c.harm(t, f)
			before, _ := os.ReadFile(path)
			s := &Store{File: f}
			_, got := s.Get(t.Context(), work)
			for what, err := range map[string]error{"get": got, "set": s.Set(t.Context(), work, "other"), "delete": s.Delete(t.Context(), work)} {
				if KindOf(err) != c.kind || !strings.Contains(err.Error(), c.says) || strings.Contains(strings.ToLower(err.Error()), "planted") {
					t.Errorf("%s: %v %v, want %s with %q", what, KindOf(err), err, c.kind, c.says)
				}
			}
			if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
				t.Error("the file was changed")
			}
		})
	}
}

func TestFileIdentityThatOthersRead(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs another system than Windows, which has no such modes")
	}
	f := newFile(t)
	require.NoError(t, os.Chmod(f.Identity, 0o640))
	err := (&Store{File: f}).Set(t.Context(), work, "sk-planted")
	if KindOf(err) != NoStore || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(f.Path); err == nil {
		t.Error("a file was made")
	}
}

// Two hubs that share a file lose nothing of each other.
func TestFileOfTwo(t *testing.T) {
	f := newFile(t)
	const each = 20
	var both sync.WaitGroup
	for hub := range 2 {
		both.Go(func() {
			s := &Store{File: f}
			for i := range each {
				if err := s.Set(t.Context(), Ref{OS, strconv.Itoa(hub*each + i)}, "x"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	both.Wait()
	s := &Store{File: f}
	for i := range 2 * each {
		if _, err := s.Get(t.Context(), Ref{OS, strconv.Itoa(i)}); err != nil {
			t.Errorf("%d: %v", i, err)
		}
	}
}

func TestFileOfTheEnvironment(t *testing.T) {
	none := FileOf(func(string) string { return "" })
	if none != nil {
		t.Errorf("%+v without variables", none)
	}
	f := FileOf(func(name string) string { return "/x/" + name })
	if f == nil || f.Path != "/x/HUB_SECRETS_FILE" || f.Identity != "/x/HUB_SECRETS_IDENTITY" {
		t.Errorf("%+v", f)
	}
}
