package linear

import (
	"fmt"
	"slices"
	"sort"
)

// checkList decides whether some order of the calls on a list explains all answers. It is exact,
// as a search through all orders is, and takes a time that grows with the number of calls alone.
//
// The rows of the list are known, and each of them came at one moment. So an order exists if
// these moments can be chosen such that they rise and that
//
//   - each row came within the call that wrote it;
//   - a call that saw at least n rows ended no sooner than the n-th came, and one that saw at most
//     n rows began no later than the next one came.
//
// Each call narrows the moments of one or two rows, and the earliest moments that are left are
// the best ones. The ops of calls without an answer have the end of their hub as ret.
func checkList(final []entry, last bool, ops []*op) error {
	c := newListCheck(final)
	slices.SortStableFunc(ops, func(a, b *op) int { return int(a.call - b.call) })
	for _, o := range ops {
		var err error
		if in := o.in.(listOp); in.Do == "add" {
			err = c.added(o, in)
		} else if o.known {
			err = c.looked(o, in, last)
		}
		if err != nil {
			return err
		}
	}
	return c.moments()
}

type listCheck struct {
	final   []entry
	at      map[string]int // where a text is in final
	written []bool         // by an op that was looked at
	// Row i came no sooner than soonest[i] and no later than latest[i].
	soonest, latest []int64
	why             []string // describes the op that set latest[i]
}

func newListCheck(final []entry) *listCheck {
	c := &listCheck{
		final: final, at: map[string]int{}, written: make([]bool, len(final)),
		soonest: make([]int64, len(final)), latest: make([]int64, len(final)), why: make([]string, len(final)),
	}
	for i, e := range final {
		c.at[e.Text], c.latest[i] = i, forever
	}
	return c
}

func (c *listCheck) from(i int, moment int64) { c.soonest[i] = max(c.soonest[i], moment) }

func (c *listCheck) upTo(i int, moment int64, o *op) {
	if moment < c.latest[i] {
		c.latest[i], c.why[i] = moment, describe(o, o.out)
	}
}

// added takes a write. Of several calls with a text the first one wrote it, because the others
// repeat one that had its answer.
func (c *listCheck) added(o *op, in listOp) error {
	i, there := c.at[in.Text]
	if o.known && (!there || o.out.(listOut).Rows[0] != c.final[i]) {
		return fmt.Errorf("%w: %s, and the list has no such row", errBroken, describe(o, o.out))
	}
	switch {
	case !there:
	case !c.written[i]:
		c.written[i] = true
		c.from(i, o.call)
		c.upTo(i, o.ret, o)
	case o.known:
		c.upTo(i, o.ret, o)
	}
	return nil
}

// looked takes a read that was answered: it saw at least low rows of the list, and at most high.
func (c *listCheck) looked(o *op, in listOp, last bool) error {
	rows := o.out.(listOut).Rows
	low, high, err := c.span(rows, in, last)
	if err != nil {
		return fmt.Errorf("%w: %s: %w", errBroken, describe(o, o.out), err)
	}
	if low > 0 {
		c.upTo(low-1, o.ret, o)
	}
	if high < len(c.final) {
		c.from(high, o.call)
	}
	return nil
}

// span returns how many rows the list had when a read saw these.
func (c *listCheck) span(rows []entry, in listOp, last bool) (low, high int, err error) {
	begin := sort.Search(len(c.final), func(i int) bool { return c.final[i].ID > in.After })
	if last {
		begin = 0
		if len(rows) > 0 {
			begin = c.at[rows[0].Text]
		}
	}
	end := begin + len(rows)
	if end > len(c.final) || !slices.Equal(rows, c.final[begin:end]) || last && len(rows) > 1 || !last && len(rows) > in.Limit {
		return 0, 0, fmt.Errorf("the list has other rows there")
	}
	switch {
	case last:
		return end, end, nil
	case len(rows) == 0:
		return 0, begin, nil
	case len(rows) == in.Limit:
		return end, len(c.final), nil
	}
	return end, end, nil
}

// moments chooses when each row came.
func (c *listCheck) moments() error {
	var moment int64
	for i, e := range c.final {
		if moment = max(moment, c.soonest[i]); moment > c.latest[i] {
			return fmt.Errorf("%w: row %d (%+v) came after %v, and %s was answered at %v", errBroken, i+1, e, moment, c.why[i], c.latest[i])
		}
	}
	return nil
}
