package search

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func terms(text string) string {
	var b strings.Builder
	last := -1
	eachWord(text, func(w word) bool {
		if b.Len() > 0 {
			if w.place == last {
				b.WriteByte('/')
			} else {
				b.WriteByte(' ')
			}
		}
		last = w.place
		b.WriteString(w.term)
		return true
	})
	return b.String()
}

func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "",
		" \t,;.-_":                      "",
		"Plain words, twice words.":     "plain words twice words",
		"snake_case_name":               "snake case name",
		"getUserName":                   "getusername/get/user/name",
		"HTTPServer parseURL2":          "httpserver/http/server parseurl2/parse/url",
		"/usr/local/lib.so.6":           "usr local lib so 6",
		"hub.Message v1.24.3 0x7fff":    "hub message v1 24 3 0x7fff/fff",
		"sha256:ABCDEF":                 "sha256/sha/256 abcdef",
		"Crème BRÛLÉE ﬁn Ǆ":             "creme brulee fin dz",
		"été e\u0301te\u0301":           "ete ete",
		"Straße ΣΑΣ İstanbul":           "straße σασ istanbul",
		"日本語":                           "日本 本語 語",
		"日":                             "日",
		"東京タワーwith3人":                   "東京 京タ タワ ワー ー with3/with 人",
		"한국어":                           "한국 국어 어",
		"が か":                           "が か",
		"हिन्दी":                        "हिन्दी",
		"\xff\xfeok\xff":                "ok",
		"naïve😀emoji":                   "naive emoji",
		strings.Repeat("a", 100) + " b": strings.Repeat("a", 64) + " b",
		"don't":                         "don t",
		"ünïcode_CaseÄnderung":          "unicode caseanderung/case/anderung",
	} {
		if got := terms(text); got != want {
			t.Errorf("%q gives %q, want %q", text, got, want)
		}
	}
}

// FuzzWords: words lie in the text, in its order, at places that rise without a
// gap, and are short; an excerpt of any text for any query is within its bounds.
func FuzzWords(f *testing.F) {
	f.Add("getUserName of snake_case", "user name")
	f.Add("日本語 e\u0301 \xff", `"日本`)
	f.Add(strings.Repeat("Aa1", 50), "-a a")
	f.Fuzz(func(t *testing.T, text, query string) {
		start, place := 0, -1
		eachWord(text, func(w word) bool {
			if w.start < start || w.end <= w.start || w.end > len(text) || w.term == "" || utf8.RuneCountInString(w.term) > maxTermRunes {
				t.Fatalf("%q has the word %+v behind %d", text, w, start)
			}
			if w.place != place && w.place != place+1 && !spacelessGap(text) {
				t.Fatalf("%q: place %d behind %d", text, w.place, place)
			}
			start, place = w.start, w.place
			return true
		})
		shown, matches := excerpt(query, text, 40)
		n := utf8.RuneCountInString(shown)
		if n > 40 {
			t.Fatalf("%q has %d characters", shown, n)
		}
		at := 0
		for _, m := range matches {
			if m[0] < at || m[1] <= m[0] || m[1] > n {
				t.Fatalf("%q: the matches are %v", shown, matches)
			}
			at = m[1]
		}
	})
}

// spacelessGap allows a gap: a character of a script without spaces may fold to
// nothing.
func spacelessGap(text string) bool { return strings.ContainsFunc(text, spaceless) }

func TestExcerpt(t *testing.T) {
	long := strings.Repeat("filler words come first ", 40) + "then the needle stands by a Haystack, " + strings.Repeat("and more follows ", 40)
	for _, c := range []struct{ query, text, shown, marked string }{
		{"needle", "a needle\nhere", "a needle here", "needle"},
		{"hay needle", "Needle in hay, hay!", "Needle in hay, hay!", "Needle|hay|hay"},
		{`"b c"`, "a b c b x c", "a b c b x c", "b c"},
		{"case_name", "the snake_case_name", "the snake_case_name", "case_name"},
		{"user", "getUserName", "getUserName", "User"},
		{"cafe", "un café crème", "un café crème", "café"},
		{"本語", "日本語です", "日本語です", "本語"},
		{"need", "a needle", "a needle", "needle"},
		{"none", "nothing here", "nothing here", ""},
	} {
		shown, matches := excerpt(c.query, c.text, 300)
		if shown != c.shown || marked(shown, matches) != c.marked {
			t.Errorf("%q in %q: %q with %q, want %q with %q", c.query, c.text, shown, marked(shown, matches), c.shown, c.marked)
		}
	}
	shown, matches := excerpt("haystack needle", long, 120)
	if marked(shown, matches) != "needle|Haystack" || utf8.RuneCountInString(shown) > 120 {
		t.Errorf("the excerpt is %q with %v", shown, matches)
	}
}

func marked(shown string, matches [][2]int) string {
	var parts []string
	for _, m := range matches {
		parts = append(parts, string([]rune(shown)[m[0]:m[1]]))
	}
	return strings.Join(parts, "|")
}
