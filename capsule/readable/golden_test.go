package readable

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"hubcli/internal/require"
)

var update = flag.Bool("update", false, "write the expected files of testdata anew")

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}

// golden compares all files with those of one file in testdata.
func golden(t *testing.T, name string, out files) {
	t.Helper()
	var b strings.Builder
	for _, path := range slices.Sorted(maps.Keys(out)) {
		if !utf8.Valid(out[path]) || strings.HasSuffix(path, ".png") || strings.HasPrefix(path, "replays/") {
			continue
		}
		b.WriteString("==== " + path + "\n" + string(out[path]))
	}
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(b.String()), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	if got := b.String(); got != string(want) {
		t.Errorf("%s differs (write it anew with -update if that is right):\n%s", path, got)
	}
}
