//go:build goexperiment.jsonv2

package api_test

import (
	"encoding/json/v2"
	"strings"
	"testing"

	"hubcli/api"
	"hubcli/hub"
)

// These compare the reader of requests with encoding/json/v2, which needs a flag of the toolchain:
//
//	GOEXPERIMENT=jsonv2 go test -run=OtherReader -bench=Reader ./api ./capsule ./mcp

// TestOtherReaderIsLessStrict: what encoding/json/v2 takes and the hub must refuse. When this
// fails the decision in docs/architecture.md has to be looked at again.
func TestOtherReaderIsLessStrict(t *testing.T) {
	for name, body := range map[string]string{
		"a number that no float64 holds":   readerInputs()["number too large"],
		"nesting beyond 64 levels":         readerInputs()["deep"],
		"null among values":                `{"blocked_by":[null]}`,
		"an empty agent instead of none":   `{"to_agent":""}`,
		"0 where the id of a message goes": `{"reply_to":0}`,
	} {
		var ours, other hub.PostInput
		if api.Decode([]byte(body), &ours) == nil {
			t.Errorf("%s: the hub takes it", name)
		}
		if err := json.Unmarshal([]byte(body), &other); err != nil {
			t.Errorf("%s: encoding/json/v2 refuses it too: %v", name, err)
		}
	}
}

func BenchmarkReaderOther(b *testing.B) {
	for name, body := range readerInputs() {
		b.Run(strings.ReplaceAll(name, " ", "_")+"/v2", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var in hub.PostInput
				_ = json.Unmarshal([]byte(body), &in)
			}
		})
	}
}
