package redact

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"hubcli/internal/require"
	"hubcli/internal/testrace"
)

// mixed makes a text of ordinary talk, secrets, names of the machine, pieces of all of them
// and characters that separate.
func (g *generator) mixed(t testing.TB, lines []string, pieces int) string {
	m := machine()
	rules := Rules()
	var b strings.Builder
	for range pieces {
		piece := ""
		switch g.random.IntN(7) {
		case 0, 1:
			piece = lines[g.random.IntN(len(lines))]
		case 2:
			piece, _ = g.secret(t, rules[g.random.IntN(len(rules))])
		case 3:
			all := append(append(append(append([]string{}, m.Homes...), m.Users...), m.Hosts...), m.Addresses...)
			piece = all[g.random.IntN(len(all))]
		case 4:
			rule := rules[g.random.IntN(len(rules))]
			piece = rule.Keywords[g.random.IntN(len(rule.Keywords))]
		case 5:
			piece = []string{" ", "\n", "=", ": ", `"`, "/", `\`, "@", "\xff", "://", "[redacted:email:01234567]", "[redacted:", "]", "-----BEGIN PRIVATE KEY-----"}[g.random.IntN(14)]
		case 6:
			piece = g.letters(1 + g.random.IntN(40))
		}
		if g.random.IntN(4) == 0 && piece != "" {
			piece = piece[g.random.IntN(len(piece)):]
		}
		b.WriteString(piece)
		if g.random.IntN(2) == 0 {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// TestRedactedStays: to redact again changes nothing, under any salt.
func TestRedactedStays(t *testing.T) {
	testrace.Avoid(t, "one goroutine reads long texts")
	g := &generator{random: rand.New(rand.NewPCG(3, 4))}
	lines := talk(t)
	r := newRedactor(t, machine())
	other := machine()
	other.Salt = []byte("another salt of 16 bytes")
	again := newRedactor(t, other)
	for range 3000 {
		text := g.mixed(t, lines, 1+g.random.IntN(12))
		once := r.Text(text)
		if twice := again.Text(once); twice != once {
			t.Fatalf("%q\nbecame %q\nand then %q", text, once, twice)
		}
		if same := newRedactorOf(r).Text(text); same != once {
			t.Fatalf("%q became %q and %q", text, once, same)
		}
		raw, err := json.Marshal(map[string]any{text: []any{text, 1.50, nil}, "token": text})
		require.NoError(t, err)
		first, err := r.JSON(raw)
		require.NoError(t, err)
		second, err := again.JSON(first)
		require.NoError(t, err)
		if !bytes.Equal(first, second) {
			t.Fatalf("%s\nbecame %s\nand then %s", raw, first, second)
		}
	}
}

// newRedactorOf is a Redactor with the same rules and its own counts.
func newRedactorOf(r *Redactor) *Redactor {
	c := *r
	c.counts = map[string]int{}
	return &c
}

// TestJSONKeepsTheRest: numbers, order, spaces and escapes stay byte by byte, and the name of
// a member says what its value is.
func TestJSONKeepsTheRest(t *testing.T) {
	r := newRedactor(t, machine())
	for raw, want := range map[string]string{
		`{"b":1.50,"a":1e400, "c":[true,null,"\u0041\/"] ,"c":-0}`: `{"b":1.50,"a":1e400, "c":[true,null,"\u0041\/"] ,"c":-0}`,
		`{"password":"hunter22"}`:                                  `{"password":"[password-assignment]"}`,
		`{"db_password":"correct horse"}`:                          `{"db_password":"[password-quoted]"}`,
		`{"passwords":["hunter22",{"a":"hunter22"},"hunter23"]}`:   `{"passwords":["[password-assignment]",{"a":"hunter22"},"[password-assignment]"]}`,
		`{"password":{"a":"x"},"b":"hunter22"}`:                    `{"password":{"a":"x"},"b":"hunter22"}`,
		`{"password":17,"b":"hunter22"}`:                           `{"password":17,"b":"hunter22"}`,
		`{"password":null,"password_min":"8"}`:                     `{"password":null,"password_min":"8"}`,
		`{"/home/anna/x":1}`:                                       `{"[home]/x":1}`,
		`"/home/anna/<x>"`:                                         `"[home]/<x>"`,
		` [ ] `:                                                    ` [ ] `,
		`{"k":"-----BEGIN PRIVATE KEY-----\nMIIE\nabcd\n-----END PRIVATE KEY-----\n"}`: `{"k":"[private-key]\n"}`,
	} {
		got, err := r.JSON([]byte(raw))
		if err != nil || plainTags(string(got)) != want {
			t.Errorf("%s\nbecame %s (%v)\nwanted %s", raw, got, err, want)
		}
	}
	for _, raw := range []string{``, `{`, `{"a":}`, strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000)} {
		if got, err := r.JSON([]byte(raw)); err == nil {
			t.Errorf("%.20q became %.20q", raw, got)
		}
	}
	deep := strings.Repeat(`{"a":[`, 4000) + `"/home/anna"` + strings.Repeat(`]}`, 4000)
	if got, err := r.JSON([]byte(deep)); err != nil || !strings.Contains(plainTags(string(got)), `"[home]"`) {
		t.Errorf("deep JSON: %v", err)
	}
}

// hostile are texts that take the most time for their size.
func hostile(size int) map[string]string {
	words := ""
	for _, r := range Rules() {
		words += strings.Join(r.Keywords, "=") + "="
	}
	fill := func(piece string) string { return strings.Repeat(piece, size/len(piece)+1)[:size] }
	return map[string]string{
		"keywords":      fill(words),
		"begins":        fill("-----BEGIN PRIVATE KEY-----"),
		"begins, lines": fill("-----BEGIN PRIVATE KEY-----!"),
		"tokens":        fill("token="),
		"JWT":           fill("eyJhbGciOiJIUzI1NiJ9-"),
		"JWT, dots":     fill("eyJ0eXAiOiJKV1Qi.eyJ"),
		"addresses":     fill("a@"),
		"homes":         fill("/home/"),
		"users":         fill("/Users/a b c "),
		"tags":          fill("[redacted:"),
		"whole tags":    fill("[redacted:email:01234567]"),
		"e-mails":       fill("a@b.de "),
		"passwords":     fill("password=hunter22 "),
		"keys":          fill("ghp_16C7e42F292c6912E7710c838347Ae178B4a "),
		"URLs":          fill("://a:b"),
		"letters":       fill("a"),
		"zeros":         fill("\x00"),
		"no UTF-8":      fill("\xff\xc0"),
		"curl":          fill("curl -u "),
		"literal":       fill(base64Of(machine().Literals[0])),
	}
}

func base64Of(text string) string { return forms(text)[len(forms(text))-1].text }

// TestHostileTexts: the work is bounded by the size of a text, whatever it says.
func TestHostileTexts(t *testing.T) {
	testrace.Avoid(t, "one goroutine reads long texts")
	const size = 256 << 10
	for name, text := range hostile(size) {
		r := newRedactor(t, machine())
		got := r.Text(text)
		// Eight looks, each with sixteen bytes for a byte, a fixed part, and one look
		// that overdraws it.
		if limit := 8 * (16*max(len(got), size) + 256<<10); r.shown > limit {
			t.Errorf("%s: patterns were shown %d bytes, more than %d", name, r.shown, limit)
		}
		if again := r.Text(got); again != got {
			t.Errorf("%s: to redact again changes the text", name)
		}
	}
}

func BenchmarkHostile(b *testing.B) {
	const size = 16 << 20
	for name, text := range hostile(size) {
		b.Run(name, func(b *testing.B) {
			r := newRedactor(b, machine())
			b.SetBytes(size)
			for b.Loop() {
				r.Text(text)
			}
		})
	}
}

// FuzzRedact: nothing panics, to redact again changes nothing, and a secret that is put into
// any text goes.
func FuzzRedact(f *testing.F) {
	for _, line := range talk(f)[:20] {
		f.Add(line, uint64(1))
	}
	for _, text := range hostile(300) {
		f.Add(text, uint64(2))
	}
	r := newRedactor(f, machine())
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		once := r.Text(text)
		if twice := r.Text(once); twice != once {
			t.Errorf("%q became %q and then %q", text, once, twice)
		}
		raw, err := json.Marshal(text)
		require.NoError(t, err)
		for _, raw := range [][]byte{raw, []byte(text), []byte(`{"token":` + strconv.Quote(text) + `}`)} {
			first, err := r.JSON(raw)
			if err != nil {
				continue
			}
			if second, err := r.JSON(first); err != nil || !bytes.Equal(first, second) {
				t.Errorf("%q became %q and then %q (%v)", raw, first, second, err)
			}
		}
		secret := machine().Literals[0]
		at := int(seed % uint64(len(text)+1))
		if got := r.Text(text[:at] + secret + text[at:]); strings.Contains(got, secret) {
			t.Errorf("the literal is left in %q", got)
		}
	})
}

func BenchmarkText(b *testing.B) {
	lines := talk(b)
	text := strings.Repeat(strings.Join(lines, "\n")+"\n", 40)
	plain := strings.Repeat("I read the parser and found that the cursor moves twice when a line ends; t_12 waits for the review.\n", 8000)
	r := newRedactor(b, machine())
	for name, text := range map[string]string{"talk": text, "prose": plain} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				r.Text(text)
			}
		})
		b.Run(name+" messages", func(b *testing.B) {
			all := strings.Split(text, "\n")
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				for _, line := range all {
					r.Text(line)
				}
			}
		})
	}
	b.Run("copy", func(b *testing.B) {
		into := make([]byte, len(text))
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			copy(into, text)
		}
	})
	b.Run("new", func(b *testing.B) {
		for b.Loop() {
			newRedactor(b, machine())
		}
	})
}
