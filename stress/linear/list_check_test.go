package linear

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// TestExactCheckIsASearch compares the check of lists with a search through all orders, over
// random histories of which some are true and some are lies.
func TestExactCheckIsASearch(t *testing.T) {
	verdicts := map[bool]int{}
	for seed := range uint64(20_000) {
		random := rand.New(rand.NewPCG(seed, 1))
		final, last, ops := randomHistory(random)
		var calls []porcupine.Operation
		for i, o := range ops {
			if !o.known && o.reads {
				continue
			}
			calls = append(calls, porcupine.Operation{ClientId: i, Input: o, Call: o.call, Output: o.out, Return: o.ret})
		}
		want := porcupine.CheckOperationsTimeout(listModel(final, last), calls, time.Minute)
		if want == porcupine.Unknown {
			t.Fatalf("seed %d: the search did not end", seed)
		}
		err := checkList(final, last, ops)
		if err != nil && !errors.Is(err, errBroken) {
			t.Fatal(err)
		}
		if (err == nil) != (want == porcupine.Ok) {
			t.Fatalf("seed %d: the check says %v, the search %s\n%v\n%s", seed, err, want, final, (&history{}).text(calls))
		}
		verdicts[err == nil]++
	}
	if verdicts[true] < 500 || verdicts[false] < 500 {
		t.Errorf("true and false: %v", verdicts)
	}
}

// randomHistory makes a list of up to six rows and calls on it. Times are few, so that calls
// overlap. Half of the histories are true but for one answer or one time.
func randomHistory(random *rand.Rand) (final []entry, last bool, ops []*op) {
	last = random.IntN(4) == 0
	rows := random.IntN(7)
	came := make([]int64, rows)
	for i := range rows {
		final = append(final, entry{ID: int64(2*i + 1), Text: fmt.Sprint("t", i)})
		came[i] = int64(10*i + 5)
	}
	end := int64(10*rows + 10)
	within := func(moment int64) (call, ret int64) {
		return moment - int64(random.IntN(15)), moment + int64(random.IntN(15))
	}
	for i, e := range final {
		o := &op{in: listOp{Do: "add", Text: e.Text}, known: random.IntN(4) > 0, out: listOut{[]entry{e}}}
		if o.call, o.ret = within(came[i]); !o.known {
			o.out, o.ret = nil, end
		}
		ops = append(ops, o)
		if o.known && random.IntN(3) == 0 { // sent again
			again := *o
			again.call = o.ret + 1 + int64(random.IntN(9))
			again.ret = again.call + int64(random.IntN(9))
			ops = append(ops, &again)
		}
	}
	for range random.IntN(6) {
		moment := int64(random.IntN(int(end)))
		n := 0
		for n < rows && came[n] < moment {
			n++
		}
		in := listOp{Do: "look", After: int64(random.IntN(2*rows + 1)), Limit: 1 + random.IntN(3)}
		o := &op{in: in, known: true, reads: true, out: listOut{append([]entry(nil), seen(final[:n], in, last)...)}}
		o.call, o.ret = within(moment)
		ops = append(ops, o)
	}
	if random.IntN(4) == 0 { // a write without an answer and without an effect
		ops = append(ops, &op{in: listOp{Do: "add", Text: "never"}, call: int64(random.IntN(int(end))), ret: end})
	}
	if len(ops) > 0 && random.IntN(2) == 0 {
		lie(random, final, ops[random.IntN(len(ops))])
	}
	return final, last, ops
}

// lie changes a time or an answer of a call.
func lie(random *rand.Rand, final []entry, o *op) {
	out, answered := o.out.(listOut)
	switch {
	case !answered: // the model leaves open whether such a row was written at all
	case len(out.Rows) == 0 || random.IntN(2) == 0:
		o.call = max(0, o.call-int64(random.IntN(30)))
		o.ret = o.call + int64(random.IntN(10))
	default:
		rows := append([]entry(nil), out.Rows...)
		rows[random.IntN(len(rows))] = final[random.IntN(len(final))]
		o.out = listOut{rows}
	}
}
