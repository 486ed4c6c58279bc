package edit

import (
	"bytes"
	"slices"
	"strings"
)

// insert adds the entry, within its missing parents, after the last member or
// element of the deepest parent that exists.
func (d *jsonDoc) insert(v *entry) ([]byte, Trace, error) {
	if d.root == nil {
		return d.insertRoot(v)
	}
	way, list, _, err := d.walk()
	if err != nil {
		return nil, Trace{}, err
	}
	into, missing := list, []string(nil)
	if list == nil {
		into, missing = way[len(way)-1].container, d.at.Keys[len(way)-1:]
	}
	trace := Trace{Parents: max(len(missing)-1, 0)}
	if d.at.Mark != "" && len(missing) > 0 {
		trace.Parents++
	}
	if len(into.items) == 0 {
		out, space := d.intoEmpty(into, missing, v)
		trace.Space = space
		return out, trace, nil
	}
	return d.behindLast(into, missing, v), trace, nil
}

// insertRoot adds a whole object to a document of blanks and comments.
func (d *jsonDoc) insertRoot(v *entry) ([]byte, Trace, error) {
	base := bytes.TrimRight(d.doc, " \t\r\n")
	trace := Trace{Parents: len(d.at.Keys), Space: string(d.doc[len(base):])}
	if d.at.Mark != "" {
		trace.Parents++
	}
	text := d.style.eol
	if len(bytes.TrimPrefix(base, bom)) == 0 {
		text = ""
	}
	text += "{" + d.style.eol + d.style.unit + d.member(d.at.Keys, v, d.style.unit, false) + d.style.eol + "}" + d.style.eol
	return apply(d.doc, splice{len(base), len(d.doc), text}), trace, nil
}

// intoEmpty puts the entry between brackets that hold only blanks and comments,
// and returns the blanks that were before the closing bracket.
func (d *jsonDoc) intoEmpty(c *container, missing []string, v *entry) ([]byte, string) {
	inside := d.doc[c.open+1 : c.close]
	base := bytes.TrimRight(inside, " \t\r\n")
	start := c.open + 1 + len(base)
	space := string(d.doc[start:c.close])
	if d.style.oneLine && !bytes.Contains(base, []byte("//")) {
		return apply(d.doc, splice{start, c.close, d.member(missing, v, "", true)}), space
	}
	outer := indentAt(d.doc, c.open)
	inner := outer + d.style.unit
	text := d.style.eol + inner + d.member(missing, v, inner, false) + d.style.eol + outer
	return apply(d.doc, splice{start, c.close, text}), space
}

// behindLast puts the entry after the last item, in the same layout.
func (d *jsonDoc) behindLast(c *container, missing []string, v *entry) []byte {
	last := c.items[len(c.items)-1]
	behind := last.end
	if c.comma {
		behind = last.comma + 1
	}
	place := behind + sameLine(d.doc[behind:c.close])
	text, comma := "", ","
	if bytes.IndexByte(d.doc[c.open:last.start], '\n') < 0 {
		if lineComment(d.doc[behind:place]) {
			place = behind // such a comment ends only with its line
		}
		lead := ""
		if d.spaced(c) {
			lead = " "
		}
		text = lead + d.member(missing, v, "", true)
	} else {
		inner := indentAt(d.doc, c.close) + d.style.unit
		for i := len(c.items) - 1; i >= 0; i-- {
			if beginsLine(d.doc, c.items[i].start) {
				inner = indentAt(d.doc, c.items[i].start)
				break
			}
		}
		text = d.style.eol + inner + d.member(missing, v, inner, false)
	}
	if c.comma {
		return apply(d.doc, splice{place, place, text + comma})
	}
	return apply(d.doc, splice{last.end, last.end, comma}, splice{place, place, text})
}

// sameLine returns the length of the comments in the rest of a line, without
// trailing blanks.
func sameLine(b []byte) int {
	end := 0
	for i := 0; i < len(b); {
		n := extraLen(b[i:])
		if n == 0 {
			return end
		}
		part := b[i : i+n]
		if isBlank(part[0]) {
			if bytes.IndexByte(part, '\n') >= 0 {
				return end
			}
			i += n
			continue
		}
		i += n
		end = i
		if part[1] == '/' {
			return i - (len(part) - len(bytes.TrimRight(part, " \t\r\n")))
		}
	}
	return end
}

// spaced reports whether a one-line container has blanks after its separators.
func (d *jsonDoc) spaced(c *container) bool {
	first := c.items[0]
	if c.object {
		return isBlank(d.doc[first.value-1])
	}
	if len(c.items) > 1 {
		return isBlank(d.doc[c.items[1].start-1])
	}
	return !d.style.oneLine || bytes.Contains(d.doc, []byte(": "))
}

// replace puts the entry in the place of the old value.
func (d *jsonDoc) replace(v *entry) ([]byte, error) {
	way, _, _, err := d.walk()
	if err != nil {
		return nil, err
	}
	last := way[len(way)-1]
	it := last.items[last.item]
	if own := d.container(it.content); own != nil && own.object && d.at.Apart != "" {
		if i := own.find(d.at.Apart, Pointer{}); i >= 0 {
			v.carried = d.doc[own.items[i].value:own.items[i].end]
		}
	}
	indent := indentAt(d.doc, it.value)
	oneLine := bytes.IndexByte(d.doc[it.value:it.end], '\n') < 0 && !beginsLine(d.doc, it.start)
	return apply(d.doc, splice{it.value, it.end, d.render(v, indent, oneLine)}), nil
}

// remove cuts the entry out, with its comma or that of the item before it.
func (d *jsonDoc) remove(trace Trace) ([]byte, error) {
	way, _, _, err := d.walk()
	if err != nil {
		return nil, err
	}
	for {
		last := way[len(way)-1]
		if trace.Parents == 0 || len(last.items) > 1 || d.commented(last) {
			return d.cut(last, trace), nil
		}
		trace.Parents--
		if way = way[:len(way)-1]; len(way) == 0 {
			return d.cutRoot(trace), nil
		}
	}
}

// commented reports whether there are comments around the only item of a
// container.
func (d *jsonDoc) commented(s step) bool {
	it := s.items[s.item]
	behind := it.end
	if it.comma >= 0 {
		behind = it.comma + 1
	}
	around := slices.Concat(d.doc[s.open+1:it.start], d.doc[it.end:max(it.comma, it.end)], d.doc[behind:s.close])
	return len(bytes.TrimSpace(around)) > 0
}

// cutRoot takes the whole object out of a document that held none.
func (d *jsonDoc) cutRoot(trace Trace) []byte {
	start, end := d.base+d.root.StartOffset, d.base+d.root.EndOffset
	rest := d.doc[end:]
	if len(bytes.TrimSpace(rest)) > 0 { // a comment follows it
		return apply(d.doc, splice{start, end, ""})
	}
	base := len(bytes.TrimRight(d.doc[:start], " \t\r\n"))
	return apply(d.doc, splice{base, len(d.doc), trace.Space})
}

// cut takes one item out of its container.
func (d *jsonDoc) cut(s step, trace Trace) []byte {
	it := s.items[s.item]
	start := len(bytes.TrimRight(d.doc[:it.start], " \t\r\n"))
	end := it.end
	if it.comma >= 0 {
		end = it.comma + 1
	}
	// A comment may stand between value and comma.
	kept := string(bytes.TrimSpace(d.doc[it.end:max(it.comma, it.end)]))
	if kept != "" {
		kept = " " + kept
	}
	rest := d.doc[end:s.close]
	blank := len(bytes.TrimSpace(rest)) == 0
	if len(s.items) == 1 && blank && kept == "" {
		space := trace.Space
		if trace.Parents > 0 {
			space = "" // the space belongs to another container
		}
		if lineComment(d.doc[s.open+1:start]) && !strings.Contains(space, "\n") {
			space = d.style.eol + indentAt(d.doc, s.close)
		}
		return apply(d.doc, splice{start, s.close, space})
	}
	if lineComment(d.doc[s.open+1:start]) && !startsLine(rest, d.doc[s.close:]) {
		start = it.start // the rest of the line must not become a comment
	}
	if strings.Contains(kept, "//") {
		kept += d.style.eol
	}
	last := s.item == len(s.items)-1
	if !last || s.comma || s.item == 0 {
		return apply(d.doc, splice{start, end, kept})
	}
	before := s.items[s.item-1].comma
	return apply(d.doc, splice{before, before + 1, ""}, splice{start, end, kept})
}

// lineComment reports whether b ends in a line comment, blanks aside.
func lineComment(b []byte) bool {
	in := false
	for i := 0; i < len(b); {
		if n := extraLen(b[i:]); n > 0 {
			if !isBlank(b[i]) {
				in = b[i+1] == '/'
			}
			i += n
			continue
		}
		in = false
		if b[i] == '"' {
			i += stringLen(b[i:])
		} else {
			i++
		}
	}
	return in
}

// startsLine reports whether rest and further begin with a line break, blanks
// aside.
func startsLine(rest, further []byte) bool {
	both := bytes.TrimLeft(slices.Concat(rest, further), " \t\r")
	return len(both) > 0 && both[0] == '\n'
}
