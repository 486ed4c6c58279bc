package redact

import (
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"

	"hubcli/internal/require"
)

// A generator makes texts that a pattern matches.
type generator struct{ random *rand.Rand }

func (g *generator) pattern(t testing.TB, pattern string) string {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	require.NoError(t, err)
	var b strings.Builder
	g.write(&b, parsed)
	return b.String()
}

func (g *generator) write(b *strings.Builder, re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		b.WriteRune(g.runeOf(re.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte(byte('a' + g.random.IntN(26)))
	case syntax.OpStar:
		g.repeat(b, re.Sub[0], 0, 8)
	case syntax.OpPlus:
		g.repeat(b, re.Sub[0], 1, 8)
	case syntax.OpQuest:
		g.repeat(b, re.Sub[0], 0, 1)
	case syntax.OpRepeat:
		most := re.Max
		if most < 0 {
			most = re.Min + 40
		}
		g.repeat(b, re.Sub[0], re.Min, min(most, re.Min+60))
	case syntax.OpAlternate:
		g.write(b, re.Sub[g.random.IntN(len(re.Sub))])
	default: // a sequence, a group, or a place without a character
		for _, sub := range re.Sub {
			g.write(b, sub)
		}
	}
}

func (g *generator) repeat(b *strings.Builder, re *syntax.Regexp, least, most int) {
	for range least + g.random.IntN(most-least+1) {
		g.write(b, re)
	}
}

// runeOf is one printable character of a class, and of ASCII where that has one.
func (g *generator) runeOf(ranges []rune) rune {
	var ascii []rune
	for i := 0; i < len(ranges); i += 2 {
		for r := ranges[i]; r <= min(ranges[i+1], '~'); r++ {
			if r > ' ' {
				ascii = append(ascii, r)
			}
		}
	}
	if len(ascii) == 0 {
		return ranges[0]
	}
	return ascii[g.random.IntN(len(ascii))]
}

// settings join a name and its value, by the name of the separator.
var settings = map[string][]string{
	"assignment": {"=", ": ", " = ", `_API_KEY=`, `": "`, ` token is `, `Key := "`, ` => '`},
	"setting":    {"=", ": ", " = ", `_value=`, `": "`, ` is `, ` := "`, ` to `},
	"option":     {"=", " ", " '"},
	"quoted":     {`="`, `: "`, ` = '`, `": "`, " := `", ` is "`},
}

// secret makes a text with a secret of the rule, and the secret.
func (g *generator) secret(t testing.TB, r *Rule) (text, secret string) {
	re, _ := r.compile()
	for range 1000 {
		text, group := g.pattern(t, r.Pattern), r.Group
		if r.After != "" {
			joins := settings[r.After]
			word := r.Keywords[g.random.IntN(len(r.Keywords))]
			if g.random.IntN(2) == 0 {
				word = strings.ToUpper(word)
			}
			join := joins[g.random.IntN(len(joins))]
			if r.After == "option" {
				word = []string{"-", "--"}[g.random.IntN(2)] + strings.ToLower(word)
			}
			text, group = word+join+text, 1
			if r.After == "quoted" {
				text += join[len(join)-1:]
			}
		}
		m := re.FindStringSubmatch(strings.TrimLeft(text[:leading(r)], "-") + text[leading(r):])
		if m == nil || len(m[group]) < 4 || !r.accepts(strings.TrimRight(m[group], ".")) {
			continue
		}
		return text, strings.TrimRight(m[group], ".")
	}
	t.Fatalf("%s: no secret fits the rule", r.ID)
	return "", ""
}

// leading is how much of a text may stand before the keyword of its rule.
func leading(r *Rule) int {
	if r.After == "option" {
		return 2
	}
	return 0
}

// pem makes a private key of several lines.
func (g *generator) pem() (text, secret string) {
	line := func() string {
		return g.letters(64)
	}
	kind := []string{"RSA ", "EC ", "OPENSSH ", "ENCRYPTED ", ""}[g.random.IntN(5)]
	secret = line()
	return "-----BEGIN " + kind + "PRIVATE KEY-----\n" + line() + "\n" + secret + "\n" + line() + "\n-----END " + kind + "PRIVATE KEY-----", secret
}

func (g *generator) letters(n int) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[g.random.IntN(len(alphabet))]
	}
	return string(b)
}

var tagPattern = regexp.MustCompile(`\[redacted:[a-z0-9-]+:[0-9a-f]{8}\]`)
