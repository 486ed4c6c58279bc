package edit

import (
	"bytes"
	"fmt"
	"strings"
)

// markdownDoc is text with a block between two comments:
//
//	<!-- BEGIN name -->
//	…
//	<!-- END name -->
type markdownDoc struct {
	doc        []byte
	at         Pointer
	begin, end string
	block      span // the lines of both marks and what is between them
	found      bool
	content    map[string]any
}

// restKey is the key of the text outside the block in the tree. The name of a
// block has no line break.
const restKey = "\n"

func openMarkdown(doc []byte, at Pointer) (editor, error) {
	return openBlock(doc, at, "<!-- BEGIN ", "<!-- END ", " -->")
}

// openBlock finds the block between two lines: begin or end, the name, and tail.
func openBlock(doc []byte, at Pointer, begin, end, tail string) (*markdownDoc, error) {
	if len(at.Keys) != 1 || at.Mark != "" || strings.ContainsAny(at.Keys[0], "\r\n") {
		return nil, fmt.Errorf("edit: %v names no block", at)
	}
	name := at.Keys[0]
	d := &markdownDoc{doc: doc, at: at, begin: begin + name + tail, end: end + name + tail}
	if err := d.find(); err != nil {
		return nil, err
	}
	d.content = map[string]any{}
	outside := doc
	if d.found {
		inside := string(doc[d.block.start+len(d.begin) : d.block.end-len(d.end)])
		d.content[name] = strings.Trim(strings.ReplaceAll(inside, "\r\n", "\n"), "\n")
		outside = apply(doc, splice{d.block.start, d.block.end, ""})
	}
	var rest []any // blank lines are not compared: the edit may move them
	for line := range bytes.Lines(outside) {
		if line = bytes.TrimRight(line, "\r\n"); len(bytes.TrimSpace(line)) > 0 {
			rest = append(rest, string(line))
		}
	}
	d.content[restKey] = rest
	return d, nil
}

// find looks for lines that are just a mark.
func (d *markdownDoc) find() error {
	offset := 0
	first := -1
	for line := range bytes.Lines(d.doc) {
		text := strings.TrimRight(strings.TrimPrefix(string(line), string(bom)), " \t\r\n")
		start := offset + strings.Index(string(line), text)
		offset += len(line)
		switch {
		case text == d.begin && (first >= 0 || d.found), text == d.end && d.found:
			return refuseAt(d.doc, start, Ambiguous, "there is more than one %s", text)
		case text == d.begin:
			first = start
		case text == d.end && first < 0:
			return refuseAt(d.doc, start, Unparsable, "%s stands before %s", d.end, d.begin)
		case text == d.end:
			d.block, d.found = span{first, start + len(d.end)}, true
		}
	}
	if first >= 0 && !d.found {
		return refuseAt(d.doc, first, Unparsable, "%s has no %s", d.begin, d.end)
	}
	return nil
}

func (d *markdownDoc) tree() any { return d.content }

// text returns the text of the block.
func (d *markdownDoc) text(v *entry) (string, error) {
	s, _ := v.tree.(string)
	if strings.Contains(s, d.begin) || strings.Contains(s, d.end) || strings.Contains(s, "\r") || s != strings.Trim(s, "\n") {
		return "", fmt.Errorf("edit: the text of %v may not hold its marks, carriage returns or empty lines at its ends", d.at)
	}
	s = d.begin + "\n" + s + "\n" + d.end
	return strings.ReplaceAll(s, "\n", styleOf(d.doc).eol), nil
}

func (d *markdownDoc) insert(v *entry) ([]byte, Trace, error) {
	text, err := d.text(v)
	if err != nil {
		return nil, Trace{}, err
	}
	out, trace := appendBlock(d.doc, styleOf(d.doc), text)
	return out, trace, nil
}

func (d *markdownDoc) replace(v *entry) ([]byte, error) {
	text, err := d.text(v)
	return apply(d.doc, splice{d.block.start, d.block.end, text}), err
}

func (d *markdownDoc) remove(trace Trace) ([]byte, error) {
	return cutBlock(d.doc, d.block, trace), nil
}

// wholeDoc is a file that is the entry.
type wholeDoc struct{ doc []byte }

func (d wholeDoc) tree() any {
	if len(d.doc) == 0 {
		return noValue{}
	}
	return string(d.doc)
}

func (d wholeDoc) insert(v *entry) ([]byte, Trace, error) {
	out, err := d.replace(v)
	return out, Trace{}, err
}

func (d wholeDoc) replace(v *entry) ([]byte, error) {
	s, _ := v.tree.(string)
	if s == "" {
		return nil, fmt.Errorf("edit: a whole file has some text")
	}
	return []byte(s), nil
}

func (d wholeDoc) remove(Trace) ([]byte, error) { return []byte{}, nil }
