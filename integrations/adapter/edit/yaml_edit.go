package edit

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/tailscale/hujson"
	"go.yaml.in/yaml/v3"

	"hubcli/internal/lazy"
)

// indent returns the column of the first character of a line, and whether the
// line is a comment or blank.
func (d *yamlDoc) indent(line int) (column int, comment, blank bool) {
	text := d.doc[d.lines[line].start:d.lines[line].end]
	if line == 0 {
		text = text[d.base:]
	}
	rest := bytes.TrimLeft(text, " ")
	if len(bytes.TrimSpace(rest)) == 0 {
		return 0, false, true
	}
	return len(text) - len(rest), rest[0] == '#', false
}

// last returns the last line, counted from 0, of a key with its value. Comments
// after the value do not belong to it; within a block scalar a # begins no
// comment.
func (d *yamlDoc) last(key, value *yaml.Node) int {
	for len(value.Content) > 0 {
		value = value.Content[len(value.Content)-1]
	}
	text := value.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0
	last, column := key.Line-1, key.Column-1
	for i := key.Line; i < len(d.lines); i++ {
		at, comment, blank := d.indent(i)
		switch {
		case blank || comment && (at <= column || !text):
			continue
		case at <= column && !d.dashed(i, at, column):
			return last
		}
		last = i
	}
	return last
}

// dashed reports whether a line is an element of a list whose key is in the
// same column, which YAML allows.
func (d *yamlDoc) dashed(line, at, column int) bool {
	text := d.doc[d.lines[line].start:d.lines[line].end]
	rest := bytes.TrimLeft(text, " ")
	return at == column && (bytes.HasPrefix(rest, []byte("- ")) || string(rest) == "-")
}

// insert puts the entry after the last key of the deepest mapping that exists.
func (d *yamlDoc) insert(v *entry) ([]byte, Trace, error) {
	s := styleOf(d.doc)
	if d.root == nil {
		text, err := d.text(d.at.Keys, v, "", s)
		if err != nil {
			return nil, Trace{}, err
		}
		out, trace := appendBlock(d.doc, s, text)
		trace.Parents = len(d.at.Keys)
		return out, trace, nil
	}
	way, _, err := d.walk()
	if err != nil {
		return nil, Trace{}, err
	}
	trace := Trace{Parents: len(d.at.Keys) - max(len(way), 1)}
	if len(way) == 0 { // the document is {}
		return nil, Trace{}, d.refuse(d.root, Unsupported, "the document is in flow style")
	}
	deepest := way[len(way)-1]
	if deepest.key >= 0 {
		return d.intoEmpty(deepest, d.at.Keys[len(way):], v, s)
	}
	final := len(deepest.mapping.Content) - 2
	key, value := deepest.mapping.Content[final], deepest.mapping.Content[final+1]
	column := deepest.mapping.Content[0].Column - 1
	if key.Column-1 != column {
		return nil, Trace{}, d.refuse(key, Unsupported, "keys of one mapping stand in different columns")
	}
	text, err := d.text(d.at.Keys[len(way)-1:], v, strings.Repeat(" ", column), s)
	if err != nil {
		return nil, Trace{}, err
	}
	end := d.lines[d.last(key, value)].end
	return apply(d.doc, splice{end, end, s.eol + text}), trace, nil
}

// intoEmpty puts the entry below a key whose value is {} or nothing.
func (d *yamlDoc) intoEmpty(s yamlStep, missing []string, v *entry, st style) ([]byte, Trace, error) {
	key, value := s.mapping.Content[s.key], s.mapping.Content[s.key+1]
	line := d.lines[key.Line-1]
	text := d.doc[line.start:line.end]
	colon := bytes.LastIndexByte(text, ':')
	rest := ""
	if colon >= 0 {
		rest = string(text[colon+1:])
	}
	plain := strings.TrimSpace(rest)
	if colon < 0 || value.Kind == yaml.MappingNode && plain != "{}" || value.Kind == yaml.ScalarNode && plain != "" {
		return nil, Trace{}, d.refuse(value, Unsupported, "the empty value of %q is written in an unusual way", key.Value)
	}
	below, err := d.text(missing, v, strings.Repeat(" ", key.Column-1)+st.unit, st)
	if err != nil {
		return nil, Trace{}, err
	}
	out := apply(d.doc, splice{line.start + colon + 1, line.end, st.eol + below})
	return out, Trace{Parents: len(missing) - 1, Space: rest + st.eol}, nil // the line ending keeps Space from being empty
}

func (d *yamlDoc) replace(v *entry) ([]byte, error) {
	way, _, err := d.walk()
	if err != nil {
		return nil, err
	}
	deepest := way[len(way)-1]
	key := deepest.mapping.Content[deepest.key]
	where, err := d.place(deepest)
	if err != nil {
		return nil, err
	}
	text, err := d.text(d.at.Keys[len(way)-1:], v, strings.Repeat(" ", key.Column-1), styleOf(d.doc))
	return apply(d.doc, splice{where.start, where.end, text}), err
}

// place returns the lines of a key with its value.
func (d *yamlDoc) place(s yamlStep) (span, error) {
	key, value := s.mapping.Content[s.key], s.mapping.Content[s.key+1]
	line := d.lines[key.Line-1]
	if !beginsLine(d.doc, line.start+d.base0(key)+key.Column-1) && key.Column > 1 {
		return span{}, d.refuse(key, Unsupported, "something stands before %q in its line", key.Value)
	}
	start := line.start + d.base0(key)
	return span{start, d.lines[d.last(key, value)].end}, nil
}

// base0 returns the length of the byte order mark for a key in the first line,
// else 0.
func (d *yamlDoc) base0(key *yaml.Node) int {
	if key.Line == 1 {
		return d.base
	}
	return 0
}

func (d *yamlDoc) remove(trace Trace) ([]byte, error) {
	way, _, err := d.walk()
	if err != nil {
		return nil, err
	}
	for {
		deepest := way[len(way)-1]
		where, err := d.place(deepest)
		if err != nil {
			return nil, err
		}
		switch alone := len(deepest.mapping.Content) == 2; {
		case alone && len(way) == 1:
			if trace.Parents == 0 {
				return nil, d.refuse(deepest.mapping, Unsupported, "nothing else is in the document")
			}
			return cutBlock(d.doc, where, trace), nil
		case alone && trace.Parents > 0:
			trace.Parents--
			way = way[:len(way)-1]
			continue
		case alone:
			// The key above had no value, or an empty one, on its own line.
			above := way[len(way)-2]
			key := above.mapping.Content[above.key]
			end := d.lines[key.Line-1].end
			space := " {}"
			if trace.Space != "" {
				space = strings.TrimRight(trace.Space, "\r\n")
			}
			return apply(d.doc, splice{end, end, space}, splice{max(len(bytes.TrimRight(d.doc[:where.start], "\r\n")), end), where.end, ""}), nil
		}
		start := len(bytes.TrimRight(d.doc[:where.start], "\n"))
		start = len(bytes.TrimSuffix(d.doc[:start], []byte("\r")))
		if len(bytes.TrimPrefix(d.doc[:start], bom)) > 0 {
			// The line ending before it goes too; the blank lines above stay.
			start = lineBreakBefore(d.doc, where.start)
			return apply(d.doc, splice{start, where.end, ""}), nil
		}
		end := where.end + len(d.doc[where.end:]) - len(bytes.TrimLeft(d.doc[where.end:], "\r\n"))
		return apply(d.doc, splice{where.start, end, ""}), nil
	}
}

// lineBreakBefore returns the start of the line ending before a line.
func lineBreakBefore(doc []byte, start int) int {
	if start > 0 && doc[start-1] == '\n' {
		start--
	}
	if start > 0 && doc[start-1] == '\r' {
		start--
	}
	return start
}

// text returns the indented entry below its missing parents.
func (d *yamlDoc) text(missing []string, v *entry, indent string, s style) (string, error) {
	var b strings.Builder
	for _, key := range missing[:len(missing)-1] {
		b.WriteString(indent + yamlString(key) + ":" + s.eol)
		indent += s.unit
	}
	root, err := hujson.Parse(v.text)
	if err != nil {
		return "", fmt.Errorf("edit: value of %v: %w", d.at, err)
	}
	yamlMember(&b, missing[len(missing)-1], root.Value, indent, s)
	return strings.TrimSuffix(b.String(), s.eol), nil
}

// yamlMember writes objects in block style, and all other values in flow style.
func yamlMember(b *strings.Builder, key string, v hujson.ValueTrimmed, indent string, s style) {
	b.WriteString(indent + yamlString(key) + ":")
	if object, ok := v.(*hujson.Object); ok && len(object.Members) > 0 {
		b.WriteString(s.eol)
		for i := range object.Members {
			yamlMember(b, memberName(&object.Members[i]), object.Members[i].Value.Value, indent+s.unit, s)
		}
		return
	}
	b.WriteString(" ")
	yamlFlow(b, v)
	b.WriteString(s.eol)
}

func yamlFlow(b *strings.Builder, v hujson.ValueTrimmed) {
	switch x := v.(type) {
	case hujson.Literal:
		if x.Kind() == '"' {
			b.WriteString(yamlString(x.String()))
		} else {
			b.Write(x)
		}
	case *hujson.Array:
		b.WriteString("[")
		for i := range x.Elements {
			if i > 0 {
				b.WriteString(", ")
			}
			yamlFlow(b, x.Elements[i].Value)
		}
		b.WriteString("]")
	case *hujson.Object:
		b.WriteString("{")
		for i := range x.Members {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(quote(memberName(&x.Members[i])) + ": ")
			yamlFlow(b, x.Members[i].Value.Value)
		}
		b.WriteString("}")
	}
}

var (
	yamlPlain = lazy.Regexp{Pattern: `^[A-Za-z/][A-Za-z0-9_/.-]*$`}
	yamlWords = lazy.Regexp{Pattern: `(?i)^(y|n|yes|no|on|off|true|false|null)$`}
)

// yamlString writes a string plain if every reader takes it for a string, else
// in quotes with JSON's escapes.
func yamlString(s string) string {
	if yamlPlain.MatchString(s) && !yamlWords.MatchString(s) {
		return s
	}
	return quote(s)
}
