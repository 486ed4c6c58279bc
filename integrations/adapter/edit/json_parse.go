package edit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/tailscale/hujson"

	"hubcli/internal/lazy"
)

var bom = []byte("\xef\xbb\xbf")

// jsonDoc is a parsed document: JSON, perhaps with comments and trailing commas.
type jsonDoc struct {
	doc     []byte // as given
	root    *hujson.Value
	base    int // offset in doc of what hujson has parsed
	content any // noValue for a document of blanks and comments
	at      Pointer
	style   style
}

func (d *jsonDoc) tree() any { return d.content }

// openJSON parses a document and checks the containers on the way to the place.
func openJSON(doc []byte, at Pointer) (editor, error) {
	d, err := parseJSON(doc)
	if err != nil {
		return nil, err
	}
	d.at = at
	_, list, found, err := d.walk()
	if err != nil {
		return nil, err
	}
	if found && at.Mark != "" && list.count(at) > 1 {
		return nil, refuseAt(doc, list.open, Ambiguous, "more than one element of %s contains %q", strings.Join(at.Keys, "/"), at.Mark)
	}
	return d, nil
}

// parseJSON parses a document and reads its style.
func parseJSON(doc []byte) (*jsonDoc, error) {
	d := &jsonDoc{doc: doc, content: noValue{}, style: styleOf(doc)}
	text := doc
	if bytes.HasPrefix(text, bom) {
		text, d.base = text[len(bom):], len(bom)
	}
	blank, err := checkJSON(doc, d.base)
	if err != nil || blank {
		return d, err
	}
	// hujson requires a newline after a comment, which may be missing in the
	// last line.
	text = append(text[:len(text):len(text)], '\n')
	root, err := hujson.Parse(text)
	if err != nil {
		return nil, jsonFault(err)
	}
	d.root = &root
	d.content, err = d.value(d.root)
	return d, err
}

var hujsonPlace = lazy.Regexp{Pattern: `^hujson: line (\d+), column (\d+): `}

// jsonFault makes a Refusal of hujson's message. The message may quote the
// document, which may hold secrets, so a long or odd quotation is cut.
func jsonFault(err error) error {
	r := refuse(Unparsable, "%s", strings.TrimPrefix(err.Error(), "hujson: "))
	if m := hujsonPlace.FindStringSubmatch(err.Error()); m != nil {
		_, _ = fmt.Sscan(m[1], &r.Line)
		_, _ = fmt.Sscan(m[2], &r.Column)
		r.Message = strings.TrimPrefix(err.Error(), m[0])
	}
	if before, _, found := strings.Cut(r.Message, "invalid literal: "); found {
		r.Message = before + "invalid literal"
	}
	return r
}

// checkJSON bounds depth and number of values before anything recurses, and
// reports whether there is no value at all. It reads strings and comments as
// hujson does, and leaves all other faults to hujson.
func checkJSON(doc []byte, from int) (blank bool, err error) {
	depth, values := 0, 0
	blank = true
	for i := from; i < len(doc); {
		if n := extraLen(doc[i:]); n > 0 {
			i += n
			continue
		}
		blank = false
		switch doc[i] {
		case '{', '[':
			depth++
			values++
		case '}', ']':
			depth--
		case ',':
			values++
		case '"':
			i += stringLen(doc[i:])
			continue
		}
		if depth > maxDepth {
			return false, refuseAt(doc, i, TooLarge, "brackets are nested more than %d deep", maxDepth)
		}
		if values > maxValues {
			return false, refuseAt(doc, i, TooLarge, "there are more than %d values", maxValues)
		}
		i++
	}
	return blank, nil
}

// extraLen returns the length of the blank text or comment at the start of b; 0
// if there is none.
func extraLen(b []byte) int {
	n := 0
	for n < len(b) && isBlank(b[n]) {
		n++
	}
	if n > 0 {
		return n
	}
	if bytes.HasPrefix(b, []byte("//")) {
		if i := bytes.IndexByte(b, '\n'); i >= 0 {
			return i + 1
		}
		return len(b)
	}
	if bytes.HasPrefix(b, []byte("/*")) {
		if i := bytes.Index(b[2:], []byte("*/")); i >= 0 {
			return i + 4
		}
	}
	return 0
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// stringLen returns the length of the string literal at the start of b.
func stringLen(b []byte) int {
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}

// value makes the tree of a parsed value and refuses duplicate keys.
func (d *jsonDoc) value(v *hujson.Value) (any, error) {
	switch x := v.Value.(type) {
	case *hujson.Object:
		object := make(map[string]any, len(x.Members))
		for i := range x.Members {
			m := &x.Members[i]
			key, err := d.value(&m.Name)
			if err != nil {
				return nil, err
			}
			name, ok := key.(string)
			if !ok {
				return nil, refuseAt(d.doc, d.base+m.Name.StartOffset, Unparsable, "a key is no string")
			}
			if _, twice := object[name]; twice {
				return nil, refuseAt(d.doc, d.base+m.Name.StartOffset, Duplicate, "the key %q is there twice", name)
			}
			if object[name], err = d.value(&m.Value); err != nil {
				return nil, err
			}
		}
		return object, nil
	case *hujson.Array:
		list := make([]any, len(x.Elements))
		for i := range x.Elements {
			var err error
			if list[i], err = d.value(&x.Elements[i]); err != nil {
				return nil, err
			}
		}
		return list, nil
	case hujson.Literal:
		return d.literal(x, v.StartOffset)
	}
	return nil, errors.New("edit: a value of no known kind")
}

func (d *jsonDoc) literal(x hujson.Literal, offset int) (any, error) {
	switch x.Kind() {
	case 'n':
		return nil, nil
	case 't', 'f':
		return x.Bool(), nil
	case '0':
		return json.Number(x), nil
	}
	var s string
	if err := json.Unmarshal(x, &s); err != nil {
		return nil, refuseAt(d.doc, d.base+offset, Unparsable, "invalid string")
	}
	return s, nil
}
