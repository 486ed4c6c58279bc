package redact

import (
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestRulesAreSound: every rule can be read and says where it comes from, and most are those
// of gitleaks.
func TestRulesAreSound(t *testing.T) {
	if Version() < 1 {
		t.Errorf("the version of the rules is %d", Version())
	}
	id := regexp.MustCompile(`^[a-z0-9][a-z0-9-]*$`)
	seen := map[string]bool{}
	licenses := map[string]int{}
	for _, r := range Rules() {
		if !id.MatchString(r.ID) || len(r.ID) > maxRuleID || seen[r.ID] {
			t.Errorf("%q is no name of a rule, or the name of two", r.ID)
		}
		seen[r.ID] = true
		licenses[r.License]++
		if r.Source == "" || len(r.Keywords) == 0 {
			t.Errorf("%s has no source or no keyword", r.ID)
		}
		for _, word := range r.Keywords {
			if len(word) < 2 || word != strings.ToLower(word) {
				t.Errorf("%s: the keyword %q is too short, or not in lower case", r.ID, word)
			}
		}
		if _, known := separators[r.After]; r.After != "" && !known {
			t.Errorf("%s: there is no separator %q", r.ID, r.After)
		}
		re, size := r.compile()
		if group := max(r.Group, 0); group > re.NumSubexp() || size < 4 {
			t.Errorf("%s: there is no group %d, or the longest match has %d bytes", r.ID, r.Group, size)
		}
	}
	if licenses["MIT"] < 80 || licenses["MIT"]+licenses["own"] != len(Rules()) {
		t.Errorf("the licenses are %v", licenses)
	}
	t.Logf("%d rules, %d of gitleaks", len(Rules()), licenses["MIT"])
}

// TestEachRuleFindsItsOwn: no rule lives from the others.
func TestEachRuleFindsItsOwn(t *testing.T) {
	g := &generator{random: rand.New(rand.NewPCG(5, 6))}
	for _, r := range Rules() {
		words := newKeywords(r.Keywords)
		for range 20 {
			text, secret := g.secret(t, r)
			text = "see " + text + " there"
			s := &scan{text: text, work: freeWork}
			words.each(text, func(word, end int) bool {
				r.find(s, end-len(r.Keywords[word]), end)
				return true
			})
			found := false
			for _, span := range s.spans {
				found = found || strings.Contains(text[span.start:span.end], secret)
			}
			if !found {
				t.Errorf("%s does not find %q in %q", r.ID, secret, text)
				break
			}
		}
	}
}

// TestKeywordsAreFound compares the automaton with a search for each word.
func TestKeywordsAreFound(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	letters := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = "abAB-é"[random.IntN(7)]
		}
		return string(b)
	}
	for range 2000 {
		words := make([]string, 1+random.IntN(6))
		for i := range words {
			words[i] = foldASCII(letters(1 + random.IntN(4)))
		}
		text := letters(random.IntN(30))
		got, want := map[[2]int]bool{}, map[[2]int]bool{}
		newKeywords(words).each(text, func(word, end int) bool {
			got[[2]int{word, end}] = true
			return true
		})
		for i, word := range words {
			for end := len(word); end <= len(text); end++ {
				if foldASCII(text[end-len(word):end]) == foldASCII(word) {
					want[[2]int{i, end}] = true
				}
			}
		}
		if !maps.Equal(want, got) {
			t.Fatalf("%q in %q: found %v, want %v", words, text, got, want)
		}
	}
}

func foldASCII(text string) string {
	b := []byte(text)
	for i := range b {
		b[i] = lower(b[i])
	}
	return string(b)
}

// TestSecretsArePlaces: the places of a text are those that Text would replace, without what
// names people.
func TestSecretsArePlaces(t *testing.T) {
	text := "a ghp_16C7e42F292c6912E7710c838347Ae178B4a b /home/anna c password=hunter22 x@firma.de"
	var got []string
	for _, place := range Secrets(text) {
		got = append(got, place.Rule+" "+text[place.Start:place.End])
	}
	if want := []string{"github-pat ghp_16C7e42F292c6912E7710c838347Ae178B4a", "password-assignment hunter22"}; !slices.Equal(got, want) {
		t.Errorf("the places are %q", got)
	}
}
