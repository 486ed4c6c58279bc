package redact

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"hubcli/internal/require"
)

func newRedactor(t testing.TB, o Options) *Redactor {
	t.Helper()
	if o.Salt == nil {
		o.Salt = []byte("0123456789abcdef")
	}
	r, err := New(o)
	require.NoError(t, err)
	return r
}

// places are where secrets stand: %s is the secret with what names it.
var places = []struct{ name, text string }{
	{"body", "I deployed it with %s and all tests pass now."},
	{"body", "Warum geht das nicht? %s, sagt der Server."},
	{"body", "我用的是 %s 请检查"},
	{"line", "first line\n%s\nlast line"},
	{"code", "func main() {\n\tclient := New(`%s`)\n\tclient.Run()\n}"},
	{"code", "curl -sS https://api.example.com/v1 -H 'X: %s' | jq ."},
	{"file name", "backup-%s.txt"},
	{"file name", "out/%s/log.json"},
	{"title", "Fix login (%s)"},
	{"title", "[%s] is refused"},
	{"quoted", "\"%s\", he said; then <b>%s</b>."},
}

const generated = 10_000

// TestNoSecretIsLeft makes secrets of all rules and puts them into texts and JSON.
func TestNoSecretIsLeft(t *testing.T) {
	g := &generator{random: rand.New(rand.NewPCG(1, 2))}
	r := newRedactor(t, Options{})
	rules := Rules()
	left := map[string]int{}
	made := 0
	check := func(rule, place, secret, out string) {
		made++
		if strings.Contains(out, secret) {
			if left[rule]++; left[rule] < 3 {
				t.Errorf("%s in a %s: %q is left in %q", rule, place, secret, out)
			}
		}
	}
	for made < generated {
		for i := range len(rules) + 1 {
			rule, text, secret := rulePEM, "", ""
			if i < len(rules) {
				rule = rules[i].ID
				text, secret = g.secret(t, rules[i])
			} else {
				text, secret = g.pem()
			}
			place := places[g.random.IntN(len(places))]
			check(rule, place.name, secret, r.Text(strings.ReplaceAll(place.text, "%s", text)))

			raw, err := json.Marshal(map[string]any{"id": 7, "note": text, "list": []string{"a", text}, text: true})
			require.NoError(t, err)
			raw, err = r.JSON(raw)
			require.NoError(t, err)
			var back map[string]any
			require.NoError(t, json.Unmarshal(raw, &back))
			plain, err := json.Marshal(back)
			require.NoError(t, err)
			quoted, err := json.Marshal(secret)
			require.NoError(t, err)
			check(rule, "metadata", strings.Trim(string(quoted), `"`), string(plain))
		}
	}
	total := 0
	for _, n := range left {
		total += n
	}
	t.Logf("%d secrets of %d rules: %d left", made, len(rules)+1, total)
}
