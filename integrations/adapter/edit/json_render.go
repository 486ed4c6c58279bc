package edit

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/tailscale/hujson"
)

// member returns the text of the entry within its missing parents. Without
// parents it is an element of a list, or a bare value.
func (d *jsonDoc) member(missing []string, v *entry, indent string, oneLine bool) string {
	if len(missing) == 0 {
		return d.render(v, indent, oneLine)
	}
	colon := ": "
	if oneLine && d.style.oneLine && !bytes.Contains(d.doc, []byte(`": `)) {
		colon = ":"
	}
	name := quote(missing[0]) + colon
	inner := indent + d.style.unit
	before, after := d.style.eol+inner, d.style.eol+indent
	if oneLine {
		before, after = "", ""
	}
	if len(missing) > 1 {
		return name + "{" + before + d.member(missing[1:], v, inner, oneLine) + after + "}"
	}
	if d.at.Mark != "" {
		return name + "[" + before + d.render(v, inner, oneLine) + after + "]"
	}
	return name + d.render(v, indent, oneLine)
}

// render returns the text of a value; its first line is not indented.
func (d *jsonDoc) render(v *entry, indent string, oneLine bool) string {
	root, err := hujson.Parse(v.text)
	if err != nil {
		return string(v.text) // encoding/json made the text
	}
	if o, ok := root.Value.(*hujson.Object); ok && v.carried != nil {
		o.Members[len(o.Members)-1].Value.Value = hujson.Literal(v.carried)
	}
	var b strings.Builder
	w := writer{b: &b, style: d.style, oneLine: oneLine, comma: ", ", colon: ": "}
	if oneLine && d.style.oneLine && !bytes.Contains(d.doc, []byte(`": `)) {
		w.comma, w.colon = ",", ":"
	}
	w.value(&root, indent)
	return b.String()
}

func quote(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s)
	return strings.TrimSuffix(b.String(), "\n")
}

// writer lays a value out: each member of an object on its own line, lists of
// literals in one line.
type writer struct {
	b            *strings.Builder
	style        style
	oneLine      bool
	comma, colon string
}

func (w *writer) value(v *hujson.Value, indent string) {
	switch x := v.Value.(type) {
	case hujson.Literal:
		w.b.Write(x)
	case *hujson.Object:
		w.list('{', '}', len(x.Members), indent, w.oneLine, func(i int, inner string) {
			m := &x.Members[i]
			w.value(&m.Name, inner)
			w.b.WriteString(w.colon)
			w.value(&m.Value, inner)
		})
	case *hujson.Array:
		flat := true
		for i := range x.Elements {
			_, literal := x.Elements[i].Value.(hujson.Literal)
			flat = flat && literal
		}
		w.list('[', ']', len(x.Elements), indent, w.oneLine || flat, func(i int, inner string) {
			w.value(&x.Elements[i], inner)
		})
	}
}

func (w *writer) list(open, end byte, n int, indent string, oneLine bool, item func(i int, inner string)) {
	w.b.WriteByte(open)
	inner := indent + w.style.unit
	for i := range n {
		switch {
		case !oneLine && i > 0:
			w.b.WriteString("," + w.style.eol + inner)
		case !oneLine:
			w.b.WriteString(w.style.eol + inner)
		case i > 0:
			w.b.WriteString(w.comma)
		}
		item(i, inner)
	}
	if !oneLine && n > 0 {
		w.b.WriteString(w.style.eol + indent)
	}
	w.b.WriteByte(end)
}
