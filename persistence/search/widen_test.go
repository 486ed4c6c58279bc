package search

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hubcli/actors/core"
	"hubcli/hub"
)

// TestOtherForms: a search also finds other forms of a word, a word that is not
// finished, and a word with one wrong letter, and ranks the written word first.
func TestOtherForms(t *testing.T) {
	x := opened(t)
	put(t, x,
		public(1, "run the test with make check"),
		public(2, "all tests pass"),
		public(3, "we are testing the parser, and it tries hard"),
		public(4, "decision: Tok becomes Token everywhere"),
		public(5, "the retry budget is 12 per hour"),
		public(6, "hoping for the deployment of database-17"),
		public(7, "the contest is over"),
	)
	for _, c := range []struct {
		query string
		want  []uint64
	}{
		{"tests", []uint64{2, 1, 3}},
		{"testing", []uint64{3, 2, 1}},
		{"how to run tests", []uint64{1, 2, 3}}, // no row holds all
		{`"tests"`, []uint64{2}},                // quotes keep a word exact
		{"tests -testing", []uint64{2, 1}},
		{"try", []uint64{3}},
		{"hope", []uint64{6}},
		{"retries", []uint64{5}},
		{"deploy", []uint64{6}},
		{"rename Token", []uint64{4}},
		{"databas", []uint64{6}},
		{"parsre", []uint64{3}},     // two letters exchanged
		{"dataabse", []uint64{6}},   // the same
		{"deploiment", []uint64{6}}, // a wrong letter
		{"bugdet", []uint64{5}},
		{"deplument", nil}, // two mistakes
		{"13", nil},        // another number is no mistake
		{"database-18", nil},
		{"est", nil}, // too short for a mistake
	} {
		if got := find(t, x, core.IndexQuery{Text: c.query}); !slices.Equal(got, c.want) && len(got)+len(c.want) > 0 {
			t.Errorf("%q finds %v, want %v", c.query, got, c.want)
		}
	}
}

// TestWrittenWordsAreEnough: other forms take no place from rows that hold the
// words themselves.
func TestWrittenWordsAreEnough(t *testing.T) {
	x := opened(t)
	put(t, x, public(1, "test"), public(2, "tests tests tests"), public(3, "test"))
	if got := find(t, x, core.IndexQuery{Text: "test", Limit: 2}); !slices.Equal(got, []uint64{3, 1}) {
		t.Errorf("found %v", got)
	}
}

// TestFormsInDirectMessages: other forms never lead to what others wrote to each
// other.
func TestFormsInDirectMessages(t *testing.T) {
	x := opened(t)
	direct := public(1, "the passwords are rotated")
	direct.Parties = []hub.AgentID{"bob", "eve"}
	put(t, x, direct)
	for _, query := range []string{"passwords", "password", "passwrods", "passw", "rotating nothing"} {
		if got := find(t, x, core.IndexQuery{Text: query, Viewer: "ann"}); len(got) > 0 {
			t.Errorf("%q as another finds %v", query, got)
		}
		if got := find(t, x, core.IndexQuery{Text: query, Viewer: "bob"}); len(got) != 1 {
			t.Errorf("%q as a party finds %v", query, got)
		}
	}
}

func TestExcerptMarksOtherForms(t *testing.T) {
	for _, c := range []struct{ query, text, want string }{
		{"tests", "how we are testing", "how we are [testing]"},
		{"test", "a test of text", "a [test] of text"}, // text is no mistake where test stands
		{"parsre", "the parser", "the [parser]"},
		{`"tests"`, "testing tests", "testing [tests]"},
	} {
		shown, marks := excerpt(c.query, c.text, 100)
		for _, m := range slices.Backward(marks) {
			r := []rune(shown)
			shown = string(r[:m[0]]) + "[" + string(r[m[0]:m[1]]) + "]" + string(r[m[1]:])
		}
		if shown != c.want {
			t.Errorf("%q: %s, want %s", c.query, shown, c.want)
		}
	}
}

// TestRoot: every word of a stem begins with the root of any other, so that a
// walk over the words with that beginning meets them all.
func TestRoot(t *testing.T) {
	for _, family := range []string{
		"test tests tested testing", "try tries tried trying", "hope hopes hoped hoping", "happy happiness",
		"deploy deploys deployed deploying deployment", "agree agrees agreed agreeing", "die dies died", "lie lies lied",
		"merge merges merged merging", "index indexes indexed indexing", "query queries querying", "stop stops stopped stopping",
		"create creates created creating creation", "sky skies", "use uses used using", "fail failed failing", "skis",
	} {
		words := strings.Fields(family)
		for _, a := range words {
			for _, b := range words {
				if stem(a) == stem(b) && !strings.HasPrefix(b, root(a)) {
					t.Errorf("%s and %s have the stem %s, but %s does not begin with %s", a, b, stem(a), b, root(a))
				}
			}
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		word := rapid.StringMatching(`[a-z]{1,30}`).Draw(rt, "word")
		if r := root(word); r == "" || !strings.HasPrefix(word, r) {
			rt.Fatalf("root of %q is %q", word, r)
		}
	})
}

// TestOneEdit holds oneEdit against an edited word.
func TestOneEdit(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		word := []rune(rapid.StringMatching(`[abcä]{1,8}`).Draw(rt, "word"))
		at := rapid.IntRange(0, len(word)-1).Draw(rt, "at")
		letter := rapid.SampledFrom([]rune("abcä")).Draw(rt, "letter")
		edited := slices.Clone(word)
		switch rapid.IntRange(0, 3).Draw(rt, "edit") {
		case 0:
			edited = slices.Insert(edited, at, letter)
		case 1:
			edited = slices.Delete(edited, at, at+1)
		case 2:
			edited[at] = letter
		default:
			if at+1 < len(edited) {
				edited[at], edited[at+1] = edited[at+1], edited[at]
			}
		}
		if !oneEdit(string(word), string(edited)) || !oneEdit(string(edited), string(word)) {
			rt.Fatalf("%q and %q are one edit apart", string(word), string(edited))
		}
		far := string(edited) + "zz"
		if oneEdit(string(word), far) && len([]rune(far))-len(word) > 1 {
			rt.Fatalf("%q and %q are not one edit apart", string(word), far)
		}
	})
	for _, c := range [][2]string{{"abcd", "badc"}, {"abc", "cba"}, {"ab", "abcd"}, {"test", "toast"}} {
		if oneEdit(c[0], c[1]) {
			t.Errorf("%s and %s", c[0], c[1])
		}
	}
}
