package search

import (
	"cmp"
	"context"
	"math"
	"slices"

	index "github.com/blevesearch/bleve_index_api"
)

// cursor walks over documents in the order of their numbers in one reader.
type cursor interface {
	// to moves to the first document at or behind doc and returns it, or done.
	// Moving back is not possible: a cursor that stands behind doc stays.
	to(doc uint64) (uint64, error)
	// score returns how well the current document matches.
	score() float64
	// count returns an upper estimate of the number of documents.
	count() uint64
	close()
}

// done is behind every document.
const done = math.MaxUint64

// Constants of BM25. The average length is fixed, so that the score of a row
// says nothing about rows that the viewer may not see.
const (
	bm25K1     = 1.2
	bm25B      = 0.5
	meanLength = 40.0 // words
)

// termCursor walks over the documents that hold one term in one field.
type termCursor struct {
	reader index.TermFieldReader
	doc    index.TermFieldDoc
	id     index.IndexInternalID
	at     uint64
	begun  bool
	weight float64 // 0: a filter
}

func newTerm(ctx context.Context, r index.IndexReader, field, term string, weight float64, places bool) (*termCursor, error) {
	scored := weight > 0
	reader, err := r.TermFieldReader(ctx, []byte(term), field, scored || places, scored || places, places)
	if err != nil {
		return nil, err
	}
	return &termCursor{reader: reader, weight: weight}, nil
}

func (c *termCursor) to(doc uint64) (uint64, error) {
	if c.begun && c.at >= doc {
		return c.at, nil
	}
	var found *index.TermFieldDoc
	var err error
	if !c.begun && doc == 0 || c.begun && doc == c.at+1 {
		found, err = c.reader.Next(&c.doc)
	} else {
		c.id = index.NewIndexInternalID(c.id, doc)
		found, err = c.reader.Advance(c.id, &c.doc)
	}
	c.begun = true
	if err != nil || found == nil {
		c.at = done
		return done, err
	}
	c.at = found.ID.Value()
	return c.at, nil
}

func (c *termCursor) score() float64 {
	if c.weight == 0 {
		return 0
	}
	return c.weight * saturated(float64(c.doc.Freq), c.doc.Norm)
}

// saturated is the part of BM25 that depends on the document: how often it
// holds the term, and how long it is (norm is one over the square root of its
// length).
func saturated(freq, norm float64) float64 {
	length := meanLength
	if norm > 0 {
		length = 1 / (norm * norm)
	}
	return freq * (bm25K1 + 1) / (freq + bm25K1*(1-bm25B+bm25B*length/meanLength))
}

func (c *termCursor) count() uint64 { return c.reader.Count() }
func (c *termCursor) close()        { _ = c.reader.Close() }

// allCursor walks over the documents that all of its cursors hold.
type allCursor struct{ cursors []cursor }

// newAll orders its cursors so that the rarest comes first.
func newAll(cursors []cursor) cursor {
	if len(cursors) == 1 {
		return cursors[0]
	}
	slices.SortStableFunc(cursors, func(a, b cursor) int { return cmp.Compare(a.count(), b.count()) })
	return &allCursor{cursors}
}

func (c *allCursor) to(doc uint64) (uint64, error) {
	for i := 0; i < len(c.cursors); i++ {
		at, err := c.cursors[i].to(doc)
		if err != nil || at == done {
			return done, err
		}
		if at > doc {
			doc = at
			if i > 0 {
				i = -1 // again from the first
			}
		}
	}
	return doc, nil
}

func (c *allCursor) score() (sum float64) {
	for _, part := range c.cursors {
		sum += part.score()
	}
	return sum
}

func (c *allCursor) count() uint64 { return c.cursors[0].count() }

func (c *allCursor) close() {
	for _, part := range c.cursors {
		part.close()
	}
}

// anyCursor walks over the documents that at least one of its cursors holds.
// The cursors form a heap with the one at the lowest document on top, so that a
// step moves only the cursors at the previous document.
type anyCursor struct {
	heap  []branch
	begun bool
	on    []branch // scratch of score
}

// branch is one of several cursors, with its position.
type branch struct {
	cursor
	at    uint64
	order int // among the cursors
}

func newAny(cursors []cursor) cursor {
	if len(cursors) == 1 {
		return cursors[0]
	}
	c := &anyCursor{heap: make([]branch, len(cursors))}
	for i, part := range cursors {
		c.heap[i] = branch{cursor: part, order: i}
	}
	return c
}

func (c *anyCursor) to(doc uint64) (at uint64, err error) {
	if !c.begun {
		c.begun = true
		for i := len(c.heap) - 1; i >= 0; i-- {
			if c.heap[i].at, err = c.heap[i].to(doc); err != nil {
				return done, err
			}
			c.sink(i)
		}
	}
	if len(c.heap) == 0 {
		return done, nil
	}
	for top := &c.heap[0]; top.at < doc; {
		if top.at, err = top.to(doc); err != nil {
			return done, err
		}
		c.sink(0)
	}
	return c.heap[0].at, nil
}

// sink restores the heap below i.
func (c *anyCursor) sink(i int) {
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(c.heap); child++ {
			if c.heap[child].at < c.heap[least].at {
				least = child
			}
		}
		if least == i {
			return
		}
		c.heap[i], c.heap[least] = c.heap[least], c.heap[i]
		i = least
	}
}

// score adds in the order of the cursors, so that equal documents score equally
// to the last bit.
func (c *anyCursor) score() (sum float64) {
	c.on = c.on[:0]
	c.gather(0)
	slices.SortFunc(c.on, func(a, b branch) int { return a.order - b.order })
	for i := range c.on {
		sum += c.on[i].score()
	}
	return sum
}

// gather collects the cursors from i down that are at the same document as the
// top.
func (c *anyCursor) gather(i int) {
	if i < len(c.heap) && c.heap[i].at == c.heap[0].at {
		c.on = append(c.on, c.heap[i])
		c.gather(2*i + 1)
		c.gather(2*i + 2)
	}
}

func (c *anyCursor) count() (sum uint64) {
	for i := range c.heap {
		sum += c.heap[i].count()
	}
	return sum
}

func (c *anyCursor) close() {
	for i := range c.heap {
		c.heap[i].close()
	}
}

// phraseCursor walks over the documents that hold its terms at adjacent places.
type phraseCursor struct {
	all    cursor
	terms  []*termCursor // in the order of the phrase
	weight float64
	freq   int
}

func newPhrase(terms []*termCursor, weight float64) cursor {
	cursors := make([]cursor, len(terms))
	for i, t := range terms {
		cursors[i] = t
	}
	return &phraseCursor{all: newAll(cursors), terms: terms, weight: weight}
}

func (c *phraseCursor) to(doc uint64) (uint64, error) {
	for {
		at, err := c.all.to(doc)
		if err != nil || at == done {
			return done, err
		}
		if c.freq = c.occurrences(); c.freq > 0 {
			return at, nil
		}
		doc = at + 1
	}
}

// occurrences counts how often the phrase stands in the document. Places of one
// term rise.
func (c *phraseCursor) occurrences() (n int) {
	for _, first := range c.terms[0].doc.Vectors {
		whole := true
		for i, t := range c.terms[1:] {
			_, found := slices.BinarySearchFunc(t.doc.Vectors, first.Pos+uint64(i)+1,
				func(v *index.TermFieldVector, place uint64) int { return cmp.Compare(v.Pos, place) })
			if !found {
				whole = false
				break
			}
		}
		if whole {
			n++
		}
	}
	return n
}

func (c *phraseCursor) score() float64 {
	return c.weight * saturated(float64(c.freq), c.terms[0].doc.Norm)
}
func (c *phraseCursor) count() uint64 { return c.all.count() }
func (c *phraseCursor) close()        { c.all.close() }

// lessCursor walks over the documents of one cursor that another does not hold.
type lessCursor struct {
	cursor
	not cursor
}

func (c *lessCursor) to(doc uint64) (uint64, error) {
	for {
		at, err := c.cursor.to(doc)
		if err != nil || at == done {
			return done, err
		}
		not, err := c.not.to(at)
		if err != nil || not != at {
			return at, err
		}
		doc = at + 1
	}
}

func (c *lessCursor) close() {
	c.cursor.close()
	c.not.close()
}
