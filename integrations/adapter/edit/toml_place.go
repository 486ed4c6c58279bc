package edit

import (
	"slices"

	"github.com/pelletier/go-toml/v2/unstable"
)

func (d *tomlDoc) replace(v *entry) ([]byte, error) {
	text, err := d.text(v)
	if err != nil {
		return nil, err
	}
	pieces, err := d.pieces()
	if err != nil {
		return nil, err
	}
	out := d.cut(pieces[1:], Trace{Space: styleOf(d.doc).eol})
	return apply(out, splice{pieces[0].start, pieces[0].end, text}), nil
}

func (d *tomlDoc) remove(trace Trace) ([]byte, error) {
	pieces, err := d.pieces()
	if err != nil {
		return nil, err
	}
	if len(pieces) > 1 { // the old end of the document is no longer the end
		trace.Space = styleOf(d.doc).eol
	}
	return d.cut(pieces, trace), nil
}

// cut takes pieces out, the last one first, so that the places of the others stay true.
func (d *tomlDoc) cut(pieces []span, trace Trace) []byte {
	out := d.doc
	for _, piece := range slices.Backward(pieces) {
		out = cutBlock(out, piece, trace)
	}
	return out
}

// pieces returns the text that belongs to the entry, in order: the block, or its
// marks and tables one by one if other tables stand between the marks or a table of
// the entry stands elsewhere. There is at least one piece.
func (d *tomlDoc) pieces() ([]span, error) {
	runs, mixed := d.runs()
	switch {
	case d.found && !mixed:
		return []span{d.block}, nil
	case d.found:
		begin, end := span{d.block.start, lineAt(d.doc, d.block.start).end}, span{d.block.end - len(d.end), d.block.end}
		return joined(append(runs, begin, end)), nil
	case len(runs) == 0:
		return nil, refuse(Unsupported, "%v is not in a block of hubcli and not a table of its own; remove it by hand", d.at)
	default:
		return runs, nil
	}
}

// runs returns the entry's tables, where those that follow each other are one run. A
// comment before a table of others belongs to that table. mixed says that something
// else than the entry stands in the block, or a part of the entry outside of it.
func (d *tomlDoc) runs() (runs []span, mixed bool) {
	list, _ := lookupList(d.content, d.at)
	p := unstable.Parser{KeepComments: true}
	p.Reset(d.doc[d.base:])
	own, open, elements := false, false, 0
	closeAt := func(offset int) {
		if open {
			runs[len(runs)-1].end = lastLine(d.doc[:offset])
		}
		open = false
	}
	for p.NextExpression() {
		e := p.Expression()
		switch e.Kind {
		case unstable.Comment:
			at := d.base + int(e.Raw.Offset)
			if beginsLine(d.doc, at) || at == d.base {
				closeAt(lineAt(d.doc, at).start)
			}
			if d.found && (at == d.block.start || at == d.block.end-len(d.end)) {
				own = false // a key behind a mark was not meant for our table
			}
			continue
		case unstable.Table, unstable.ArrayTable:
			name, at := tomlName(e)
			line := lineAt(d.doc, d.base+at)
			line.start = max(line.start, d.base)
			closeAt(line.start)
			own = hasPrefix(name, d.at.Keys)
			if d.at.Mark != "" && e.Kind == unstable.ArrayTable && len(name) == len(d.at.Keys) && own {
				elements++
			}
			if d.at.Mark != "" {
				own = own && elements > 0 && elements-1 == indexMarked(list, d.at)
			}
			if own {
				runs, open = append(runs, line), true
			}
			mixed = mixed || d.found && own != d.inBlock(line.start)
		default:
			if at := lastOffset(e); at >= 0 {
				mixed = mixed || d.found && own != d.inBlock(d.base+at)
			}
			if own && !open { // behind a comment within its table
				open = true
			}
		}
	}
	closeAt(len(d.doc))
	return runs, mixed
}

// joined orders spans, and makes one of those that overlap.
func joined(all []span) []span {
	slices.SortFunc(all, func(a, b span) int { return a.start - b.start })
	out := all[:1]
	for _, s := range all[1:] {
		if last := &out[len(out)-1]; s.start < last.end {
			last.end = max(last.end, s.end)
		} else {
			out = append(out, s)
		}
	}
	return out
}

func (d *tomlDoc) inBlock(offset int) bool { return offset >= d.block.start && offset < d.block.end }

// tomlName returns the name of a table and the offset of its first part.
func tomlName(e *unstable.Node) (name []string, offset int) {
	for it := e.Key(); it.Next(); {
		if name = append(name, string(it.Node().Data)); len(name) == 1 {
			offset = int(it.Node().Raw.Offset)
		}
	}
	return name, offset
}

// lastOffset returns the largest offset of a node and those below it, or -1.
func lastOffset(n *unstable.Node) int {
	last := -1
	if n.Raw.Length > 0 {
		last = int(n.Raw.Offset + n.Raw.Length - 1)
	}
	for it := n.Children(); it.Next(); {
		last = max(last, lastOffset(it.Node()))
	}
	return last
}

func hasPrefix(name, prefix []string) bool {
	return len(name) >= len(prefix) && slices.Equal(name[:len(prefix)], prefix)
}
