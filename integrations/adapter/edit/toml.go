package edit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// tomlDoc is a TOML document. Entries are tables in marked blocks at its end:
//
//	# >>> hubcli mcp_servers.hub >>>
//	[mcp_servers.hub]
//	…
//	# <<< hubcli mcp_servers.hub <<<
//
// A harness that rewrites the file may drop the comments, or put tables of its
// own between them. So the entry is its tables, wherever they stand; see
// toml_place.go.
type tomlDoc struct {
	doc        []byte
	base       int // length of a byte order mark
	at         Pointer
	begin, end string
	block      span
	found      bool
	content    map[string]any
}

func openTOML(doc []byte, at Pointer) (editor, error) {
	label := strings.Join(at.Keys, ".")
	if at.Mark != "" {
		label += " " + at.Mark
	}
	if strings.ContainsFunc(label, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return nil, fmt.Errorf("edit: %v cannot be named in a comment", at)
	}
	d := &tomlDoc{doc: doc, at: at, begin: "# >>> hubcli " + label + " >>>", end: "# <<< hubcli " + label + " <<<"}
	if bytes.HasPrefix(doc, bom) {
		d.base = len(bom)
	}
	if err := d.find(); err != nil {
		return nil, err
	}
	var content map[string]any
	if err := toml.Unmarshal(doc[d.base:], &content); err != nil {
		return nil, tomlFault(err)
	}
	tree, err := tomlTree(content)
	if err != nil {
		return nil, err
	}
	d.content, _ = tree.(map[string]any)
	if list, ok := lookupList(d.content, at); ok && countMarked(list, at) > 1 {
		return nil, refuse(Ambiguous, "more than one element of %s contains %q", strings.Join(at.Keys, "."), at.Mark)
	}
	return d, nil
}

func (d *tomlDoc) tree() any { return d.content }

// find looks for the marks among the comments, not in quoted text, and checks
// the length of keys.
func (d *tomlDoc) find() error {
	p := unstable.Parser{KeepComments: true}
	p.Reset(d.doc[d.base:])
	first := -1
	for p.NextExpression() {
		e := p.Expression()
		if e.Kind != unstable.Comment {
			parts := 0
			for it := e.Key(); it.Next(); {
				if parts++; parts > maxDepth {
					return refuseAt(d.doc, d.base+int(it.Node().Raw.Offset), TooLarge, "a key has more than %d parts", maxDepth)
				}
			}
			continue
		}
		start := d.base + int(e.Raw.Offset)
		switch text := strings.TrimRight(string(p.Raw(e.Raw)), " \t\r"); {
		case text == d.begin && (first >= 0 || d.found), text == d.end && d.found:
			return refuseAt(d.doc, start, Ambiguous, "there is more than one %q", text)
		case text == d.begin:
			first = start
		case text == d.end && first < 0:
			return refuseAt(d.doc, start, Unparsable, "%q stands before %q", d.end, d.begin)
		case text == d.end:
			d.block, d.found = span{first, start + len(d.end)}, true
		}
	}
	if err := p.Error(); err != nil {
		return tomlParseFault(&p, d.doc, d.base, err)
	}
	if first >= 0 && !d.found {
		return refuseAt(d.doc, first, Unparsable, "%q has no %q", d.begin, d.end)
	}
	return nil
}

func tomlParseFault(p *unstable.Parser, doc []byte, base int, err error) error {
	if pe, ok := errors.AsType[*unstable.ParserError](err); ok && pe.Highlight != nil {
		return refuseAt(doc, base+int(p.Range(pe.Highlight).Offset), Unparsable, "%s", pe.Message)
	}
	return refuse(Unparsable, "%v", err)
}

func tomlFault(err error) error {
	r := refuse(Unparsable, "%s", strings.TrimPrefix(err.Error(), "toml: "))
	if de, ok := errors.AsType[*toml.DecodeError](err); ok {
		r.Line, r.Column = de.Position()
	}
	return r
}

// tomlTree turns decoded TOML into a tree. Dates and times are tagged with
// their type.
func tomlTree(v any) (any, error) {
	switch x := v.(type) {
	case map[string]any:
		object := make(map[string]any, len(x))
		for key, e := range x {
			var err error
			if object[key], err = tomlTree(e); err != nil {
				return nil, err
			}
		}
		return object, nil
	case []any:
		list := make([]any, len(x))
		for i, e := range x {
			var err error
			if list[i], err = tomlTree(e); err != nil {
				return nil, err
			}
		}
		return list, nil
	case string, bool:
		return x, nil
	case int64:
		return json.Number(strconv.FormatInt(x, 10)), nil
	case float64:
		s := strconv.FormatFloat(x, 'g', -1, 64)
		if strings.Trim(s, "0123456789-") == "" {
			s += ".0" // keeps it a float
		}
		if strings.ContainsAny(s, "NI") {
			return tagged{"float", s}, nil // JSON has no NaN and no infinity
		}
		return json.Number(s), nil
	case nil:
		return map[string]any{}, nil // an empty document
	default:
		return tagged{fmt.Sprintf("%T", x), fmt.Sprint(x)}, nil
	}
}

func (d *tomlDoc) insert(v *entry) ([]byte, Trace, error) {
	text, err := d.text(v)
	if err != nil {
		return nil, Trace{}, err
	}
	out, trace := appendBlock(d.doc, styleOf(d.doc), text)
	if err := toml.Unmarshal(out[d.base:], &map[string]any{}); err != nil {
		return nil, Trace{}, refuse(Unsupported, "no table can be added to %s as it is written: %s",
			strings.Join(d.at.Keys[:max(len(d.at.Keys)-1, 1)], "."), strings.TrimPrefix(err.Error(), "toml: "))
	}
	return out, trace, nil
}
