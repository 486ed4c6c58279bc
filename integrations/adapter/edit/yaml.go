package edit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"hubcli/internal/lazy"
)

// yamlDoc is a YAML document of one mapping. The parser gives the lines of the
// keys; whole lines are spliced.
type yamlDoc struct {
	doc     []byte
	base    int // length of a byte order mark
	at      Pointer
	root    *yaml.Node // nil: only blanks and comments
	lines   []span     // without line endings
	content any
}

func openYAML(doc []byte, at Pointer) (editor, error) {
	if at.Mark != "" {
		return nil, fmt.Errorf("edit: elements of YAML lists are not edited: %v", at)
	}
	d := &yamlDoc{doc: doc, at: at, content: noValue{}}
	if bytes.HasPrefix(doc, bom) {
		d.base = len(bom)
	}
	if i := oddBreak(doc); i >= 0 {
		return nil, refuseAt(doc, i, Unsupported, "there is an unusual line break, of which readers think differently")
	}
	for offset := 0; offset < len(doc); {
		line := lineAt(doc, offset)
		text := doc[line.start:line.end]
		if i := bytes.IndexByte(text, '\t'); i >= 0 && len(bytes.TrimSpace(text[:i])) == 0 && len(bytes.TrimSpace(text)) > 0 {
			return nil, refuseAt(doc, line.start+i, Unsupported, "a line is indented with a tab")
		}
		d.lines = append(d.lines, line)
		next := bytes.IndexByte(doc[offset:], '\n')
		if next < 0 {
			break
		}
		offset += next + 1
	}
	if err := d.parse(); err != nil {
		return nil, err
	}
	if d.root == nil {
		return d, nil
	}
	var err error
	if d.content, err = d.value(d.root, 0); err != nil {
		return nil, err
	}
	_, _, err = d.walk()
	return d, err
}

// oddBreak finds a line break that YAML knows and this package does not: a lone
// carriage return, or one of three Unicode characters.
func oddBreak(doc []byte) int {
	if i := bytes.IndexAny(doc, "\u0085\u2028\u2029"); i >= 0 {
		return i
	}
	for i, c := range doc {
		if c == '\r' && (i+1 == len(doc) || doc[i+1] != '\n') {
			return i
		}
	}
	return -1
}

func (d *yamlDoc) tree() any { return d.content }

// parse reads the one document. The parser panics on a few malformed inputs;
// these are refused too.
func (d *yamlDoc) parse() (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = refuse(Unparsable, "the file cannot be parsed")
		}
	}()
	dec := yaml.NewDecoder(bytes.NewReader(d.doc[d.base:]))
	var first, second yaml.Node
	if err := dec.Decode(&first); errors.Is(err, io.EOF) {
		return nil
	} else if err != nil {
		return yamlFault(err)
	}
	switch err := dec.Decode(&second); {
	case err == nil:
		return refuse(Unsupported, "there is more than one document in the file")
	case !errors.Is(err, io.EOF):
		return yamlFault(err)
	}
	if first.Kind == yaml.DocumentNode && len(first.Content) == 1 {
		d.root = first.Content[0]
	}
	if d.root != nil && d.root.Kind == yaml.ScalarNode && d.root.Value == "" && d.root.Style == 0 {
		d.root = nil // only comments
	}
	return nil
}

var yamlPlace = lazy.Regexp{Pattern: `^yaml: line (\d+): `}

func yamlFault(err error) error {
	r := refuse(Unparsable, "%s", strings.TrimPrefix(err.Error(), "yaml: "))
	if m := yamlPlace.FindStringSubmatch(err.Error()); m != nil {
		r.Line, _ = strconv.Atoi(m[1])
		r.Column = 1
		r.Message = strings.TrimPrefix(err.Error(), m[0])
	}
	return r
}

func (d *yamlDoc) refuse(n *yaml.Node, why Reason, format string, args ...any) error {
	r := refuse(why, format, args...)
	r.Line, r.Column = n.Line, n.Column
	return r
}

// value makes the tree of a node. Aliases stay aliases: nothing is expanded.
func (d *yamlDoc) value(n *yaml.Node, depth int) (any, error) {
	if depth > maxDepth {
		return nil, d.refuse(n, TooLarge, "values are nested more than %d deep", maxDepth)
	}
	switch n.Kind {
	case yaml.MappingNode:
		object := make(map[string]any, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			key := n.Content[i]
			if key.Kind != yaml.ScalarNode {
				return nil, d.refuse(key, Unsupported, "a key is no plain value")
			}
			if _, twice := object[key.Value]; twice {
				return nil, d.refuse(key, Duplicate, "the key %q is there twice", key.Value)
			}
			var err error
			if object[key.Value], err = d.value(n.Content[i+1], depth+1); err != nil {
				return nil, err
			}
		}
		return object, nil
	case yaml.SequenceNode:
		list := make([]any, len(n.Content))
		for i, e := range n.Content {
			var err error
			if list[i], err = d.value(e, depth+1); err != nil {
				return nil, err
			}
		}
		return list, nil
	case yaml.AliasNode:
		return tagged{"alias", n.Value}, nil
	default:
		return yamlScalar(n), nil
	}
}

var jsonNumber = lazy.Regexp{Pattern: `^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`}

func yamlScalar(n *yaml.Node) any {
	switch tag := n.ShortTag(); {
	case tag == "!!str":
		return n.Value
	case tag == "!!null" && n.Value == "":
		return map[string]any{} // a key with nothing behind it, where a mapping may begin
	case tag == "!!null":
		return nil
	case tag == "!!bool" && (n.Value == "true" || n.Value == "false"):
		return n.Value == "true"
	case (tag == "!!int" || tag == "!!float") && jsonNumber.MatchString(n.Value):
		return json.Number(n.Value)
	default:
		return tagged{tag, n.Value}
	}
}

// yamlStep is a mapping on the way and the index of the key in it, or -1.
type yamlStep struct {
	mapping *yaml.Node
	key     int
}

// walk follows the pointer as far as the document goes, and refuses syntax on
// the way that is not edited.
func (d *yamlDoc) walk() (way []yamlStep, found bool, err error) {
	n := d.root
	for depth, key := range d.at.Keys {
		last := n
		if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" && depth > 0 && n.Anchor == "" {
			return way, false, nil // "extensions:" with nothing behind it
		}
		switch {
		case n.Kind == yaml.AliasNode || n.Anchor != "":
			return nil, false, d.refuse(last, Unsupported, "an anchor or alias stands on the way to %v", d.at)
		case n.Kind != yaml.MappingNode:
			return nil, false, d.refuse(last, WrongType, "the parent of %q is no mapping", key)
		case n.Style&yaml.FlowStyle != 0 && len(n.Content) > 0 || n.Style&yaml.TaggedStyle != 0:
			return nil, false, d.refuse(last, Unsupported, "the parent of %q is in flow style or has a tag", key)
		case n.Style&yaml.FlowStyle != 0:
			return way, false, nil // "extensions: {}"
		}
		step := yamlStep{n, -1}
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Tag == "!!merge" {
				return nil, false, d.refuse(n.Content[i], Unsupported, "a merge key stands on the way to %v", d.at)
			}
			if n.Content[i].Value == key {
				step.key = i
			}
		}
		if way = append(way, step); step.key < 0 {
			return way, false, nil
		}
		n = n.Content[step.key+1]
	}
	return way, true, nil
}
