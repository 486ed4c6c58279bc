package redact

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
	"unicode/utf8"

	"hubcli/internal/lazy"
)

//go:embed rules/rules.json
var ruleFile []byte

// A Rule says how one kind of secret is recognized. docs/redaction.md explains the members.
type Rule struct {
	ID           string   `json:"id"`
	Keywords     []string `json:"keywords"`               // a match begins at one of them, in any case
	After        string   `json:"after,omitempty"`        // the separator between the keyword and the secret, by its name in separators
	Needs        string   `json:"needs,omitempty"`        // stands in the text that the pattern is shown
	Pattern      string   `json:"pattern"`                // RE2
	Group        int      `json:"group,omitempty"`        // of the secret; 0 is the whole match
	Back         int      `json:"back,omitempty"`         // bytes before the keyword in which a match may begin
	Boundary     bool     `json:"boundary,omitempty"`     // no letter and no digit stands before the match
	Entropy      float64  `json:"entropy,omitempty"`      // the least bits per character of the secret
	Digit        bool     `json:"digit,omitempty"`        // the secret has a digit or a sign, or is long
	Placeholders bool     `json:"placeholders,omitempty"` // words that stand for a secret are left alone
	Source       string   `json:"source"`
	License      string   `json:"license"`

	compile func() (*regexp.Regexp, int)
}

// separators may stand between the name of a setting and its value.
var separators = map[string]string{
	// The value of a setting that has the name of a provider.
	"assignment": `[ \t\w.-]{0,40}[\s'"\x60\\\])]{0,4}(?:=>|->|:{0,3}=|\|\||\?=|[=:>,]|\bis\b)[\s'"\x60=\\(\[>:]{0,6}`,
	// The value of a setting that says that it is secret, in code and in prose.
	"setting": `[ \t\w.-]{0,30}?[\s'"\x60\\\])*]{0,4}(?:=>|->|:?=|\|\||\?=|[=:]|[ \t](?:is|ist|lautet|was|to)[ \t:]|为|是|：)[\s'"\x60=\\(\[>:]{0,6}`,
	// The value of an option of a command: the word of the keyword begins with a dash.
	"option": `[ =]{1,2}["']?`,
	// The same as a setting, with a value in quotes.
	"quoted": `[ \t\w.-]{0,30}?[\s'"\x60\\\])*]{0,4}(?:=>|->|:?=|\?=|[=:]|[ \t](?:is|ist|lautet|to)\b|为|是|：)[\s(\[]{0,4}\\{0,3}["'\x60]`,
}

// ends stand after the value.
var ends = map[string]string{"quoted": `\\{0,3}["'\x60]`}

// placeholder matches words that stand where a secret would: types, variables, words of
// documents.
var placeholder = lazy.Regexp{Pattern: `^(?i:string|str|text|int|integer|number|bool|boolean|true|false|null|nil|none|undefined|` +
	`required|optional|redacted|masked|hidden|your[ _-].*|change[ _-]?me.*|placeholder|example.*|todo|tbd|xxx+|` +
	`(?:flag|option|prompt|file|stdin|from|with|without|and|instead|argument|value|must|when|field|input|type|name|header|env|path)s?)$|` +
	`^[A-Z][A-Z_]+$|^--[a-z]|^[*.…•-]+$|^(?:\$|<|\{|%|process\.env|os\.(?:environ|getenv|Getenv)|import\.meta)|` +
	`^(?:[~.]?/(?:home|etc|usr|var|opt|tmp|run|srv|mnt|Users|root|dev|proc|bin|lib|v\d|api|\.)|~/|[A-Za-z]:\\)`}

// file is what rules/rules.json holds.
type file struct {
	Version int     `json:"version"`
	Rules   []*Rule `json:"rules"`
}

// loaded are the rules of the program. That they can be read is held by a test.
var loaded = sync.OnceValue(func() *file {
	f := &file{}
	if err := json.Unmarshal(ruleFile, f); err != nil {
		panic(fmt.Sprintf("the rules cannot be read: %v", err))
	}
	for _, r := range f.Rules {
		r.compile = sync.OnceValues(func() (*regexp.Regexp, int) {
			pattern := r.Pattern
			if r.After != "" {
				pattern = "(?i:" + strings.Join(quoteAll(r.Keywords), "|") + ")" + separators[r.After] + "(" + pattern + ")" + ends[r.After]
			}
			if r.Back == 0 {
				pattern = "^(?:" + pattern + ")"
			}
			return regexp.MustCompile(pattern), longest(pattern)
		})
	}
	return f
})

// Version is that of the rules.
func Version() int { return loaded().Version }

// Rules returns the rules; nobody may change them.
func Rules() []*Rule { return loaded().Rules }

func quoteAll(words []string) []string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = regexp.QuoteMeta(w)
	}
	return quoted
}

// longWindow bounds the text that a pattern without a longest match is shown.
const longWindow = 4096

// longest is the size in bytes of the longest match of a pattern.
func longest(pattern string) int {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return longWindow
	}
	return min(longestOf(parsed), longWindow)
}

func longestOf(re *syntax.Regexp) int {
	sum := 0
	switch re.Op {
	case syntax.OpLiteral:
		return len(string(re.Rune)) + 1 // some letters have cases of several bytes
	case syntax.OpCharClass:
		if n := len(re.Rune); n > 0 && re.Rune[n-1] < utf8.RuneSelf {
			return 1
		}
		return utf8.UTFMax
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return utf8.UTFMax
	case syntax.OpStar, syntax.OpPlus:
		return longWindow
	case syntax.OpRepeat:
		if re.Max < 0 {
			return longWindow
		}
		return re.Max * longestOf(re.Sub[0])
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			sum = max(sum, longestOf(sub))
		}
		return sum
	default:
		for _, sub := range re.Sub {
			sum += longestOf(sub)
		}
		return sum
	}
}

// accepts says whether value can be a secret of the rule.
func (r *Rule) accepts(value string) bool {
	switch {
	case r.Entropy > 0 && entropy(value) < r.Entropy:
		return false
	case r.Digit && len(value) < longValue && !strings.ContainsAny(value, "0123456789!@#%^*+=?~"):
		return false
	case r.Placeholders && placeholder.MatchString(value):
		return false
	}
	return true
}

// longValue is the length from which a value without digits is no word.
const longValue = 24

// entropy is Shannon's, in bits per byte of text.
func entropy(text string) float64 {
	var counts [256]int
	for i := range len(text) {
		counts[text[i]]++
	}
	bits := 0.0
	for _, n := range counts {
		if n > 0 {
			p := float64(n) / float64(len(text))
			bits -= p * math.Log2(p)
		}
	}
	return bits
}
