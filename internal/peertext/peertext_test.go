package peertext

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"hubcli/internal/require"
)

func TestHidden(t *testing.T) {
	for _, c := range []struct {
		what   string
		runes  string
		hidden bool
	}{
		{"letters, signs, marks", "aZ09 ~é世😀́ا", false},
		{"line feed and tab", "\n\t", false},
		{"joiners", "\u200c\u200d", false},
		{"text and emoji selectors", "\ufe0e\ufe0f", false},
		{"spaces that can be seen", "\u00a0\u2003\u3000", false},
		{"the replacement character", "\ufffd", false},
		{"control characters", "\x00\x07\b\f\r\x1b\x7f\u0080\u0085\u009b", true},
		{"turns of direction", "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069", true},
		{"zero width", "\u200b\u2060\u2061\u2064\ufeff\u00ad\u180e", true},
		{"tags", "\U000e0001\U000e0041\U000e007f", true},
		{"variation selectors", "\ufe00\ufe0d\u180b\U000e0100\U000e01ef", true},
		{"fillers and what is drawn as nothing", "\u3164\u115f\u1160\uffa0\u034f\u17b4\u17b5\u2065\ufff0", true},
		{"separators of lines", "\u2028\u2029", true},
		{"private use", "\ue000\U000f0000\U0010fffd", true},
		{"interlinear annotation", "\ufff9\ufffb", true},
	} {
		for _, r := range c.runes {
			if Hidden(r) != c.hidden {
				t.Errorf("%s: Hidden(%U) is %v", c.what, r, !c.hidden)
			}
		}
	}
}

// TestHiddenCoversTheClasses of Unicode, so that a new version of it does.
func TestHiddenCoversTheClasses(t *testing.T) {
	kept := []rune{'\n', '\t', '\u200c', '\u200d', '\ufe0e', '\ufe0f'}
	for r := rune(0); r <= unicode.MaxRune; r++ {
		class := unicode.In(r, unicode.C, unicode.Zl, unicode.Zp, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
		if want := class && !slices.Contains(kept, r); Hidden(r) != want {
			t.Fatalf("Hidden(%U) is %v", r, !want)
		}
	}
}

func TestRenderings(t *testing.T) {
	for _, c := range []struct{ in, terminal, model, plain string }{
		{"", "", "", ""},
		{"plain words", "plain words", "plain words", "plain words"},
		{"two\n\tlines ", "two\n\tlines ", "two\n\tlines ", "two lines"},
		{"dos\r\nline", "dos\\r\nline", "dos\nline", "dos line"},
		{"\x1b[31mred\x07", `\x1b[31mred\a`, "<U+001B>[31mred<U+0007>", "[31mred"},
		{"a\u202eb\u200bc", `a\u202eb\u200bc`, "a<U+202E>b<U+200B>c", "abc"},
		{"t\U000e0041ag", `t\U000e0041ag`, "t<U+E0041>ag", "tag"},
		{"👩\u200d🚀 \u2764\ufe0f", "👩\u200d🚀 \u2764\ufe0f", "👩\u200d🚀 \u2764\ufe0f", "👩\u200d🚀 \u2764\ufe0f"},
		{"bad \xff byte", "bad \ufffd byte", "bad \ufffd byte", "bad \ufffd byte"},
		{" \u2028 a \u3000 b ", ` \u2028 a ` + "\u3000 b ", " <U+2028> a \u3000 b ", "a b"},
	} {
		if got := Terminal(c.in); got != c.terminal {
			t.Errorf("Terminal(%q) = %q, want %q", c.in, got, c.terminal)
		}
		if got := Model(c.in); got != c.model {
			t.Errorf("Model(%q) = %q, want %q", c.in, got, c.model)
		}
		if got := Plain(c.in); got != c.plain {
			t.Errorf("Plain(%q) = %q, want %q", c.in, got, c.plain)
		}
	}
	for max, want := range map[int]string{8: "one two…", 9: "one two…", 10: "one two t…", 12: "one two thr…", 14: "one two three"} {
		if got := Excerpt("one two\n three", max); got != want {
			t.Errorf("Excerpt(%d) = %q, want %q", max, got, want)
		}
	}
	if got := TerminalLine("a\nb\x1b"); got != `a\nb\x1b` {
		t.Errorf("TerminalLine: %q", got)
	}
	if got := ModelLine(" a\n b\x1b "); got != "a b<U+001B>" {
		t.Errorf("ModelLine: %q", got)
	}
}

// FuzzRenderings: no rendering passes a hidden character on, each is valid UTF-8
// and says the same when it is rendered again, and text without hidden characters
// stays as it is.
func FuzzRenderings(f *testing.F) {
	for _, s := range []string{"", "plain", "\x1b]0;t\x07", "a\u202eb", "\xff\xfe", "dos\r\n", "\r\r\n\n", "\U000e0041", `\u001b`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for name, render := range map[string]func(string) string{
			"Terminal": Terminal, "TerminalLine": TerminalLine, "Model": Model, "ModelLine": ModelLine, "Plain": Plain,
			"Excerpt": func(s string) string { return Excerpt(s, 20) },
		} {
			got := render(s)
			if strings.ContainsFunc(got, Hidden) || !utf8.ValidString(got) {
				t.Fatalf("%s(%q) = %q", name, s, got)
			}
			if name == "Excerpt" && utf8.RuneCountInString(got) > 20 {
				t.Fatalf("%s(%q) = %q is too long", name, s, got)
			}
			if again := render(got); again != got {
				t.Fatalf("%s(%q) = %q, and again %q", name, s, got, again)
			}
			if strings.HasSuffix(name, "Line") || name == "Plain" || name == "Excerpt" {
				if strings.Contains(got, "\n") {
					t.Fatalf("%s(%q) = %q has several lines", name, s, got)
				}
			} else if utf8.ValidString(s) && !strings.ContainsFunc(s, Hidden) && got != s {
				t.Fatalf("%s changes %q into %q", name, s, got)
			}
		}
		encoded, err := json.Marshal(s)
		require.NoError(t, err)
		var got string
		if err := json.Unmarshal(ModelJSON(encoded), &got); err != nil || strings.ContainsFunc(got, Hidden) {
			t.Fatalf("ModelJSON(%s) = %q, %v", encoded, got, err)
		}
	})
}
