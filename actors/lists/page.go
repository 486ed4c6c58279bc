package lists

import (
	"reflect"

	"hubcli/actors/view"
	"hubcli/hub"
	"hubcli/internal/answers"
)

// fit counts the rows of one answer: at most limit, and at most view.MaxPageBytes of JSON.
// One row fits in any case.
type fit struct{ limit, rows, bytes int }

// takes counts a row, which row points to. false: the answer has no room for it.
func (f *fit) takes(row any) bool {
	if f.rows == f.limit {
		return false
	}
	bytes := answers.JSONBytes(reflect.ValueOf(row).Elem())
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
