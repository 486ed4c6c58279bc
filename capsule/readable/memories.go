package readable

import (
	"fmt"
	"strings"

	"hubcli/capsule"
)

// memories writes memory.md: what is known now, of the project and then of the rooms, and
// what was known before. It reads the lines three times, because it keeps none.
func (r *renderer) memories() error {
	all := newBook(r.spool, &r.top, "", "memory", "Memory")
	current := func(m *capsule.Memory) bool { return m.ReplacedAt == nil && m.Text != "" }
	for pass, part := range []struct {
		heading string
		wants   func(*capsule.Memory) bool
	}{
		{"## Of the project", func(m *capsule.Memory) bool { return current(m) && m.Room == "" }},
		{"## Of the rooms", func(m *capsule.Memory) bool { return current(m) && m.Room != "" }},
		{"## Earlier", func(m *capsule.Memory) bool { return !current(m) }},
	} {
		if err := all.section(part.heading); err != nil {
			return err
		}
		none := true
		err := r.src.Memories(func(m *capsule.Memory) error {
			if pass == 0 {
				if err := r.datum("memories.ndjson", m); err != nil {
					return err
				}
			}
			if !part.wants(m) {
				return r.step()
			}
			none = false
			text, err := r.memory(m)
			if err == nil {
				err = all.add(text)
			}
			if err != nil {
				return err
			}
			return r.step()
		})
		if err == nil && none {
			err = all.add("\nNone.\n")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *renderer) memory(m *capsule.Memory) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "\n**#%s**", m.ID)
	if m.Key != "" {
		b.WriteString(" " + r.text(m.Key) + ",")
	}
	fmt.Fprintf(&b, " %s, %s", day(m.CreatedAt), r.by(m.By))
	if m.Room != "" {
		one, err := r.in(m.Room)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, ", room [%s](%s)", one.book.title, one.first)
	}
	for i, tag := range m.Tags {
		if i == 0 {
			b.WriteString(", tags:")
		}
		b.WriteString(" " + r.text(tag))
	}
	switch {
	case m.Text == "":
		b.WriteString(", forgotten")
	case m.ReplacedAt != nil:
		b.WriteString(", until " + day(*m.ReplacedAt))
	}
	b.WriteByte('\n')
	if m.Text != "" {
		r.quote(&b, m.Text)
	}
	return b.String(), nil
}
