//go:build goexperiment.jsonv2

package capsule

import (
	"encoding/json/v2"
	"testing"

	"hubcli/internal/require"
)

// TestOtherReaderIsLessStrict: encoding/json/v2 takes what the format refuses, so a walk over each
// line would have to stay beside it. See api/reader_other_test.go.
func TestOtherReaderIsLessStrict(t *testing.T) {
	for name, text := range map[string]string{
		"members that are missing": `{}`, "null": `{"format":null}`,
	} {
		var ours, other Manifest
		if decode([]byte(text), &ours, false) == nil {
			t.Errorf("%s: a capsule may have it", name)
		}
		if err := json.Unmarshal([]byte(text), &other, json.RejectUnknownMembers(true)); err != nil {
			t.Errorf("%s: encoding/json/v2 refuses it too: %v", name, err)
		}
	}
}

func BenchmarkReaderOther(b *testing.B) {
	manifest, line := readerInputs(b)
	b.Run("manifest/v2", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var m Manifest
			require.NoError(b, json.Unmarshal(manifest, &m, json.RejectUnknownMembers(true)))
		}
	})
	b.Run("line/v2", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var m Message
			require.NoError(b, json.Unmarshal(line, &m, json.RejectUnknownMembers(true)))
		}
	})
}
