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

var (
	codex = Pointer{Keys: []string{"mcp_servers", "hub"}}
	kimi  = Pointer{Keys: []string{"hooks"}, Mark: "hubcli hook stop"}
	goose = Pointer{Keys: []string{"extensions", "hub"}}
	block = Pointer{Keys: []string{"hubcli"}}

	tomlServer = json.RawMessage(`{"command":"/opt/hub \"x\"/hubcli","args":["mcp","--harness","codex"],"startup_timeout_sec":30,"env":{"HUB_DATA_ROOT":"C:\\hub"}}`)
	tomlHook   = json.RawMessage(`{"event":"Stop","command":"hubcli hook stop","timeout":5}`)
	extension  = json.RawMessage(`{"name":"hub","type":"stdio","cmd":"/opt/hub/hubcli","args":["mcp"],"envs":{},"env":{"A":"yes: no"},"enabled":true,"timeout":300}`)
	advice     = "# Hub\n\nUse `hub_join` first."
)

func TestInsertText(t *testing.T) {
	small := json.RawMessage(`{"name":"hub","args":["mcp"]}`)
	for _, c := range []struct {
		name      string
		f         Format
		at        Pointer
		value     any
		doc, want string
	}{
		{"shell, nothing", Shell, block, "x\ny", "", "#!/bin/sh\n# BEGIN hubcli\nx\ny\n# END hubcli\n"},
		{"shell, a script", Shell, block, "x", "#!/usr/bin/env -S bash -e\n\nexit 1\n", "#!/usr/bin/env -S bash -e\n# BEGIN hubcli\nx\n# END hubcli\n\nexit 1\n"},
		{"shell, no first line, no final newline", Shell, block, "x", "exit 1", "# BEGIN hubcli\nx\n# END hubcli\nexit 1"},
		{"shell, other line endings", Shell, block, "x", "#!/bin/sh\r\nexit 1\r\n", "#!/bin/sh\r\n# BEGIN hubcli\r\nx\r\n# END hubcli\r\nexit 1\r\n"},
		{"markdown, nothing", Markdown, block, advice, "", "<!-- BEGIN hubcli -->\n# Hub\n\nUse `hub_join` first.\n<!-- END hubcli -->\n"},
		{"markdown, no final newline", Markdown, block, "x", "# Mine", "# Mine\n\n<!-- BEGIN hubcli -->\nx\n<!-- END hubcli -->\n"},
		{"markdown, other line endings", Markdown, block, "x\ny", "# Mine\r\n\r\n\r\n", "# Mine\r\n\r\n<!-- BEGIN hubcli -->\r\nx\r\ny\r\n<!-- END hubcli -->\r\n"},
		{"markdown, byte order mark", Markdown, block, "x", "\xef\xbb\xbf", "\xef\xbb\xbf<!-- BEGIN hubcli -->\nx\n<!-- END hubcli -->\n"},
		{"whole", Whole, Pointer{}, "x\n", "", "x\n"},
		{"toml, nothing", TOML, codex, small, "", "# >>> hubcli mcp_servers.hub >>>\n[mcp_servers.hub]\nname = \"hub\"\nargs = [\"mcp\"]\n# <<< hubcli mcp_servers.hub <<<\n"},
		{
			"toml, tables below", TOML, codex, tomlServer, "model = \"x\" # mine\n",
			"model = \"x\" # mine\n\n# >>> hubcli mcp_servers.hub >>>\n[mcp_servers.hub]\ncommand = \"/opt/hub \\\"x\\\"/hubcli\"\nargs = [\"mcp\", \"--harness\", \"codex\"]\nstartup_timeout_sec = 30\n\n[mcp_servers.hub.env]\nHUB_DATA_ROOT = \"C:\\\\hub\"\n# <<< hubcli mcp_servers.hub <<<\n",
		},
		{"toml, dotted keys", TOML, codex, small, "mcp_servers.a.command = 'x'", "mcp_servers.a.command = 'x'\n\n# >>> hubcli mcp_servers.hub >>>\n[mcp_servers.hub]\nname = \"hub\"\nargs = [\"mcp\"]\n# <<< hubcli mcp_servers.hub <<<\n"},
		{"toml, an element", TOML, kimi, tomlHook, "[[hooks]]\r\nevent = \"Stop\"\r\ncommand = \"mine\"\r\n", "[[hooks]]\r\nevent = \"Stop\"\r\ncommand = \"mine\"\r\n\r\n# >>> hubcli hooks hubcli hook stop >>>\r\n[[hooks]]\r\nevent = \"Stop\"\r\ncommand = \"hubcli hook stop\"\r\ntimeout = 5\r\n# <<< hubcli hooks hubcli hook stop <<<\r\n"},
		{"yaml, nothing", YAML, goose, small, "", "extensions:\n  hub:\n    name: hub\n    args: [mcp]\n"},
		{"yaml, comments", YAML, goose, small, "# mine\n", "# mine\n\nextensions:\n  hub:\n    name: hub\n    args: [mcp]\n"},
		{"yaml, another", YAML, goose, small, "extensions:\n    a:\n        name: a # b\n\n# end\nz: 1\n", "extensions:\n    a:\n        name: a # b\n    hub:\n        name: hub\n        args: [mcp]\n\n# end\nz: 1\n"},
		{"yaml, a list in the same column", YAML, goose, small, "extensions:\n  a:\n    args:\n    - x\n    - y\nz: 1", "extensions:\n  a:\n    args:\n    - x\n    - y\n  hub:\n    name: hub\n    args: [mcp]\nz: 1"},
		{"yaml, a text with what looks like a comment", YAML, goose, small, "extensions:\n  a:\n    text: |\n      one\n      # two\n\n      three\nz: 1", "extensions:\n  a:\n    text: |\n      one\n      # two\n\n      three\n  hub:\n    name: hub\n    args: [mcp]\nz: 1"},
		{"yaml, an empty parent", YAML, goose, small, "a: 1\nextensions: {}\r\nz: 1\r\n", "a: 1\nextensions:\n  hub:\n    name: hub\n    args: [mcp]\r\nz: 1\r\n"},
		{"yaml, a parent with nothing", YAML, goose, small, "extensions:\nz: 1\n", "extensions:\n  hub:\n    name: hub\n    args: [mcp]\nz: 1\n"},
		{"yaml, no parent", YAML, goose, small, "---\na: &x 1\nb: *x", "---\na: &x 1\nb: *x\nextensions:\n  hub:\n    name: hub\n    args: [mcp]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, trace, err := Insert(c.f, []byte(c.doc), c.at, c.value)
			require.NoError(t, err)
			if string(got) != c.want {
				t.Errorf("got\n%q\nwant\n%q", got, c.want)
			}
			checkInverse(t, c.f, []byte(c.doc), got, c.at, c.value, trace)
		})
	}
}

// checkInverse checks that a second Insert changes nothing and that Remove
// restores the document.
func checkInverse(t interface{ Fatalf(string, ...any) }, f Format, doc, got []byte, at Pointer, value any, trace Trace) {
	again, _, err := Insert(f, got, at, value)
	if err != nil || !bytes.Equal(again, got) {
		t.Fatalf("%q\n inserted again is %q, %v", got, again, err)
	}
	want, err := Canonical(f, at, value)
	have, found, gerr := Get(f, got, at)
	if err != nil || gerr != nil || !found || !bytes.Equal(have, want) {
		t.Fatalf("the entry reads as %s, not %s (%v, %v)", have, want, err, gerr)
	}
	back, err := Remove(f, got, at, trace)
	if err != nil || !bytes.Equal(back, doc) {
		t.Fatalf("%q\n became %q\n and then %q, %v", doc, got, back, err)
	}
}

func TestTextRefuses(t *testing.T) {
	for _, c := range []struct {
		f    Format
		at   Pointer
		doc  string
		want Reason
		line int
	}{
		{Markdown, block, "<!-- BEGIN hubcli -->\n", Unparsable, 1},
		{Shell, block, "#!/bin/sh\n# BEGIN hubcli\n", Unparsable, 2},
		{Shell, block, "#!/usr/bin/env python3\n", Unsupported, 1},
		{Shell, block, "#!/bin/sh\n# BEGIN hubcli\nother\n# END hubcli\n", Exists, 0},
		{Markdown, block, "a\n<!-- END hubcli -->\n<!-- BEGIN hubcli -->\n", Unparsable, 2},
		{Markdown, block, "<!-- BEGIN hubcli -->\na\n<!-- END hubcli -->\n<!-- BEGIN hubcli -->\n", Ambiguous, 4},
		{Markdown, block, "<!-- BEGIN hubcli -->\n<!-- BEGIN hubcli -->\n<!-- END hubcli -->\n", Ambiguous, 2},
		{Markdown, block, "<!-- BEGIN hubcli -->\nother\n<!-- END hubcli -->\n", Exists, 0},
		{Whole, Pointer{}, "somebody's\n", Exists, 0},
		{TOML, codex, "a = \n", Unparsable, 1},
		{TOML, codex, "a = 1\na = 2\n", Unparsable, 2},
		{TOML, codex, "n = 12345678901234567890\n", Unparsable, 1},
		{TOML, codex, "mcp_servers = { a = { command = 'x' } }\n", Unsupported, 0},
		{TOML, codex, "mcp_servers = 3\n", WrongType, 0},
		{TOML, codex, "[mcp_servers.hub]\ncommand = 'mine'\n", Exists, 0},
		{TOML, codex, "mcp_servers.hub.command = 'mine'\n", Exists, 0},
		{TOML, codex, "[mcp_servers]\nhub = { command = 'mine' }\n", Exists, 0},
		{TOML, codex, "[\"mcp_servers\"]\n\"h\\u0075b\" = { command = 'mine' }\n", Exists, 0},
		{TOML, codex, "# >>> hubcli mcp_servers.hub >>>\n", Unparsable, 1},
		{TOML, codex, "# <<< hubcli mcp_servers.hub <<<\n", Unparsable, 1},
		{TOML, codex, "a = " + strings.Repeat("[", 20_000), Unparsable, 1},
		{TOML, codex, strings.Repeat("a.", 1000) + "a = 1", TooLarge, 1},
		{TOML, kimi, "hooks = [ { command = 'x' } ]\n", Unsupported, 0},
		{TOML, kimi, "[hooks]\na = 1\n", WrongType, 0},
		{TOML, codex, strings.Repeat("#", maxText+1), TooLarge, 0},
		{YAML, goose, "a: [1\n", Unparsable, 1},
		{YAML, goose, "a: 1\n\tb: 2\n", Unsupported, 2},
		{YAML, goose, "a: 1\na: 2\n", Duplicate, 2},
		{YAML, goose, "extensions: {a: {name: a}}\n", Unsupported, 1},
		{YAML, goose, "extensions: &x\n  a: 1\n", Unsupported, 1},
		{YAML, goose, "b: &x {a: 1}\nextensions: *x\n", Unsupported, 2},
		{YAML, goose, "b: &x {a: 1}\nextensions:\n  <<: *x\n", Unsupported, 3},
		{YAML, goose, "a: 1\n---\nb: 2\n", Unsupported, 0},
		{YAML, goose, "- a\n", WrongType, 1},
		{YAML, goose, "extensions: text\n", WrongType, 1},
		{YAML, goose, "extensions:\n  hub: {}\n", Exists, 0},
		{YAML, goose, "{}\n", Unsupported, 1},
		{YAML, goose, "? [a]\n: 1\n", Unsupported, 1},
		{YAML, goose, "a: " + strings.Repeat("[", 9000), Unparsable, 0},
		{YAML, goose, "a: " + strings.Repeat("[", 900) + strings.Repeat("]", 900), TooLarge, 1},
	} {
		_, _, err := Insert(c.f, []byte(c.doc), c.at, map[Format]any{Markdown: "x", Shell: "x", Whole: "x", TOML: tomlHook, YAML: extension}[c.f])
		r, ok := errors.AsType[*Refusal](err)
		if !ok || r.Reason != c.want || c.line > 0 && r.Line != c.line {
			t.Errorf("%s %.60q: %v (%v), want %s in line %d", c.f, c.doc, err, ReasonOf(err), c.want, c.line)
		}
	}
}

// TestRemoveLeavesLaterEdits: changes around our entry stay when the entry is
// removed.
func TestRemoveLeavesLaterEdits(t *testing.T) {
	for _, c := range []struct {
		name        string
		f           Format
		at          Pointer
		trace       Trace
		value       any
		doc         string
		edit        func(string) string
		want        string
		wantRefused Reason
	}{
		{
			"text behind the block", Markdown, block,
			Trace{Space: "\n"},
			"x", "# Mine\n",
			func(s string) string { return s + "\nMore.\n" }, "# Mine\n\nMore.\n", "",
		},
		{
			"a table behind the block", TOML, codex,
			Trace{Space: "\n"},
			tomlServer, "a = 1\n",
			func(s string) string { return s + "\n[b]\nc = 2\n" }, "a = 1\n\n[b]\nc = 2\n", "",
		},
		{
			"comments dropped by the harness", TOML, codex,
			Trace{Space: "\n"},
			tomlServer, "a = 1\n",
			func(s string) string {
				var kept []string
				for _, line := range strings.Split(s, "\n") {
					if !strings.HasPrefix(line, "#") {
						kept = append(kept, line)
					}
				}
				return strings.Join(kept, "\n") + "\n# of b\n[b]\nc = [\n 1,\n]\n"
			}, "a = 1\n\n# of b\n[b]\nc = [\n 1,\n]\n", "",
		},
		{
			"tables of others in the block", TOML, codex,
			Trace{Space: "\n"},
			tomlServer, "a = 1\n",
			func(s string) string {
				return strings.Replace(s, "# <<<", "\n# of b\n[b]\nc = [\n 1,\n]\n\n[mcp_servers.hub.tools.x]\non = true\n\n[d]\n# <<<", 1)
			}, "a = 1\n\n# of b\n[b]\nc = [\n 1,\n]\n\n[d]\n", "",
		},
		{
			"tables of others before ours in the block", TOML, codex,
			Trace{},
			tomlServer, "",
			func(s string) string { return strings.Replace(s, ">>>\n", ">>>\r\n[b]\r\n", 1) }, "[b]\r\n", "",
		},
		{
			"an element of others in the block", TOML, kimi,
			Trace{Space: "\n"},
			tomlHook, "[[hooks]]\nevent = \"A\"\n",
			func(s string) string {
				return strings.Replace(s, "# <<<", "[[hooks]]\nevent = \"B\"\n# <<<", 1)
			}, "[[hooks]]\nevent = \"A\"\n[[hooks]]\nevent = \"B\"\n", "",
		},
		{
			"our tables apart, without marks", TOML, codex,
			Trace{},
			tomlServer, "",
			func(string) string {
				return "\xef\xbb\xbf[mcp_servers.hub]\ncommand = 'x' # y\nargs = [\n  'a', # b\n]\n\n[b]\nc = 2\n\n[mcp_servers.hub.env]\nd = \"\"\"\n\"\"\"\n"
			}, "\xef\xbb\xbf[b]\nc = 2\n", "",
		},
		{
			"a mark within our table", TOML, codex,
			Trace{},
			tomlServer, "",
			func(string) string {
				return "[mcp_servers.hub]\na = 1\n# >>> hubcli mcp_servers.hub >>>\nb = 2\n# <<< hubcli mcp_servers.hub <<<\n\n[c]\n"
			}, "", Unsafe,
		},
		{
			"a key behind the block", TOML, codex,
			Trace{},
			tomlServer, "[a]\nb = 1\n",
			func(s string) string { return s + "c = 2\n" }, "", Unsafe,
		},
		{
			"an entry behind, yaml", YAML, goose,
			Trace{Parents: 1},
			extension, "a: 1\n",
			func(s string) string { return s + "  # theirs\n  other:\n    x: 1\n" }, "a: 1\nextensions:\n  # theirs\n  other:\n    x: 1\n", "",
		},
		{
			"members around, json", JSON,
			Pointer{Keys: []string{"m", "hub"}},
			Trace{Parents: 1},
			1, "{\n  \"a\": 1\n}\n",
			func(s string) string {
				return strings.Replace(strings.Replace(s, `"hub": 1`, `"x": 0, // x`+"\n    \"hub\": 1, // hub\n    \"y\": 2", 1), `"a": 1`, `"a": 2`, 1)
			}, "{\n  \"a\": 2,\n  \"m\": {\n    \"x\": 0, // x\n     // hub\n    \"y\": 2\n  }\n}\n", "",
		},
		{
			"a comment in the parent, json", JSON,
			Pointer{Keys: []string{"m", "hub"}},
			Trace{Parents: 1},
			1, "{\n  \"a\": 1\n}\n",
			func(s string) string { return strings.Replace(s, "{\n    \"hub\"", "{ // keep\n    \"hub\"", 1) },
			"{\n  \"a\": 1,\n  \"m\": { // keep\n  }\n}\n", "",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, _, err := Insert(c.f, []byte(c.doc), c.at, c.value)
			require.NoError(t, err)
			edited := c.edit(string(got))
			back, err := Remove(c.f, []byte(edited), c.at, c.trace)
			if ReasonOf(err) != c.wantRefused || err == nil && string(back) != c.want {
				t.Errorf("%q\n without ours is %q, %v\n want %q", edited, back, err, c.want)
			}
		})
	}
}

func someLines(t *rapid.T, choice []string) string {
	var lines []string
	for range rapid.IntRange(0, 8).Draw(t, "lines") {
		lines = append(lines, rapid.SampledFrom(choice).Draw(t, "line"))
	}
	eol := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "eol")
	s := strings.Join(lines, eol)
	if rapid.Bool().Draw(t, "final") {
		s += eol
	}
	if rapid.IntRange(0, 5).Draw(t, "bom") == 0 {
		s = string(bom) + s
	}
	return s
}

// TestTextRoundTrip: for any document, Insert refuses it, or Remove restores
// it. Insert itself checks that only the entry differs in between.
func TestTextRoundTrip(t *testing.T) {
	refused, done := 0, 0
	for _, c := range []struct {
		name  string
		f     Format
		at    Pointer
		value any
		lines []string
	}{
		{"shell", Shell, block, "x\ny", []string{"", " ", "#!/bin/sh", "exit 1", "# BEGIN hubcli-", "# x", "b  "}},
		{"markdown", Markdown, block, advice, []string{"", " ", "# A", "text", "```", "<!-- x -->", "<!-- BEGIN hubcli-->", "- a\t", "b  "}},
		{"codex", TOML, codex, tomlServer, []string{"", "\t", "# c", "a = 1 # b", "[x]", "[x.y]", "  [mcp_servers.a]", "b = \"\"\"", "\"\"\"", "c = [ # x", "]", "[[l]]", "d = 1979-05-27", "# >>> other >>>"}},
		{"kimi", TOML, kimi, tomlHook, []string{"", "# c", "a = 1 # b", "[x]", "[[hooks]]", "event = 'Stop'", "[[ \"hooks\" ]]", "b = nan"}},
		{"goose", YAML, goose, extension, []string{"", " ", "# c", "a: 1", "b:", "- x", "  c: 2 # d", "extensions:", "extensions: {}", "  e:", "    f: |", "      text", "      # text", "  # c", "    g: [1,", "    2]", "h: \"x", "  y\"", "---", "..."}},
	} {
		t.Run(c.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				doc := []byte(someLines(t, c.lines))
				out, trace, err := Insert(c.f, doc, c.at, c.value)
				if err != nil {
					if ReasonOf(err) == "" {
						t.Fatalf("%q: %v", doc, err)
					}
					refused++
					return
				}
				done++
				checkInverse(t, c.f, doc, out, c.at, c.value, trace)
			})
		})
	}
	if done*10 < refused {
		t.Errorf("%d documents were edited and %d refused: the property says little", done, refused)
	}
}
