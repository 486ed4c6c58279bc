package lists

import (
	"reflect"

	"hubcli/actors/view"
	"hubcli/hub"
)

// fit counts the rows of one answer: at most limit, and at most view.MaxPageBytes of JSON.
// One row fits in any case.
type fit struct{ limit, rows, bytes int }

// takes counts a row, which row points to. false: the answer has no room for it.
func (f *fit) takes(row any) bool {
	if f.rows == f.limit {
		return false
	}
	bytes := jsonBytes(reflect.ValueOf(row).Elem())
	if f.rows > 0 && f.bytes+bytes > view.MaxPageBytes {
		return false
	}
	f.rows++
	f.bytes += bytes
	return true
}

// page gathers one page of a list. All lists are cut here, and nowhere else: add takes
// their rows in order until one does not fit. That row is the proof that there are more.
type page[T any] struct {
	fit   fit
	rows  []T
	place []byte // of the last row
	more  bool   // a row did not fit
}

// newPage begins a page of at most limit rows; 0: as many as a page may have.
func newPage[T any](limit int) *page[T] {
	return &page[T]{fit: fit{limit: pageRows(limit)}, rows: []T{}}
}

// limit is how many rows the page may have.
func (p *page[T]) limit() int { return p.fit.limit }

// full reports that the page has no room for one more row, however short. A list that
// asks has such a row, and need not make it.
func (p *page[T]) full() bool {
	p.more = p.more || p.fit.rows == p.fit.limit
	return p.more
}

// add takes the next row of the list and its place. false: it did not fit, and the list
// is to stop.
func (p *page[T]) add(row T, place []byte) bool {
	if p.full() || !p.fit.takes(&row) {
		p.more = true
		return false
	}
	p.rows, p.place = append(p.rows, row), place
	return true
}

// end returns the page and the cursor of the rest, if there is any.
func (p *page[T]) end(c cursors, list listOf, err error) ([]T, hub.Cursor, error) {
	switch {
	case err != nil:
		return nil, "", err
	case p.more:
		return p.rows, c.at(list, p.place), nil
	}
	return p.rows, "", nil
}

// Bytes of JSON, as jsonBytes counts them.
const (
	nameBytes   = 24 // the name of a member, with quotes, colon and comma
	scalarBytes = 20 // a number, a truth value or null
	timeBytes   = 26
)

// jsonBytes is about how long a value is in JSON, and seldom less than that. It looks at
// texts and makes none: to encode each row twice would take far longer.
func jsonBytes(v reflect.Value) (bytes int) {
	switch v.Kind() {
	case reflect.String:
		return 2 + textBytes(v.String())
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return scalarBytes
		}
		return jsonBytes(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			bytes += nameBytes + jsonBytes(v.Field(i))
		}
		return 2 + bytes
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 { // JSON that is stored
			return textBytes(v.Bytes())
		}
		for i := range v.Len() {
			bytes += 1 + jsonBytes(v.Index(i))
		}
		return 2 + bytes
	case reflect.Map:
		for m := v.MapRange(); m.Next(); {
			bytes += 2 + jsonBytes(m.Key()) + jsonBytes(m.Value())
		}
		return 2 + bytes
	}
	if v.Type() == reflect.TypeFor[hub.Time]() {
		return timeBytes
	}
	return scalarBytes
}

// textBytes is how long a text is in JSON, without its quotes. Of the characters that
// begin as U+2028 does, only two are escaped; all are counted so.
func textBytes[T string | []byte](text T) (bytes int) {
	for i := range len(text) {
		bytes += int(byteWidth[text[i]])
	}
	return bytes
}

// byteWidth is how many bytes a byte of a text becomes.
var byteWidth = func() (width [256]uint8) {
	for b := range width {
		switch {
		case b == '"', b == '\\':
			width[b] = 2
		case b < ' ', b == '<', b == '>', b == '&': // \u003c
			width[b] = 6
		case b == 0xe2:
			width[b] = 4
		default:
			width[b] = 1
		}
	}
	return width
}()
