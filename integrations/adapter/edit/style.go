package edit

import "bytes"

// style is the layout of a document.
type style struct {
	eol     string // line ending
	unit    string // one level of indentation
	oneLine bool   // there is no line break between the first and the last bracket
}

// styleOf reads the style from the lines of a document: the line ending of the
// first line, and the smallest indentation of a line as its unit.
func styleOf(doc []byte) style {
	s := style{eol: "\n", unit: "  "}
	if i := bytes.IndexByte(doc, '\n'); i > 0 && doc[i-1] == '\r' {
		s.eol = "\r\n"
	}
	trimmed := bytes.TrimSpace(bytes.TrimPrefix(doc, bom))
	s.oneLine = len(trimmed) > 2 && !bytes.ContainsRune(trimmed, '\n')
	smallest := 0
	for line := range bytes.Lines(doc) {
		text := bytes.TrimLeft(line, " \t")
		indent := line[:len(line)-len(text)]
		if len(indent) == 0 || len(bytes.TrimSpace(text)) == 0 || bytes.IndexByte([]byte("*/}]"), text[0]) >= 0 {
			continue
		}
		if indent[0] == '\t' {
			s.unit = "\t"
			return s
		}
		if smallest == 0 || len(indent) < smallest {
			smallest = len(indent)
		}
	}
	if smallest > 0 && smallest <= 8 {
		s.unit = string(bytes.Repeat([]byte(" "), smallest))
	}
	return s
}

// indentAt returns the blank text at the start of the line of an offset.
func indentAt(doc []byte, offset int) string {
	begin := bytes.LastIndexByte(doc[:offset], '\n') + 1
	if begin == 0 && bytes.HasPrefix(doc, bom) {
		begin = len(bom)
	}
	end := begin
	for end < offset && (doc[end] == ' ' || doc[end] == '\t') {
		end++
	}
	return string(doc[begin:end])
}

// beginsLine reports whether only blanks precede an offset in its line.
func beginsLine(doc []byte, offset int) bool {
	before := doc[:offset]
	before = before[bytes.LastIndexByte(before, '\n')+1:]
	return len(bytes.Trim(before, " \t")) == 0 && offset > 0
}

// splice replaces the bytes of a document from start to end.
type splice struct {
	start, end int
	text       string
}

// apply makes the splices, which are in order and do not overlap.
func apply(doc []byte, splices ...splice) []byte {
	var out []byte
	from := 0
	for _, s := range splices {
		out = append(out, doc[from:s.start]...)
		out = append(out, s.text...)
		from = s.end
	}
	out = append(out, doc[from:]...)
	if out == nil {
		out = []byte{}
	}
	return out
}
