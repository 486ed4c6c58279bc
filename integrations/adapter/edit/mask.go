package edit

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
)

const (
	masked = "••••"
	// secretName matches a part of names that secrets have.
	secretName = `(?:token|secret|passw|pwd|api[_-]?key|apikey|auth|credential|cookie|private|access[_-]?key|bearer)`
	quoted     = `"(?:[^"\\\n]|\\.)*"|'[^'\n]*'`
	bare       = `[^\s,{}\[\]"'][^\s,{}\[\]]*(?: [^\s,{}\[\]]+)*`
)

// secretPlace says where secrets stand: in the last group, or as a whole.
type secretPlace struct {
	pattern *regexp.Regexp
	marks   []string // in small letters; text that holds none of them is not searched
}

// secretMarks are the beginnings of secretName.
var secretMarks = []string{"token", "secret", "passw", "pwd", "api", "auth", "credential", "cookie", "private", "access", "bearer"}

var secretPlaces = []secretPlace{
	// A key that names a secret, with a value behind it in any of the formats.
	{regexp.MustCompile(`(?i)["']?[\w.-]*` + secretName + `[\w.-]*["']?[ \t]*[:=][ \t]*(` + quoted + `|` + bare + `)`), secretMarks},
	// A variable of an environment: all in capitals.
	{regexp.MustCompile(`["']?\b[A-Z][A-Z0-9_]{2,}["']?[ \t]*[:=][ \t]*(` + quoted + `|` + bare + `)`), []string{":", "="}},
	// An element of a list behind a flag that names a secret, or the word behind it.
	{regexp.MustCompile(`(?i)["']--?[\w.-]*` + secretName + `[\w.-]*["']\s*,\s*(` + quoted + `)`), secretMarks},
	{regexp.MustCompile(`(?i)-[ \t]+["']?--?[\w.-]*` + secretName + `[\w.-]*["']?[ \t]*\r?\n[ \t]*-[ \t]+([^\r\n]+)`), secretMarks},
	{regexp.MustCompile(`(?i)--?[\w.-]*` + secretName + `[\w.-]*[ =]+([^\s"',\\]+)`), secretMarks},
	// A header in a string.
	{regexp.MustCompile(`(?i)\b(?:[\w-]*authorization|[\w-]*cookie|x-[\w-]*(?:key|token|secret))[ \t]*:[ \t]*([^"'\r\n]+)`), []string{":"}},
	// User and password, and any value of a query, in an address.
	{regexp.MustCompile(`://([^/\s"'@]+)@`), []string{"://"}},
	{regexp.MustCompile(`[?&][\w.~%-]+=([^&\s"'#]+)`), []string{"?", "&"}},
	// What looks like one: a known prefix, a bearer.
	{regexp.MustCompile(`(?i)\b(?:sk|pk|rk|ghp|gho|ghs|ghu|github_pat|glpat|xox[abpr]|npm|pypi|hf|AKIA|AIza|eyJ)[-_A-Za-z0-9.]{8,}`), nil},
	{regexp.MustCompile(`(?i)\bbearer\s+[^\s"',]+`), []string{"bearer"}},
}

var (
	longWord = regexp.MustCompile(`[A-Za-z0-9+_=-]{24,}`)
	// address is one with a path, whose words may be keys.
	address = regexp.MustCompile(`(?i)\b(?:https?|wss?)://[^/\s"']+(/[^\s"'?#]+)`)
	segment = regexp.MustCompile(`[^/]+`)
)

const (
	longSegment  = 16 // characters of a word in an address that may be a key by its length
	mixedSegment = 6  // and by letters and digits in it
)

// secrets finds what may be one, values without their quotation marks, in order
// and apart.
func secrets(text []byte) []span {
	var all []span
	small := bytes.ToLower(text)
	for _, place := range secretPlaces {
		if !place.marked(small) {
			continue
		}
		for _, m := range place.pattern.FindAllSubmatchIndex(text, -1) {
			s := unquoted(text, span{m[len(m)-2], m[len(m)-1]})
			if word := string(text[s.start:s.end]); word != "true" && word != "false" && word != "null" && word != "" {
				all = append(all, s)
			}
		}
	}
	for _, m := range longWord.FindAllIndex(text, -1) {
		if mixed(text[m[0]:m[1]]) {
			all = append(all, span{m[0], m[1]})
		}
	}
	for _, m := range address.FindAllSubmatchIndex(text, -1) {
		for _, w := range segment.FindAllIndex(text[m[2]:m[3]], -1) {
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

// marked reports whether text in small letters can hold what the pattern finds: the
// patterns are slow, and most text holds no mark.
func (p *secretPlace) marked(small []byte) bool {
	return p.marks == nil || slices.ContainsFunc(p.marks, func(mark string) bool { return bytes.Contains(small, []byte(mark)) })
}

// mixed reports whether there are letters and digits in a word.
func mixed(word []byte) bool {
	return bytes.ContainsAny(word, "0123456789") && bytes.ContainsFunc(word, func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
	})
}

// unquoted leaves quotation marks at both ends, and one at the end, outside.
func unquoted(text []byte, s span) span {
	if s.end-s.start >= 2 && strings.IndexByte(`"'`, text[s.start]) >= 0 && text[s.end-1] == text[s.start] {
		return span{s.start + 1, s.end - 1}
	}
	for s.end > s.start && strings.IndexByte(`"'`, text[s.end-1]) >= 0 {
		s.end--
	}
	return s
}
