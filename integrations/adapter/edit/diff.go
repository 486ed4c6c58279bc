package edit

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"
)

// Sizes, in bytes, of the parts of long lines that are shown. Some files are one line.
const (
	longLine  = 1_000
	around    = 160    // before and after a change
	mostShown = 16_384 // in one change
	lookAside = 4_096  // read beside the shown part, to recognize secrets
	lookAhead = 16_384 // searched for secrets at once, because the search is slow
	coarse    = 2_048  // a smaller difference is not refined
)

// Diff returns the unified diff of a file; nil is an absent file. The lines
// around a change may hold secrets of others, so values that look like secrets,
// and values of keys that name one, are masked there. Removed and added text is
// shown unmasked, because the user must decide about it. Of long lines only the
// changes and their surroundings are shown.
func Diff(file string, before, after []byte) string {
	from, to := filepath.ToSlash(file), filepath.ToSlash(file)
	if before == nil {
		from = "/dev/null"
	}
	if after == nil {
		to = "/dev/null"
	}
	edits := udiff.Lines(string(before), string(after))
	if len(edits) == 0 {
		if before == nil != (after == nil) {
			return fmt.Sprintf("--- %s\n+++ %s\n", from, to)
		}
		return ""
	}
	unified, err := udiff.ToUnifiedDiff(from, to, string(before), edits, udiff.DefaultContextLines)
	if err != nil {
		return fmt.Sprintf("--- %s\n+++ %s\n(%v)\n", from, to, err)
	}
	gone, come := changed(before, after)
	was := side{doc: before, other: after, changed: gone, lines: lineStarts(before)}
	is := side{doc: after, other: before, changed: come, lines: lineStarts(after)}
	for _, h := range unified.Hunks {
		from, to := h.FromLine-1, h.ToLine-1
		for i := range h.Lines {
			line := &h.Lines[i].Content
			switch h.Lines[i].Kind {
			case udiff.Equal:
				*line = was.show(from, true)
				from, to = from+1, to+1
			case udiff.Delete:
				*line = was.show(from, false)
				from++
			case udiff.Insert:
				*line = is.show(to, false)
				to++
			}
		}
	}
	return unified.String()
}

// changed returns the places that differ, in order, on both sides.
func changed(before, after []byte) (gone, come []span) {
	begin := 0
	for begin < min(len(before), len(after)) && before[begin] == after[begin] {
		begin++
	}
	end := 0
	for end < min(len(before), len(after))-begin && before[len(before)-1-end] == after[len(after)-1-end] {
		end++
	}
	was, is := span{begin, len(before) - end}, span{begin, len(after) - end}
	if max(was.end-was.start, is.end-is.start) <= coarse {
		return []span{was}, []span{is}
	}
	// The lines may differ in several places far from each other: compare word
	// by word.
	a, fromA := words(before[was.start:was.end])
	b, fromB := words(after[is.start:is.end])
	moved := 0 // the place in b minus the place in a
	for _, e := range udiff.Lines(a, b) {
		gone = append(gone, span{begin + fromA(e.Start), begin + fromA(e.End)})
		start := e.Start + moved
		come = append(come, span{begin + fromB(start), begin + fromB(start+len(e.New))})
		moved += len(e.New) - (e.End - e.Start)
	}
	return gone, come
}

// words returns text with a line break after each word; place maps an offset in
// lines to one in text.
func words(text []byte) (lines string, place func(int) int) {
	var b strings.Builder
	var breaks []int
	for len(text) > 0 {
		n := bytes.IndexAny(text, ",{}[]\n") + 1
		if n == 0 {
			n = len(text)
		}
		b.Write(text[:n])
		b.WriteByte('\n')
		breaks = append(breaks, b.Len())
		text = text[n:]
	}
	return b.String(), func(at int) int {
		i, _ := slices.BinarySearch(breaks, at+1)
		return at - i
	}
}

// lineStarts returns the offsets at which lines begin, and the end.
func lineStarts(b []byte) []int {
	var starts []int
	offset := 0
	for line := range bytes.Lines(b) {
		starts = append(starts, offset)
		offset += len(line)
	}
	return append(starts, offset)
}

// side is the file before or after the change.
type side struct {
	doc, other []byte
	changed    []span
	lines      []int
	searched   span   // where found holds all possible secrets
	found      []span // in order and without overlap
}

// show returns the visible text of a line.
func (s *side) show(n int, equal bool) string {
	line := span{s.lines[n], s.lines[n+1]}
	var b strings.Builder
	at := line.start
	for _, v := range s.visible(line, equal) {
		b.WriteString(s.omitted(at, v.start))
		s.mask(&b, v, equal)
		at = v.end
	}
	b.WriteString(s.omitted(at, line.end))
	if at < line.end && s.doc[line.end-1] == '\n' {
		b.WriteByte('\n')
	}
	return b.String()
}

func (s *side) omitted(from, to int) string {
	if from >= to {
		return ""
	}
	return fmt.Sprintf("… %d characters …", utf8.RuneCount(bytes.TrimRight(s.doc[from:to], "\r\n")))
}

// visible returns the parts of a line that are shown, in order and without
// overlap.
func (s *side) visible(line span, equal bool) []span {
	if line.end-line.start <= longLine {
		return []span{line}
	}
	var all []span
	add := func(start, end int) {
		part := span{s.rune(max(start, line.start)), s.rune(min(end, line.end))}
		if n := len(all); n > 0 && part.start <= all[n-1].end {
			all[n-1].end = max(all[n-1].end, part.end)
		} else if part.start < part.end {
			all = append(all, part)
		}
	}
	for _, c := range s.changed {
		if equal || c.end < line.start || c.start > line.end {
			continue
		}
		if c = (span{max(c.start, line.start), min(c.end, line.end)}); c.end-c.start > mostShown {
			add(c.start-around, c.start+mostShown/2)
			add(c.end-mostShown/2, c.end+around)
			continue
		}
		add(c.start-around, c.end+around)
	}
	if len(all) == 0 {
		add(line.start, line.start+around)
	}
	return all
}

// rune returns the start of the character at a place.
func (s *side) rune(at int) int {
	for at > 0 && at < len(s.doc) && !utf8.RuneStart(s.doc[at]) {
		at--
	}
	return at
}

// mask writes a part with possible secrets hidden. In a changed line it hides
// only secrets that the change keeps.
func (s *side) mask(b *strings.Builder, part span, equal bool) {
	at := part.start
	for _, h := range s.secretsAround(part) {
		if h.end <= at || h.start >= part.end || !equal && s.changes(h) {
			continue
		}
		b.Write(s.doc[at:max(h.start, at)])
		b.WriteString(masked)
		at = min(h.end, part.end)
	}
	b.Write(s.doc[at:part.end])
}

// secretsAround returns the possible secrets of a part and of the text near it. Parts
// are asked for in order, so one search serves the lines that follow.
func (s *side) secretsAround(part span) []span {
	low, high := max(part.start-lookAside, 0), min(part.end+lookAside, len(s.doc))
	if low >= s.searched.start && high <= s.searched.end {
		return s.found
	}
	s.searched = span{low, min(part.end+lookAhead, len(s.doc))}
	s.found = secrets(s.doc[s.searched.start:s.searched.end])
	for i := range s.found {
		s.found[i].start += low
		s.found[i].end += low
	}
	return s.found
}

// changes reports whether a value is added or removed.
func (s *side) changes(value span) bool {
	if !slices.ContainsFunc(s.changed, func(c span) bool { return c.start < value.end && value.start < c.end }) {
		return false
	}
	text := s.doc[value.start:value.end]
	return bytes.Count(s.doc, text) > bytes.Count(s.other, text)
}
