package capsule

import (
	"encoding/json"
	"strings"
	"testing"

	"hubcli/internal/require"
)

// readerInputs are a manifest and a line as a capsule has them.
func readerInputs(tb testing.TB) (manifest, line []byte) {
	tb.Helper()
	_, written := newSample().write(tb, someManifest, deflateLevel)
	manifest, err := json.Marshal(written)
	require.NoError(tb, err)
	m := ordinaryMessage(17)
	line, err = json.Marshal(&m)
	require.NoError(tb, err)
	var a Manifest
	var b Message
	require.NoError(tb, decode(manifest, &a, false))
	require.NoError(tb, decode(line, &b, false))
	return manifest, line
}

// TestStrictBeforeDecoding: a list that is too long is refused before it becomes memory, and a text
// that breaks off is refused like one that is no JSON.
func TestStrictBeforeDecoding(t *testing.T) {
	_, line := readerInputs(t)
	for _, cut := range []int{1, len(line) / 2, len(line) - 1} {
		var m Message
		if err := decode(line[:cut], &m, false); err == nil || m.ID != 0 {
			t.Errorf("%q is taken as %+v: %v", line[:cut], m, err)
		}
	}
	var m Message
	long := strings.Replace(string(line), "{", `{"attachments":[`+strings.Repeat(`{"type":"text"},`, maxElements)+`{"type":"text"}],`, 1)
	if err := decode([]byte(long), &m, false); err == nil || len(m.Attachments) != 0 {
		t.Errorf("a list of %d elements is taken: %v", len(m.Attachments), err)
	}
}

// BenchmarkReader is what docs/architecture.md compares with encoding/json/v2: see strict_other_test.go.
func BenchmarkReader(b *testing.B) {
	manifest, line := readerInputs(b)
	b.Run("manifest/ours", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var m Manifest
			require.NoError(b, decode(manifest, &m, false))
		}
	})
	b.Run("line/ours", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var m Message
			require.NoError(b, decode(line, &m, false))
		}
	})
}
