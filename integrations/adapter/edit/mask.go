package edit

import (
	"bytes"
	"slices"
	"strings"

	"hubcli/internal/lazy"
)

const (
	masked = "••••"
	// secretName matches a part of the names of secrets.
	secretName = `(?:token|secret|passw|pwd|api[_-]?key|apikey|auth|credential|cookie|private|access[_-]?key|bearer)`
	quoted     = `"(?:[^"\\\n]|\\.)*"|'[^'\n]*'`
	bare       = `[^\s,{}\[\]"'][^\s,{}\[\]]*(?: [^\s,{}\[\]]+)*`
)

// secretPlace finds secrets: the last group of the pattern, or the whole match.
type secretPlace struct {
	pattern *lazy.Regexp
	marks   []string // in lower case; a text without any of them is not searched
}

// secretMarks are the beginnings of secretName.
var secretMarks = []string{"token", "secret", "passw", "pwd", "api", "auth", "credential", "cookie", "private", "access", "bearer"}

var secretPlaces = []secretPlace{
	// A key that names a secret, with its value, in any of the formats.
	{&lazy.Regexp{Pattern: `(?i)["']?[\w.-]*` + secretName + `[\w.-]*["']?[ \t]*[:=][ \t]*(` + quoted + `|` + bare + `)`}, secretMarks},
	// A variable of an environment: all in capitals.
	{&lazy.Regexp{Pattern: `["']?\b[A-Z][A-Z0-9_]{2,}["']?[ \t]*[:=][ \t]*(` + quoted + `|` + bare + `)`}, []string{":", "="}},
	// The element of a list, or the word, after a flag that names a secret.
	{&lazy.Regexp{Pattern: `(?i)["']--?[\w.-]*` + secretName + `[\w.-]*["']\s*,\s*(` + quoted + `)`}, secretMarks},
	{&lazy.Regexp{Pattern: `(?i)-[ \t]+["']?--?[\w.-]*` + secretName + `[\w.-]*["']?[ \t]*\r?\n[ \t]*-[ \t]+([^\r\n]+)`}, secretMarks},
	{&lazy.Regexp{Pattern: `(?i)--?[\w.-]*` + secretName + `[\w.-]*[ =]+([^\s"',\\]+)`}, secretMarks},
	// A header in a string.
	{&lazy.Regexp{Pattern: `(?i)\b(?:[\w-]*authorization|[\w-]*cookie|x-[\w-]*(?:key|token|secret))[ \t]*:[ \t]*([^"'\r\n]+)`}, []string{":"}},
	// User, password and the values of the query in an address.
	{&lazy.Regexp{Pattern: `://([^/\s"'@]+)@`}, []string{"://"}},
	{&lazy.Regexp{Pattern: `[?&][\w.~%-]+=([^&\s"'#]+)`}, []string{"?", "&"}},
	// Text that looks like a secret: a known prefix, a bearer token.
	{&lazy.Regexp{Pattern: `(?i)\b(?:sk|pk|rk|ghp|gho|ghs|ghu|github_pat|glpat|xox[abpr]|npm|pypi|hf|AKIA|AIza|eyJ)[-_A-Za-z0-9.]{8,}`}, nil},
	{&lazy.Regexp{Pattern: `(?i)\bbearer\s+[^\s"',]+`}, []string{"bearer"}},
}

var (
	longWord = lazy.Regexp{Pattern: `[A-Za-z0-9+_=-]{24,}`}
	// address matches an address with a path, whose words may be keys.
	address = lazy.Regexp{Pattern: `(?i)\b(?:https?|wss?)://[^/\s"']+(/[^\s"'?#]+)`}
	segment = lazy.Regexp{Pattern: `[^/]+`}
)

const (
	longSegment  = 16 // characters of a word in an address; a longer word may be a key
	mixedSegment = 6  // the same for a word with letters and digits
)

// secrets returns the places of possible secrets without quotation marks, in
// order and without overlap.
func secrets(text []byte) []span {
	var all []span
	small := bytes.ToLower(text)
	for _, place := range secretPlaces {
		if !place.marked(small) {
			continue
		}
		for _, m := range place.pattern.Get().FindAllSubmatchIndex(text, -1) {
			s := unquoted(text, span{m[len(m)-2], m[len(m)-1]})
			if word := string(text[s.start:s.end]); word != "true" && word != "false" && word != "null" && word != "" {
				all = append(all, s)
			}
		}
	}
	for _, m := range longWord.Get().FindAllIndex(text, -1) {
		if mixed(text[m[0]:m[1]]) {
			all = append(all, span{m[0], m[1]})
		}
	}
	for _, m := range address.Get().FindAllSubmatchIndex(text, -1) {
		for _, w := range segment.Get().FindAllIndex(text[m[2]:m[3]], -1) {
			word := text[m[2]+w[0] : m[2]+w[1]]
			if len(word) >= longSegment || len(word) >= mixedSegment && mixed(word) {
				all = append(all, span{m[2] + w[0], m[2] + w[1]})
			}
		}
	}
	slices.SortFunc(all, func(a, b span) int { return a.start - b.start })
	apart := all[:0]
	for _, s := range all {
		if n := len(apart); n > 0 && s.start < apart[n-1].end {
			apart[n-1].end = max(apart[n-1].end, s.end)
		} else {
			apart = append(apart, s)
		}
	}
	return apart
}

// marked reports whether the pattern can match a text, given in lower case. The
// patterns are slow, and most texts hold no mark.
func (p *secretPlace) marked(small []byte) bool {
	return p.marks == nil || slices.ContainsFunc(p.marks, func(mark string) bool { return bytes.Contains(small, []byte(mark)) })
}

// mixed reports whether a word has both letters and digits.
func mixed(word []byte) bool {
	return bytes.ContainsAny(word, "0123456789") && bytes.ContainsFunc(word, func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
	})
}

// unquoted narrows a span to exclude quotation marks at both ends, or one at
// the end.
func unquoted(text []byte, s span) span {
	if s.end-s.start >= 2 && strings.IndexByte(`"'`, text[s.start]) >= 0 && text[s.end-1] == text[s.start] {
		return span{s.start + 1, s.end - 1}
	}
	for s.end > s.start && strings.IndexByte(`"'`, text[s.end-1]) >= 0 {
		s.end--
	}
	return s
}
