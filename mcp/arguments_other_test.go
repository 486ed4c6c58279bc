//go:build goexperiment.jsonv2

package mcp

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"testing"

	"hubcli/internal/require"
)

// BenchmarkReaderOther: see api/reader_other_test.go.
func BenchmarkReaderOther(b *testing.B) {
	b.Run("call/v2", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var given map[string]jsontext.Value
			require.NoError(b, json.Unmarshal([]byte(toolCall), &given))
		}
	})
}
