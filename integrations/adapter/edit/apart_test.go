package edit

import (
	"testing"

	"hubcli/internal/require"
)

// apartAt is the place of a server whose member names is no part of it.
var apartAt = Pointer{Keys: []string{"servers", "hub"}, Apart: "names"}

// TestApart: a member that is apart does not count in the canonical form, stays
// to the byte when the entry is replaced, and goes with the entry.
func TestApart(t *testing.T) {
	for name, c := range map[string]struct{ doc, canonical, replaced string }{
		"lines": {
			"{\n  \"servers\": {\n    \"hub\": {\n      \"names\": [\n        \"a\", // mine\n        \"b\"\n      ],\n      \"command\": \"old\"\n    }\n  }\n}\n",
			`{"command":"old"}`,
			"{\n  \"servers\": {\n    \"hub\": {\n      \"command\": \"new\",\n      \"args\": [\"x\"],\n      \"names\": [\n        \"a\", // mine\n        \"b\"\n      ]\n    }\n  }\n}\n",
		},
		"one line": {
			`{"servers": {"hub": {"command": "old", "names": ["a","b" ]}}}`, `{"command":"old"}`,
			`{"servers": {"hub": {"command": "new", "args": ["x"], "names": ["a","b" ]}}}`,
		},
		"another type": {
			`{"servers": {"hub": {"command": "old", "names": "all"}}}`, `{"command":"old"}`,
			`{"servers": {"hub": {"command": "new", "args": ["x"], "names": "all"}}}`,
		},
		"absent": {
			`{"servers": {"hub": {"command": "old"}}}`, `{"command":"old"}`,
			`{"servers": {"hub": {"command": "new", "args": ["x"]}}}`,
		},
		"nothing else": {
			`{"servers": {"hub": {"names": ["a"]}}}`, `{}`,
			`{"servers": {"hub": {"command": "new", "args": ["x"], "names": ["a"]}}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			have, found, err := Get(JSON, []byte(c.doc), apartAt)
			if err != nil || !found || string(have) != c.canonical {
				t.Errorf("canonical: %s, %t, %v", have, found, err)
			}
			value := map[string]any{"command": "new", "args": []string{"x"}}
			ordered := serverEntry{"new", []string{"x"}}
			out, err := Replace(JSON, []byte(c.doc), apartAt, ordered)
			if err != nil || string(out) != c.replaced {
				t.Errorf("replaced: %s, %v\nwant: %s", out, err, c.replaced)
			}
			wanted, err := Canonical(JSON, apartAt, value)
			require.NoError(t, err)
			if have, _, err = Get(JSON, out, apartAt); err != nil || string(have) != string(wanted) {
				t.Errorf("after it: %s, %v, want %s", have, err, wanted)
			}
			if again, err := Replace(JSON, out, apartAt, ordered); err != nil || string(again) != string(out) {
				t.Errorf("replaced twice: %s, %v", again, err)
			}
			if again, _, err := Insert(JSON, out, apartAt, ordered); err != nil || string(again) != string(out) {
				t.Errorf("inserted again: %s, %v", again, err)
			}
			if gone, err := Remove(JSON, []byte(c.doc), apartAt, Trace{Parents: 2}); err != nil || string(gone) != "" && string(gone) != "\n" {
				t.Errorf("removed: %q, %v", gone, err)
			}
		})
	}
}

type serverEntry struct {
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

// TestApartInOtherFormats: the member stays there too.
func TestApartInOtherFormats(t *testing.T) {
	for f, doc := range map[Format]string{
		TOML: "[servers.hub]\ncommand = \"old\"\nnames = [\"a\"]\n",
		YAML: "servers:\n  hub:\n    command: old\n    names:\n      - a\n",
	} {
		if f == TOML {
			doc = "# >>> hubcli servers.hub >>>\n" + doc + "# <<< hubcli servers.hub <<<\n"
		}
		out, err := Replace(f, []byte(doc), apartAt, serverEntry{"new", []string{"x"}})
		require.NoError(t, err)
		have, _, err := Get(f, out, Pointer{Keys: apartAt.Keys})
		if err != nil || string(have) != `{"args":["x"],"command":"new","names":["a"]}` {
			t.Errorf("%s: %s, %v\n%s", f, have, err, out)
		}
	}
}

// TestApartIsNotWritten: a value never brings the member along, so that an older
// state of it cannot come back.
func TestApartIsNotWritten(t *testing.T) {
	doc := []byte(`{"servers": {"hub": {"command": "old", "names": ["a"]}}}`)
	value := map[string]any{"command": "new", "names": []string{"b"}}
	if out, err := Replace(JSON, doc, apartAt, value); err == nil {
		t.Errorf("replaced: %s", out)
	}
	if out, _, err := Insert(JSON, nil, apartAt, value); err == nil {
		t.Errorf("inserted: %s", out)
	}
}

// TestApartAndItsEntries: entries in the list that is apart come and go while the
// entry around them is replaced, in any order that adapters take.
func TestApartAndItsEntries(t *testing.T) {
	const own = "{\n  // servers of mine\n  \"servers\": {}\n}\n"
	rule := Pointer{Keys: []string{"servers", "hub", "names"}, Mark: "a", Exact: true}
	doc, outer, err := Insert(JSON, []byte(own), apartAt, serverEntry{"old", []string{"x"}})
	require.NoError(t, err)
	doc, inner, err := Insert(JSON, doc, rule, "a")
	require.NoError(t, err)
	doc, err = Replace(JSON, doc, apartAt, serverEntry{"new", []string{"x"}})
	require.NoError(t, err)
	if _, found, err := Get(JSON, doc, rule); err != nil || !found {
		t.Fatalf("the entry has gone: %v\n%s", err, doc)
	}
	doc, err = Remove(JSON, doc, rule, inner)
	require.NoError(t, err)
	doc, err = Remove(JSON, doc, apartAt, outer)
	if err != nil || string(doc) != own {
		t.Errorf("left: %s, %v", doc, err)
	}
}
