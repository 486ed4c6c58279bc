package edit

import (
	"fmt"
	"strings"

	"github.com/tailscale/hujson"

	"hubcli/internal/lazy"
)

// text returns the marked block of an entry.
func (d *tomlDoc) text(v *entry) (string, error) {
	root, err := hujson.Parse(v.text)
	if err != nil {
		return "", fmt.Errorf("edit: value of %v: %w", d.at, err)
	}
	object, ok := root.Value.(*hujson.Object)
	if !ok {
		return "", fmt.Errorf("edit: the value of %v must be an object", d.at)
	}
	var b strings.Builder
	b.WriteString(d.begin + "\n")
	name := tomlKeys(d.at.Keys)
	header := "[" + name + "]\n"
	if d.at.Mark != "" {
		header = "[[" + name + "]]\n"
	}
	if err := tomlTable(&b, header, name, object); err != nil {
		return "", fmt.Errorf("edit: value of %v: %w", d.at, err)
	}
	b.WriteString(d.end)
	return strings.ReplaceAll(b.String(), "\n", styleOf(d.doc).eol), nil
}

// tomlTable writes a table: its values first, then the tables below it, because
// a value after a table header would belong to that table. Empty tables are
// inline.
func tomlTable(b *strings.Builder, header, name string, object *hujson.Object) error {
	b.WriteString(header)
	for i := range object.Members {
		m := &object.Members[i]
		if sub, ok := m.Value.Value.(*hujson.Object); ok && len(sub.Members) > 0 {
			continue
		}
		b.WriteString(tomlKey(memberName(m)) + " = ")
		if err := tomlValue(b, m.Value.Value); err != nil {
			return err
		}
		b.WriteString("\n")
	}
	for i := range object.Members {
		m := &object.Members[i]
		if sub, ok := m.Value.Value.(*hujson.Object); ok && len(sub.Members) > 0 {
			below := name + "." + tomlKey(memberName(m))
			if err := tomlTable(b, "\n["+below+"]\n", below, sub); err != nil {
				return err
			}
		}
	}
	return nil
}

func tomlValue(b *strings.Builder, v hujson.ValueTrimmed) error {
	switch x := v.(type) {
	case hujson.Literal:
		switch x.Kind() {
		case 'n':
			return fmt.Errorf("TOML has no null")
		case '"':
			b.WriteString(quote(x.String()))
		default:
			b.Write(x)
		}
	case *hujson.Array:
		b.WriteString("[")
		for i := range x.Elements {
			if i > 0 {
				b.WriteString(", ")
			}
			if err := tomlValue(b, x.Elements[i].Value); err != nil {
				return err
			}
		}
		b.WriteString("]")
	case *hujson.Object:
		b.WriteString("{")
		for i := range x.Members {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(tomlKey(memberName(&x.Members[i])) + " = ")
			if err := tomlValue(b, x.Members[i].Value.Value); err != nil {
				return err
			}
		}
		b.WriteString("}")
	}
	return nil
}

func memberName(m *hujson.ObjectMember) string {
	name, _ := m.Name.Value.(hujson.Literal)
	return name.String()
}

var bareKey = lazy.Regexp{Pattern: `^[A-Za-z0-9_-]+$`}

func tomlKey(key string) string {
	if bareKey.MatchString(key) {
		return key
	}
	return quote(key) // a basic string of TOML has the escapes of JSON
}

func tomlKeys(keys []string) string {
	parts := make([]string, len(keys))
	for i, key := range keys {
		parts[i] = tomlKey(key)
	}
	return strings.Join(parts, ".")
}
