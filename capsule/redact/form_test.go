package redact

import (
	"regexp/syntax"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// TestTokensOfAKnownFormNeedNoEntropy: a token is known by its prefix and its length. How random
// the rest looks says nothing more: a token of a test, or one with many equal characters,
// opens a door as well.
func TestTokensOfAKnownFormNeedNoEntropy(t *testing.T) {
	known := 0
	for _, r := range Rules() {
		if r.After != "" || !knownForm(t, r.Pattern) {
			continue
		}
		known++
		if r.Entropy > 0 {
			t.Errorf("%s knows its tokens by prefix and length, and wants an entropy of %g besides", r.ID, r.Entropy)
		}
	}
	for _, secret := range []string{"ghp_" + strings.Repeat("a", 36), "AKIA" + strings.Repeat("A", 16)} {
		if got := newRedactor(t, machine()).Text("see " + secret + " there"); strings.Contains(got, secret) {
			t.Errorf("%q stays", got)
		}
	}
	if known < 40 {
		t.Errorf("only %d rules know the form of their tokens", known)
	}
}

// The least form by which a token is known, in characters.
const (
	knownPrefix = 3
	knownLength = 12
)

func knownForm(t *testing.T, pattern string) bool {
	t.Helper()
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		t.Fatal(err)
	}
	prefix, _ := givenPrefix(re)
	return prefix >= knownPrefix && shortest(re) >= knownLength && bounded(re)
}

// givenPrefix returns how many characters at the beginning of every match are given, and whether
// these are the whole match. A letter in either case is given.
func givenPrefix(re *syntax.Regexp) (n int, whole bool) {
	switch re.Op { //nolint:exhaustive // before all others nothing is given
	case syntax.OpLiteral:
		return len(re.Rune), true
	case syntax.OpCharClass:
		one := len(re.Rune) == 2 && re.Rune[0] == re.Rune[1] ||
			len(re.Rune) == 4 && re.Rune[0] == re.Rune[1] && unicode.ToLower(re.Rune[0]) == re.Rune[2]
		if one {
			return 1, true
		}
		return 0, false
	case syntax.OpCapture:
		return givenPrefix(re.Sub[0])
	case syntax.OpEmptyMatch, syntax.OpWordBoundary:
		return 0, true
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			m, whole := givenPrefix(sub)
			n += m
			if !whole {
				return n, false
			}
		}
		return n, true
	case syntax.OpAlternate:
		n, _ = givenPrefix(re.Sub[0])
		for _, sub := range re.Sub[1:] {
			m, _ := givenPrefix(sub)
			n = min(n, m)
		}
		return n, false
	}
	return 0, false
}

// bounded reports whether all matches of an expression with one alternative have one length.
func bounded(re *syntax.Regexp) bool {
	switch re.Op { //nolint:exhaustive // all others have one length
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest:
		return false
	case syntax.OpRepeat:
		if re.Min != re.Max {
			return false
		}
	}
	return !slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return !bounded(sub) })
}

// shortest is the length of the shortest match in characters.
func shortest(re *syntax.Regexp) (n int) {
	switch re.Op { //nolint:exhaustive // all others may match nothing
	case syntax.OpLiteral:
		return len(re.Rune)
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return 1
	case syntax.OpCapture, syntax.OpPlus:
		return shortest(re.Sub[0])
	case syntax.OpRepeat:
		return re.Min * shortest(re.Sub[0])
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			n += shortest(sub)
		}
		return n
	case syntax.OpAlternate:
		n = shortest(re.Sub[0])
		for _, sub := range re.Sub[1:] {
			n = min(n, shortest(sub))
		}
		return n
	}
	return 0
}
