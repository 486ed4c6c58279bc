package api_test

import (
	"strings"
	"testing"

	"hubcli/api"
	"hubcli/hub"
)

// readerInputs are bodies of posts: what the hub reads all day, and what it has to refuse fast.
func readerInputs() map[string]string {
	post := func(body string) string {
		return `{"from_agent":"agent-12","channel":"general","kind":"chat","body":"` + body + `","thread_id":"thread-1","metadata":{"n":1}}`
	}
	return map[string]string{
		"post 200 B":       post(strings.Repeat("lorem ip", 11)),
		"post 64 KiB":      post(strings.Repeat("lorem ipsum, \\\"dolor\\\" sit\\n", 2340)),
		"1000 unknown":     `{"x":[` + strings.TrimSuffix(strings.Repeat(`{"a":1,"b":"two"},`, 500), ",") + `]}`,
		"duplicate":        strings.Replace(post("x"), `"n":1`, `"n":1,"n":2`, 1),
		"not UTF-8":        post(strings.Repeat("lorem ip", 11) + "\xff"),
		"deep":             `{"metadata":` + strings.Repeat(`{"a":`, 9_000) + "1" + strings.Repeat("}", 9_001),
		"trailing":         post("x") + " {}",
		"number too large": `{"x":` + strings.Repeat("9", 400) + `}`,
	}
}

// BenchmarkReader is what docs/architecture.md compares with encoding/json/v2: see reader_other_test.go.
func BenchmarkReader(b *testing.B) {
	for name, body := range readerInputs() {
		b.Run(strings.ReplaceAll(name, " ", "_")+"/ours", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var in hub.PostInput
				_ = api.Decode([]byte(body), &in)
			}
		})
	}
}
