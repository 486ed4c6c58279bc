package search

import (
	"cmp"
	"container/heap"
	"context"
	"math"
	"slices"

	index "github.com/blevesearch/bleve_index_api"

	"hubcli/actors/core"
)

const (
	// maxAnyWords is the largest number of words of which any one suffices; of
	// more words only the rarest are used. It bounds the cost of a query of
	// common words: each word that is in half of 100,000 messages costs some
	// milliseconds.
	maxAnyWords = 6
	// lookAgain is the number of documents between two looks at the clock.
	lookAgain = 1024
)

// Find returns the best documents; see core.Index. All words must occur. While
// there are fewer documents than asked for, other forms of the words count too.
// If no document holds them all, first the last word may be the beginning of a
// longer one, then one letter of a word may be wrong, then any one word
// suffices. When ctx is done, Find returns the best hits so far.
func (x *Index) Find(ctx context.Context, q core.IndexQuery) ([]core.IndexHit, error) {
	parsed, err := parse(q.Text)
	if err != nil {
		return nil, err
	}
	var hits []core.IndexHit
	err = x.read(func(r index.IndexReader) (err error) {
		f := finder{ctx: ctx, reader: r, q: &q}
		defer f.close()
		hits, err = f.widening(parsed)
		return err
	})
	return hits, err
}

// fields are the fields with words that the viewer may find.
func (f *finder) fields() []string {
	fields := []string{fieldPublic}
	if f.q.Viewer != "" || f.q.Operator {
		fields = append(fields, fieldDirect)
	}
	if f.q.History {
		fields = append(fields, fieldHistory)
	}
	return fields
}

// finder evaluates one query on one state of the index.
type finder struct {
	ctx    context.Context //nolint:containedctx // it lives for one call
	reader index.IndexReader
	q      *core.IndexQuery
	times  index.DocValueReader
	id     index.IndexInternalID
	opened []cursor // to be closed at the end
	words  map[variantsOf][]string
}

func (f *finder) close() {
	for _, c := range f.opened {
		c.close()
	}
}

// find collects the best of the documents that the viewer may see.
func (f *finder) find(q query, join func([]cursor) cursor) ([]core.IndexHit, error) {
	best := &best{limit: f.q.Limit}
	if f.times == nil {
		times, err := f.reader.DocValueReader([]string{fieldTime})
		if err != nil {
			return nil, err
		}
		f.times = times
	}
	for _, field := range f.fields() {
		c, err := f.plan(q, field, join)
		if err != nil {
			return nil, err
		}
		if c == nil {
			continue
		}
		f.opened = append(f.opened, c)
		if err := f.collect(c, best); err != nil {
			return nil, err
		}
	}
	return f.hits(best)
}

// plan makes the cursor of a query in one field; nil if it finds nothing.
func (f *finder) plan(q query, field string, join func([]cursor) cursor) (cursor, error) {
	words, err := f.clauses(q.wanted, field)
	if err != nil || len(words) == 0 {
		return nil, err
	}
	all := []cursor{join(words)}
	filter := func(field string, values ...string) error {
		var any []cursor
		for _, v := range values {
			c, err := newTerm(f.ctx, f.reader, field, v, 0, false)
			if err != nil {
				return err
			}
			any = append(any, c)
		}
		all = append(all, newAny(any))
		return nil
	}
	for _, by := range []struct{ field, value string }{
		{fieldChannel, string(f.q.Channel)}, {fieldFrom, string(f.q.From)}, {fieldKind, f.q.Kind},
	} {
		if by.value != "" {
			err = cmp.Or(err, filter(by.field, by.value))
		}
	}
	if len(f.q.Places) > 0 {
		err = cmp.Or(err, filter(fieldPlace, f.q.Places...))
	}
	if len(f.q.Types) > 0 && len(f.q.Types) < len(letters) {
		types := make([]string, len(f.q.Types))
		for i, t := range f.q.Types {
			types[i] = string(t)
		}
		err = cmp.Or(err, filter(fieldType, types...))
	}
	if field == fieldDirect && !f.q.Operator {
		err = cmp.Or(err, filter(fieldParty, string(f.q.Viewer)))
	}
	if err != nil {
		return nil, err
	}
	c := newAll(all)
	if len(q.unwanted) == 0 {
		return c, nil
	}
	not, err := f.clauses(q.unwanted, field)
	if err != nil {
		return nil, err
	}
	return &lessCursor{c, newAny(not)}, nil
}

func (f *finder) clauses(clauses []clause, field string) ([]cursor, error) {
	out := make([]cursor, 0, len(clauses))
	for _, c := range clauses {
		cur, err := f.clause(c, field)
		if err != nil {
			return nil, err
		}
		out = append(out, cur)
	}
	return out, nil
}

func (f *finder) clause(c clause, field string) (cursor, error) {
	if c.prefix || c.width > written {
		return f.wide(c, field)
	}
	terms := make([]*termCursor, len(c.terms))
	weight := 0.0
	for i, t := range c.terms {
		w, err := f.weight(t)
		if err != nil {
			return nil, err
		}
		weight += w
		if terms[i], err = newTerm(f.ctx, f.reader, field, t, w, len(c.terms) > 1); err != nil {
			return nil, err
		}
	}
	if len(terms) == 1 {
		return terms[0], nil
	}
	return newPhrase(terms, weight), nil
}

// wide returns a cursor for all words of a field that satisfy a clause of one
// word. Another word never counts more than its share of the written one.
func (f *finder) wide(c clause, field string) (cursor, error) {
	words, err := f.variants(c, field)
	if err != nil {
		return nil, err
	}
	any := make([]cursor, len(words))
	var own float64
	for i, word := range words {
		w, err := f.weight(word)
		if err != nil {
			return nil, err
		}
		switch {
		case i == 0:
			own = w
		case !c.prefix:
			w = variantShare * min(w, own)
		}
		if any[i], err = newTerm(f.ctx, f.reader, field, word, w, false); err != nil {
			return nil, err
		}
	}
	return newAny(any), nil
}

// weight returns the rarity of a term among public rows, in whatever field it
// is looked up: direct messages of other agents must not change a score.
func (f *finder) weight(term string) (float64, error) {
	const rows = 1 << 20 // a round number instead of the number of rows
	count, err := f.count(term)
	n := float64(min(count, rows))
	return math.Log(1 + (rows-n+0.5)/(n+0.5)), err
}

// count returns how many public rows hold a term.
func (f *finder) count(term string) (uint64, error) {
	r, err := f.reader.TermFieldReader(f.ctx, []byte(term), fieldPublic, false, false, false)
	if err != nil {
		return 0, err
	}
	defer func() { _ = r.Close() }()
	return r.Count(), nil
}

// rarest returns the maxAnyWords clauses that are rarest among public rows, and
// all clauses that do not occur there, which cost nothing.
func (f *finder) rarest(clauses []clause) ([]clause, error) {
	type counted struct {
		clause
		rows uint64
	}
	all := make([]counted, len(clauses))
	none := 0
	for i, c := range clauses {
		rows, err := f.rows(c)
		if err != nil {
			return nil, err
		}
		all[i] = counted{c, rows}
		if all[i].rows == 0 {
			none++
		}
	}
	slices.SortStableFunc(all, func(a, b counted) int { return cmp.Compare(a.rows, b.rows) })
	var out []clause
	for _, c := range all[:min(len(all), none+maxAnyWords)] {
		out = append(out, c.clause)
	}
	return out, nil
}

// rows estimates from above how many public rows satisfy a clause.
func (f *finder) rows(c clause) (uint64, error) {
	if len(c.terms) == 1 {
		words, err := f.variants(c, fieldPublic)
		sum := uint64(0)
		for _, word := range words {
			n, e := f.count(word)
			sum, err = sum+n, cmp.Or(err, e)
		}
		return sum, err
	}
	least := uint64(math.MaxUint64)
	for _, t := range c.terms {
		n, err := f.count(t)
		if err != nil {
			return 0, err
		}
		least = min(least, n)
	}
	return least, nil
}

// collect walks over a cursor and keeps the best candidates.
func (f *finder) collect(c cursor, best *best) error {
	at, err := c.to(0)
	for n := 1; err == nil && at != done; n++ {
		if n%lookAgain == 0 && f.ctx.Err() != nil {
			return nil
		}
		score := c.score()
		if score >= best.least() || f.q.Since > 0 {
			var ts uint64
			if ts, err = f.time(at); err != nil {
				return err
			}
			if ts >= uint64(max(0, f.q.Since)) {
				best.add(candidate{doc: at, score: score, ts: ts})
			}
		}
		at, err = c.to(at + 1)
	}
	return err
}

// time reads the creation time of a document's row.
func (f *finder) time(doc uint64) (ts uint64, err error) {
	f.id = index.NewIndexInternalID(f.id, doc)
	err = f.times.VisitDocValues(f.id, func(_ string, value []byte) {
		ts = timeOf(value)
	})
	return ts, err
}

// hits returns the collected candidates as an answer, best first.
func (f *finder) hits(b *best) ([]core.IndexHit, error) {
	slices.SortFunc(b.kept, func(a, b candidate) int { return b.compare(a) })
	out := make([]core.IndexHit, 0, len(b.kept))
	for _, c := range b.kept {
		f.id = index.NewIndexInternalID(f.id, c.doc)
		id, err := f.reader.ExternalID(f.id)
		if err != nil {
			return nil, err
		}
		t, number, err := parseDocID(id)
		if err != nil {
			return nil, err
		}
		out = append(out, core.IndexHit{Type: t, Number: number, Score: c.score})
	}
	return out, nil
}

// candidate is a document that may be among the best.
type candidate struct {
	doc   uint64
	score float64
	ts    uint64
}

// compare orders by score, then by time.
func (c candidate) compare(d candidate) int {
	return cmp.Or(cmp.Compare(c.score, d.score), cmp.Compare(c.ts, d.ts), cmp.Compare(c.doc, d.doc))
}

// best keeps the best candidates, the worst of them on top of a heap.
type best struct {
	kept  []candidate
	limit int
}

func (b *best) Len() int           { return len(b.kept) }
func (b *best) Less(i, j int) bool { return b.kept[i].compare(b.kept[j]) < 0 }
func (b *best) Swap(i, j int)      { b.kept[i], b.kept[j] = b.kept[j], b.kept[i] }

// Push is heap.Interface's.
func (b *best) Push(x any) { b.kept = append(b.kept, x.(candidate)) }

// Pop is heap.Interface's.
func (b *best) Pop() any {
	last := len(b.kept) - 1
	x := b.kept[last]
	b.kept = b.kept[:last]
	return x
}

// least returns the score that a candidate must reach.
func (b *best) least() float64 {
	if len(b.kept) < b.limit {
		return math.Inf(-1)
	}
	return b.kept[0].score
}

func (b *best) add(c candidate) {
	switch {
	case len(b.kept) < b.limit:
		heap.Push(b, c)
	case c.compare(b.kept[0]) > 0:
		b.kept[0] = c
		heap.Fix(b, 0)
	}
}
