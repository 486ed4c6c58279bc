package mcp

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"hubcli/hub"
	"hubcli/internal/require"
)

const toolCall = `{"to_agent":"agent-12","kind":"chat","body":"I looked at the parser and found that index 17 does not agree with the schema. The next step is to change the relay.","metadata":"{\"n\":1}","reply_to":17,"attachments":[{"type":"text","content":"a"}]}`

// TestArgumentsAreReadStrictly: what two readers could understand differently is refused, at any
// depth, and the error says what is wrong.
func TestArgumentsAreReadStrictly(t *testing.T) {
	for args, want := range map[string]string{
		`[1]`: "no JSON object", `{"a":1`: "no JSON object", `{"a":1} {}`: "no JSON object", `{"a":tru}`: "no JSON object", "{\"a\":\"\xff\"}": "UTF-8",
		`{"a":1,"a":2}`: "a is given twice", `{"a":1,"\u0061":2}`: "a is given twice", `{"list":[{"b":1,"b":2}]}`: "b is given twice",
		`{"a":"\ud800"}`: "surrogate", `{"a":1e999}`: "out of range", `{"a":` + strings.Repeat("[", 100_000): "too deep",
	} {
		var e *hub.Error
		given, err := arguments(json.RawMessage(args))
		if !errors.As(err, &e) || !strings.Contains(e.Message, want) {
			t.Errorf("%.40q: %v, %v, want %q", args, given, err, want)
		}
	}
	given, err := arguments(json.RawMessage(" " + toolCall + "\n"))
	if err != nil || len(given) != 6 || string(given["reply_to"]) != "17" || string(given["attachments"]) != `[{"type":"text","content":"a"}]` {
		t.Errorf("read %s, %v", given, err)
	}
}

// BenchmarkReader is what docs/architecture.md compares with encoding/json/v2: see arguments_other_test.go.
func BenchmarkReader(b *testing.B) {
	b.Run("call/ours", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, err := arguments(json.RawMessage(toolCall))
			require.NoError(b, err)
		}
	})
}
