package engine

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hubcli/internal/require"
)

// FuzzArchive: an archive is refused before anything is written, or writes inside of its folder
// alone.
func FuzzArchive(f *testing.F) {
	small := usual()
	small[3].body = "pak"
	f.Add(archive(f, small))
	f.Add(archive(f, append(small, item{name: "chrome-headless-shell-linux64/../../x", body: "y"})))
	f.Add([]byte("PK\x05\x06" + strings.Repeat("\x00", 18)))
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := readBundle(bytes.NewReader(data), int64(len(data)), &Pin{Platform: "linux64"})
		if err != nil {
			return
		}
		above := t.TempDir()
		inside := filepath.Join(above, "in")
		require.NoError(t, os.Mkdir(inside, 0o700))
		root, err := os.OpenRoot(inside)
		require.NoError(t, err)
		_ = b.unpack(t.Context(), root, func(int64, int64) {}) // what is damaged is seen here
		require.NoError(t, root.Close())
		require.NoError(t, filepath.WalkDir(inside, func(path string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() && !d.Type().IsRegular() {
				t.Errorf("%q is neither a file nor a folder", path)
			}
			return err
		}))
		require.NoError(t, os.RemoveAll(inside))
		rest, err := os.ReadDir(above)
		require.NoError(t, err)
		if len(rest) > 0 {
			t.Errorf("%q is outside", rest)
		}
	})
}
