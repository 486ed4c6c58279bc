//go:build unix

package spawn

import (
	"bytes"
	"strings"
	"testing"

	"hubcli/hub"
)

// TestMaskHoldsNothingBack: whichever way a text with a secret is cut into writes, the secret
// is replaced and everything else comes through.
func TestMaskHoldsNothingBack(t *testing.T) {
	const secret = "sk-aab-sk-aab-c"
	secrets := map[string]hub.Secret{"KEY": hub.NewSecret(secret), "SHORT": hub.NewSecret("begin")}
	text := "begin " + secret + secret + " sk-aab-sk-aab-sk-aab-c sk-aab-sk"
	want := strings.ReplaceAll(text, secret, "[the value of KEY]")
	for size := 1; size <= len(text); size++ {
		for first := 0; first < size; first++ {
			var out bytes.Buffer
			m := masked(&out, secrets)
			for rest := []byte(text); len(rest) > 0; {
				n := min(size, len(rest))
				if len(rest) == len(text) && first > 0 {
					n = first
				}
				if got, err := m.Write(rest[:n]); got != n || err != nil {
					t.Fatalf("a write of %d: %d, %v", n, got, err)
				}
				rest = rest[n:]
			}
			m.flush()
			if out.String() != want {
				t.Fatalf("in pieces of %d after %d: %q, want %q", size, first, out.String(), want)
			}
		}
	}
}

// TestSecretsAreVariablesOfTheCommandAlone: the command has them, and its output does not.
func TestSecretsAreVariablesOfTheCommandAlone(t *testing.T) {
	plan := script(t, `printf %s "$KEY" | wc -c; echo "$KEY"; printf sk-; sleep 0.01; printf 4711-planted; echo; echo "$NAMED"`)
	plan.Env, plan.Vars = []string{"KEY"}, map[string]string{"NAMED": "plain"}
	plan.Secrets = map[string]hub.Secret{"KEY": hub.NewSecret("sk-4711-planted")}
	r := testRunner()
	r.Environ = func() []string { return []string{"PATH=/bin:/usr/bin", "KEY=of the hub"} }
	e := begin(t, r, plan).end()
	if got := strings.Fields(string(e.Output)); code(e) != 0 || strings.Join(got, " ") != "15 [the value of KEY] [the value of KEY] plain" {
		t.Errorf("the end is %+v %q", e, e.Output)
	}
	e = begin(t, r, script(t, `echo "${KEY-none}"`)).end()
	if string(e.Output) != "none\n" {
		t.Errorf("another command has %q", e.Output)
	}
}
