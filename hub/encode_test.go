package hub_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"hubcli/hub"
)

// metadata draws what metadata may be: a compact object, or nothing.
func metadata() *rapid.Generator[json.RawMessage] {
	return rapid.SampledFrom([]json.RawMessage{nil, json.RawMessage(`{}`), json.RawMessage(`{"a":["<b>",1.5e3,null],"\u2028":"\\"}`)})
}

// Times are drawn from the years that the wire form has, 0 to 9999.
func wireTime() *rapid.Generator[hub.Time] {
	return rapid.Custom(func(t *rapid.T) hub.Time {
		return hub.Time(rapid.Int64Range(-62167219200000, 253402300799999).Draw(t, "ms"))
	})
}

// TestAppendedRowsAreThoseOfTheirTags holds what the rows write of themselves against
// encoding/json, which knows every member by its tag.
func TestAppendedRowsAreThoseOfTheirTags(t *testing.T) {
	t.Run("claim", rapid.MakeCheck(func(t *rapid.T) { appendedLikeTags(t, drawn[hub.Claim](t)) }))
	t.Run("lock", rapid.MakeCheck(func(t *rapid.T) { appendedLikeTags(t, drawn[hub.Lock](t)) }))
}

// drawn makes a value with every member drawn.
func drawn[T any](t *rapid.T) T {
	return rapid.MakeCustom[T](rapid.MakeConfig{Types: map[reflect.Type]*rapid.Generator[any]{
		reflect.TypeFor[hub.Time]():        wireTime().AsAny(),
		reflect.TypeFor[json.RawMessage](): metadata().AsAny(),
	}}).Draw(t, "row")
}

func appendedLikeTags[T hub.JSONAppender](t *rapid.T, row T) {
	const before = "before"
	appended := row.AppendJSON([]byte(before))
	if string(appended[:len(before)]) != before {
		t.Fatalf("the bytes before the row became %q", appended[:len(before)])
	}
	want, err := json.Marshal(row)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := decoded(t, appended[len(before):]), decoded(t, want); !reflect.DeepEqual(got, want) {
		t.Fatalf("the row writes %v, its tags say %v", got, want)
	}
}

func decoded(t *rapid.T, b []byte) any {
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatalf("%s: %v", b, err)
	}
	return v
}

// BenchmarkClaimRow compares the two ways to write a row.
func BenchmarkClaimRow(b *testing.B) {
	row := hub.Claim{ClaimKey: "build:linux", OwnerAgentID: "alice", Metadata: json.RawMessage("{}"), Fence: 7}
	buffer := make([]byte, 0, 1024)
	b.Run("appended", func(b *testing.B) {
		for b.Loop() {
			buffer = row.AppendJSON(buffer[:0])
		}
	})
	b.Run("reflected", func(b *testing.B) {
		for b.Loop() {
			if _, err := json.Marshal(row); err != nil {
				b.Fatal(err)
			}
		}
	})
}
