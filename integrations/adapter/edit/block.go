package edit

import "bytes"

// span is a piece of a document.
type span struct{ start, end int }

// appendBlock puts text at the end of a document after an empty line, and
// returns the trace for Remove. The text has no final line ending.
func appendBlock(doc []byte, s style, text string) ([]byte, Trace) {
	base := doc[:lastLine(doc)]
	trace := Trace{Space: string(doc[len(base):])}
	lead := s.eol + s.eol
	if len(bytes.TrimPrefix(base, bom)) == 0 {
		lead = ""
	}
	return apply(doc, splice{len(base), len(doc), lead + text + s.eol}), trace
}

// cutBlock takes a block out, with the blanks before it. If nothing follows the
// block, the old end of the document comes back.
func cutBlock(doc []byte, block span, trace Trace) []byte {
	start := lastLine(doc[:block.start])
	if len(bytes.TrimSpace(doc[block.end:])) == 0 {
		return apply(doc, splice{start, len(doc), trace.Space})
	}
	end := block.end
	if len(bytes.TrimPrefix(doc[:start], bom)) == 0 {
		end = len(doc) - len(bytes.TrimLeft(doc[end:], "\r\n"))
	}
	return apply(doc, splice{start, end, ""})
}

// lastLine returns the end of the last line that is not blank. Blanks at the
// end of that line belong to it, because they have a meaning in Markdown.
func lastLine(doc []byte) int {
	end := len(doc)
	for {
		end = len(bytes.TrimRight(doc[:end], "\r\n"))
		begin := bytes.LastIndexByte(doc[:end], '\n') + 1
		if begin == 0 && bytes.HasPrefix(doc, bom) {
			begin = min(len(bom), end)
		}
		if begin == end || len(bytes.Trim(doc[begin:end], " \t\r")) > 0 {
			return end
		}
		end = begin
	}
}

// lineAt returns the line of an offset, without its line ending.
func lineAt(doc []byte, offset int) span {
	start := bytes.LastIndexByte(doc[:offset], '\n') + 1
	end := len(doc)
	if i := bytes.IndexByte(doc[offset:], '\n'); i >= 0 {
		end = offset + i
	}
	if end > start && doc[end-1] == '\r' {
		end--
	}
	return span{start, end}
}
