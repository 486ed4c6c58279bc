package spawn

import (
	"bytes"
	"io"
	"slices"

	"hubcli/hub"
)

// shortestMasked is the shortest secret that is looked for: anything shorter would be found
// everywhere.
const shortestMasked = 6

// mask hands on what is written to it, with a word in the place of each secret. A secret may
// come in several writes, so the beginning of one is held back until more is known. It is
// used by one goroutine.
type mask struct {
	to      io.Writer
	secrets []masking
	held    []byte
}

type masking struct{ secret, word []byte }

// masked returns a writer that leaves secrets out, by the names of their variables. Only a
// command that prints its variables as they are is caught: one that encodes them is not.
func masked(to io.Writer, secrets map[string]hub.Secret) *mask {
	m := &mask{to: to}
	for name, secret := range secrets {
		if text := secret.Reveal(); len(text) >= shortestMasked {
			m.secrets = append(m.secrets, masking{[]byte(text), []byte("[the value of " + name + "]")})
		}
	}
	return m
}

// Write implements io.Writer.
func (m *mask) Write(p []byte) (int, error) {
	if len(m.secrets) == 0 {
		return m.to.Write(p)
	}
	text := slices.Concat(m.held, p)
	for _, s := range m.secrets {
		text = bytes.ReplaceAll(text, s.secret, s.word)
	}
	keep := 0
	for _, s := range m.secrets {
		keep = max(keep, begun(text, s.secret))
	}
	m.held = slices.Clone(text[len(text)-keep:])
	_, err := m.to.Write(text[:len(text)-keep])
	return len(p), err
}

// flush hands on what was held back: nothing more comes.
func (m *mask) flush() { _, _ = m.to.Write(m.held) }

// begun says how many bytes at the end of text are the beginning of a secret.
func begun(text, secret []byte) int {
	for n := min(len(text), len(secret)-1); n > 0; n-- {
		if bytes.HasPrefix(secret, text[len(text)-n:]) {
			return n
		}
	}
	return 0
}
