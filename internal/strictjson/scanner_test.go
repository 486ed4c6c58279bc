package strictjson_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"hubcli/internal/require"
	"hubcli/internal/strictjson"
)

func nested(levels int) string { return strings.Repeat("[", levels) + strings.Repeat("]", levels) }

func members(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"n%d":0`, i)
	}
	return "{" + strings.TrimPrefix(b.String(), ",") + "}"
}

// TestWhatIsRefused: a text that two readers could understand differently is refused, and the
// error says why.
func TestWhatIsRefused(t *testing.T) {
	for text, want := range map[string]strictjson.Reason{
		"": strictjson.Malformed, "{": strictjson.Malformed, `{"a"}`: strictjson.Malformed, `{"a":}`: strictjson.Malformed, `[1,]`: strictjson.Malformed,
		`{} {}`: strictjson.Malformed, "1\x00": strictjson.Malformed, "\x00": strictjson.Malformed, `01`: strictjson.Malformed, `+1`: strictjson.Malformed,
		`1.`: strictjson.Malformed, "\"\n\"": strictjson.Malformed, `"\x"`: strictjson.Malformed, `"\u12g4"`: strictjson.Malformed, `NaN`: strictjson.Malformed,
		"\"\xff\"": strictjson.NotUTF8, "\"\xed\xa0\x80\"": strictjson.NotUTF8,
		nested(strictjson.MaxDepth + 1): strictjson.TooDeep, strings.Repeat("[", 1_000_000): strictjson.TooDeep, strings.Repeat(`{"a":`, 100): strictjson.TooDeep,
		`{"a":1,"\u0061":2}`: strictjson.Twice, `[{"b":{"a":1,"c":2,"a":3}}]`: strictjson.Twice,
		strings.Replace(members(100), `"n99"`, `"n7"`, 1): strictjson.Twice,
		`"\ud800"`: strictjson.HalfPair, `"\udc00x"`: strictjson.HalfPair, `"\ud800\u0041"`: strictjson.HalfPair,
		`[1e999]`: strictjson.OutOfRange, `-` + strings.Repeat("9", 400): strictjson.OutOfRange,
		members(301): strictjson.TooManyNames,
	} {
		err := strictjson.Read([]byte(text), 300, (*strictjson.Scanner).Pass)
		var refused *strictjson.Error
		if !errors.As(err, &refused) || refused.Reason != want || refused.Error() == "" {
			t.Errorf("%.40q: %v, want the reason %d", text, err, want)
		}
	}
	for _, text := range []string{nested(strictjson.MaxDepth), members(300), ` { "a" : [ 1 , -0.5e-3 , "\ud83d\ude00" , null ] } `, `{"a":{"a":{"a":1}}}`} {
		if err := strictjson.Read([]byte(text), 300, (*strictjson.Scanner).Pass); err != nil {
			t.Errorf("%.40q: %v", text, err)
		}
	}
}

// TestKnownNamesStandOnce: a name that the caller knows is refused a second time like any other,
// also when it is written with escapes.
func TestKnownNamesStandOnce(t *testing.T) {
	known := func(name []byte) int {
		if string(name) == "a" {
			return 63
		}
		return -1
	}
	for text, want := range map[string]string{`{"a":1,"b":2}`: "63 -1 ", `{"b":1,"a":2,"c":3}`: "-1 63 -1 ", `{"a":1,"b":2,"a":3}`: "", `{"\u0061":1,"a":3}`: ""} {
		var got string
		err := strictjson.Read([]byte(text), 0, func(s *strictjson.Scanner) error {
			return s.Object(known, func(_ []byte, number int) error {
				got += fmt.Sprint(number, " ")
				return s.Pass()
			})
		})
		var refused *strictjson.Error
		if want == "" && (!errors.As(err, &refused) || refused.Reason != strictjson.Twice || refused.Name != "a") || want != "" && (err != nil || got != want) {
			t.Errorf("%s: read %q, %v", text, got, err)
		}
	}
}

func TestEmpty(t *testing.T) {
	for text, want := range map[string]bool{
		`""`: true, `0`: true, `false`: true, `[ ]`: true, "{\n}": true, ` []`: true,
		`"a"`: false, `0.5`: false, `0e1`: false, `-1`: false, `true`: false, `[0]`: false, `{"a":0}`: false, `null`: false, ``: false, `[`: false,
	} {
		_ = strictjson.Read([]byte(text), 0, func(s *strictjson.Scanner) error {
			if got := s.Empty(); got != want {
				t.Errorf("%q is empty: %t", text, got)
			}
			return s.Pass()
		})
	}
}

// TestNamesOfOneTextAreGone: what one text held is not found in the next.
func TestNamesOfOneTextAreGone(t *testing.T) {
	for range 3 {
		require.NoError(t, strictjson.Read([]byte(`{"a":[{"b":1}],"c":2}`), 3, (*strictjson.Scanner).Pass))
		if strictjson.Read([]byte(`{"a":{"b":{"c":{"d":`), 0, (*strictjson.Scanner).Pass) == nil {
			t.Fatal("half an object is taken")
		}
	}
}

// FuzzRead: what is taken encoding/json takes too, and what is refused as malformed it refuses
// too. The compact form is the same value.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{`{"a":[1,-0.5e3,"\ud83d\ude00\n",true,null]}`, `{"a":1,"a":2}`, `"\ud800"`, `1e999`, `[[[[`, "\"\xff\"", `{} x`, ` [ ] `} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		err := strictjson.Read(text, 100, (*strictjson.Scanner).Pass)
		var refused *strictjson.Error
		switch {
		case err == nil:
			if !json.Valid(text) {
				t.Fatalf("%q is taken", text)
			}
			var was, is any
			if json.Unmarshal(text, &was) != nil || json.Unmarshal(strictjson.Compact(text), &is) != nil || fmt.Sprint(was) != fmt.Sprint(is) {
				t.Fatalf("%q became %q", text, strictjson.Compact(text))
			}
			if strictjson.Depth(text) > strictjson.MaxDepth {
				t.Fatalf("%q is taken", text)
			}
		case !errors.As(err, &refused):
			t.Fatalf("%q: %v", text, err)
		case refused.Reason == strictjson.Malformed && json.Valid(text):
			t.Fatalf("%q is refused: %v", text, err)
		}
	})
}
