package edit

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hubcli/internal/require"
)

// server is an entry as adapters write it.
var server = json.RawMessage(`{"type":"stdio","command":"/opt/hub/hubcli","args":["mcp","--harness","x"],"env":{}}`)

// hook is an element of a hook list.
var hook = json.RawMessage(`{"hooks":[{"type":"command","command":"/opt/hub/hubcli hook stop","timeout":5}]}`)

func TestInsertJSON(t *testing.T) {
	hub := Pointer{Keys: []string{"mcpServers", "hub"}}
	stop := Pointer{Keys: []string{"hooks", "Stop"}, Mark: "hubcli hook stop"}
	one := json.RawMessage(`{"command":"h","args":["mcp"]}`)
	for _, c := range []struct {
		name      string
		doc, want string
		at        Pointer
		value     any
	}{
		{"nothing", "", "{\n  \"mcpServers\": {\n    \"hub\": {\n      \"command\": \"h\",\n      \"args\": [\"mcp\"]\n    }\n  }\n}\n", hub, one},
		{"a comment without newline", "// mine", "// mine\n{\n  \"mcpServers\": {\n    \"hub\": 1\n  }\n}\n", hub, 1},
		{"an empty object", "{}", "{\n  \"mcpServers\": {\n    \"hub\": 1\n  }\n}", hub, 1},
		{"blanks in an empty object", "{ \r\n }\r\n", "{\r\n  \"mcpServers\": {\r\n    \"hub\": 1\r\n  }\r\n}\r\n", hub, 1},
		{"comments in an empty object", "{\n  // none\n}\n", "{\n  // none\n  \"mcpServers\": {\n    \"hub\": 1\n  }\n}\n", hub, 1},
		{"tabs", "{\n\t\"mcpServers\": {\n\t\t\"a\": {}\n\t}\n}", "{\n\t\"mcpServers\": {\n\t\t\"a\": {},\n\t\t\"hub\": {\n\t\t\t\"command\": \"h\",\n\t\t\t\"args\": [\"mcp\"]\n\t\t}\n\t}\n}", hub, one},
		{"a comment behind the last member", "{\n    \"a\": 1 // one\n}", "{\n    \"a\": 1, // one\n    \"mcpServers\": {\n        \"hub\": 1\n    }\n}", hub, 1},
		{"a trailing comma", "{\n  \"mcpServers\": {\n    \"a\": {}, // one\n  },\n}", "{\n  \"mcpServers\": {\n    \"a\": {}, // one\n    \"hub\": 1,\n  },\n}", hub, 1},
		{"one line", `{"mcpServers":{"a":{}},"z":1}`, `{"mcpServers":{"a":{},"hub":{"command":"h","args":["mcp"]}},"z":1}`, hub, one},
		{"one line with blanks", `{ "a": 1 }`, `{ "a": 1, "mcpServers": {"hub": 1} }`, hub, 1},
		{"one line within lines", "{\n  \"mcpServers\": { \"a\": {} }\n}", "{\n  \"mcpServers\": { \"a\": {}, \"hub\": 1 }\n}", hub, 1},
		{"byte order mark", "\xef\xbb\xbf{}\n", "\xef\xbb\xbf{\n  \"mcpServers\": {\n    \"hub\": 1\n  }\n}\n", hub, 1},
		{"a key with a dot", "{\n  \"amp.url\": 1\n}", "{\n  \"amp.url\": 1,\n  \"amp.mcpServers\": {\n    \"hub\": 1\n  }\n}", Pointer{Keys: []string{"amp.mcpServers", "hub"}}, 1},
		{"long numbers", "{\"n\": 12345678901234567890, \"f\": 1.50}", "{\"n\": 12345678901234567890, \"f\": 1.50, \"mcpServers\": {\"hub\": 1}}", hub, 1},
		{
			"a hook list with another's", "{\n  \"hooks\": {\n    \"Stop\": [\n      { \"hooks\": [{ \"command\": \"mine\" }] }\n    ]\n  }\n}",
			"{\n  \"hooks\": {\n    \"Stop\": [\n      { \"hooks\": [{ \"command\": \"mine\" }] },\n      {\n        \"command\": \"hubcli hook stop\"\n      }\n    ]\n  }\n}", stop, json.RawMessage(`{"command":"hubcli hook stop"}`),
		},
		{"a missing hook list", "{\n  \"hooks\": {}\n}", "{\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"command\": \"hubcli hook stop\"\n      }\n    ]\n  }\n}", stop, json.RawMessage(`{"command":"hubcli hook stop"}`)},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, trace, err := Insert(JSON, []byte(c.doc), c.at, c.value)
			require.NoError(t, err)
			if string(got) != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
			again, _, err := Insert(JSON, got, c.at, c.value)
			if err != nil || !bytes.Equal(again, got) {
				t.Errorf("inserted again it changed: %v\n%s", err, again)
			}
			back, err := Remove(JSON, got, c.at, trace)
			if err != nil || string(back) != c.doc {
				t.Errorf("removed it is %q, %v", back, err)
			}
		})
	}
}

func TestInsertJSONRefuses(t *testing.T) {
	hub := Pointer{Keys: []string{"mcpServers", "hub"}}
	for _, c := range []struct {
		doc  string
		want Reason
		line int
	}{
		{`{"a": }`, Unparsable, 1},
		{"{\n\"a\": 1\n\"b\": 2}", Unparsable, 3},
		{`{"a": 1, "a": 2}`, Duplicate, 1},
		{"{\n\"z\": {\"b\": 1, \"\\u0062\": 2}}", Duplicate, 2},
		{`[]`, WrongType, 1},
		{`{"mcpServers": []}`, WrongType, 1},
		{`{"mcpServers": null}`, WrongType, 1},
		{`{"mcpServers": {"hub": 2}}`, Exists, 0},
		{`null`, WrongType, 1},
		{`{} {}`, Unparsable, 1},
		{strings.Repeat("[", 10_000), TooLarge, 1},
		{"[" + strings.Repeat("0,", maxValues+1) + "0]", TooLarge, 1},
		{strings.Repeat(" ", maxDocument+1), TooLarge, 0},
		{"\xff\xfe{\x00}\x00", Unparsable, 1},
		{"{\"a\": \"\xff\"}", Unparsable, 1},
		{"{} /* open", Unparsable, 1},
	} {
		_, _, err := Insert(JSON, []byte(c.doc), hub, 1)
		r, ok := errors.AsType[*Refusal](err)
		if !ok || r.Reason != c.want || r.Line != c.line {
			t.Errorf("%.40q: %v (%v), want %s in line %d", c.doc, err, ReasonOf(err), c.want, c.line)
		}
	}
	twice := `{"hooks":{"Stop":[{"command":"hubcli hook stop"},{"command":"hubcli hook stop 2"}]}}`
	_, _, err := Insert(JSON, []byte(twice), Pointer{Keys: []string{"hooks", "Stop"}, Mark: "hubcli hook stop"}, hook)
	if ReasonOf(err) != Ambiguous {
		t.Errorf("two of ours in one list: %v", err)
	}
}

// blanks draws blank text with comments.
func blanks(t *rapid.T) string {
	parts := []string{"", "", "", " ", "\n", "\r\n", "\t", "  ", "// c, {\n", "/* ] \" */", " // d\r\n\t", "\n  "}
	var b strings.Builder
	for range rapid.IntRange(0, 3).Draw(t, "blanks") {
		b.WriteString(rapid.SampledFrom(parts).Draw(t, "blank"))
	}
	return b.String()
}

// oddJSON draws a value in any formatting that hujson reads.
func oddJSON(t *rapid.T, depth int) string {
	kind := rapid.IntRange(0, 5).Draw(t, "kind")
	if depth <= 0 && kind > 3 {
		kind = 0
	}
	switch kind {
	case 4:
		return oddList(t, "[", "]", rapid.IntRange(0, 3).Draw(t, "n"), func(int) string { return oddJSON(t, depth-1) })
	case 5:
		return oddObject(t, depth, "")
	}
	return rapid.SampledFrom([]string{`1`, `"s"`, `true`, `null`, `12345678901234567890`, `-1.50e+3`, `"a\u0062 // no \" comment"`, `"{[,"`, `""`}).Draw(t, "literal")
}

func oddList(t *rapid.T, open, close string, n int, item func(int) string) string {
	s := open
	for i := range n {
		s += blanks(t) + item(i) + blanks(t)
		if i < n-1 || rapid.Bool().Draw(t, "trailing comma") {
			s += ","
		}
	}
	return s + blanks(t) + close
}

// oddObject draws an object; path names a member that holds an object in turn.
func oddObject(t *rapid.T, depth int, path ...string) string {
	keys := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "amp.x", "ü", "", "//", "e f"}), 0, 4, rapid.ID[string]).Draw(t, "keys")
	at := -1
	if len(path) > 0 && path[0] != "" && rapid.IntRange(0, 3).Draw(t, "has the parent") > 0 {
		at = rapid.IntRange(0, len(keys)).Draw(t, "at")
		keys = append(keys[:at:at], append([]string{path[0]}, keys[at:]...)...)
	}
	return oddList(t, "{", "}", len(keys), func(i int) string {
		name := quote(keys[i]) + blanks(t) + ":" + blanks(t)
		switch {
		case i != at:
			return name + oddJSON(t, depth-1)
		case len(path) > 1 && path[1] == "[]":
			return name + oddList(t, "[", "]", rapid.IntRange(0, 3).Draw(t, "n"), func(int) string { return oddJSON(t, depth-1) })
		}
		return name + oddObject(t, depth-1, path[1:]...)
	})
}

func oddDocument(t *rapid.T, path ...string) []byte {
	s := blanks(t)
	if rapid.IntRange(0, 9).Draw(t, "has a value") > 0 {
		s += oddObject(t, 3, path...) + blanks(t)
	}
	if rapid.IntRange(0, 5).Draw(t, "bom") == 0 {
		s = string(bom) + s
	}
	return []byte(s)
}

// TestJSONRoundTrip: Remove after Insert restores all bytes. Insert itself
// checks that only the entry differs in between.
func TestJSONRoundTrip(t *testing.T) {
	places := []struct {
		at    Pointer
		path  []string
		value any
	}{
		{Pointer{Keys: []string{"mcpServers", "hub"}}, []string{"mcpServers"}, server},
		{Pointer{Keys: []string{"hub"}}, nil, server},
		{Pointer{Keys: []string{"a.b", "c", "hub"}}, []string{"a.b", "c"}, 1},
		{Pointer{Keys: []string{"hooks", "Stop"}, Mark: "hubcli hook stop"}, []string{"hooks", "Stop", "[]"}, hook},
	}
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SampledFrom(places).Draw(t, "place")
		doc := oddDocument(t, p.path...)
		was := bytes.Clone(doc)
		out, trace, err := Insert(JSON, doc, p.at, p.value)
		if err != nil {
			t.Fatalf("%q: %v", doc, err)
		}
		if !bytes.Equal(doc, was) {
			t.Fatal("the argument was changed")
		}
		again, _, err := Insert(JSON, out, p.at, p.value)
		if err != nil || !bytes.Equal(again, out) {
			t.Fatalf("%q\n inserted again is %q, %v", out, again, err)
		}
		other, err := Replace(JSON, out, p.at, json.RawMessage(`{"other":"hubcli hook stop"}`))
		if err != nil {
			t.Fatalf("%q: %v", out, err)
		}
		for _, changed := range [][]byte{out, other} {
			back, err := Remove(JSON, changed, p.at, trace)
			if err != nil || !bytes.Equal(back, doc) {
				t.Fatalf("%q\n became %q\n and then %q, %v", doc, changed, back, err)
			}
		}
	})
}
