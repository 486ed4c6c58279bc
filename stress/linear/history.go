package linear

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"
)

// errBroken says that a promise was broken.
var errBroken = errors.New("broken promise")

// checkTime bounds one check. None comes near it; one that did would prove nothing.
const checkTime = time.Minute

// forever is the end of a call whose end is not known yet.
const forever = int64(1) << 62

// op is one call, or the attempts of one call under one idempotency key.
type op struct {
	client    int
	call, ret int64 // nanoseconds since the run began
	in, out   any
	known     bool // out is the answer; else the outcome is unknown
	reads     bool // it changes nothing
	epoch     int  // of the hub that the last attempt may have reached
}

// history is what happened to one object. It belongs to its lock.
type history struct {
	name  string
	model porcupine.Model
	// exact decides without a search whether there is an order; nil: only a search does.
	exact func(ops []*op) error
	// idle reports whether a call without an answer can be left out: it did nothing that
	// an answer shows. nil: none can.
	idle func(*op) bool

	mu  sync.Mutex
	ops []*op
}

// timeline gives out moments, and says when the hub of each epoch had ended.
type timeline struct {
	began time.Time

	mu    sync.Mutex
	epoch int           // the hub that runs or ran last
	ended map[int]int64 // by epoch: its process had ended
}

func newTimeline() *timeline { return &timeline{began: time.Now(), ended: map[int]int64{}} }

func (t *timeline) now() int64 { return time.Since(t.began).Nanoseconds() }

// start begins the next epoch.
func (t *timeline) start() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.epoch++
	return t.epoch
}

// end notes that the process of the epoch has ended. What it has not done by now it
// will never do.
func (t *timeline) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended[t.epoch] = t.now()
}

// endOf returns when the process of an epoch had ended.
func (t *timeline) endOf(epoch int) int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	if at, ok := t.ended[epoch]; ok {
		return at
	}
	return forever
}

// begin notes a call.
func (h *history) begin(t *timeline, client, epoch int, in any, reads bool) *op {
	o := h.attempt(client, epoch, t.now(), in)
	o.reads = reads
	return o
}

// attempt notes a call that has begun at a moment.
func (h *history) attempt(client, epoch int, call int64, in any) *op {
	o := &op{client: client, call: call, ret: forever, in: in, epoch: epoch}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ops = append(h.ops, o)
	return o
}

// answer notes the answer of a call.
func (h *history) answer(t *timeline, o *op, out any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	o.out, o.known, o.ret = out, true, t.now()
}

// drop takes back a call that was refused before it was looked at.
func (h *history) drop(o *op) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if at := slices.Index(h.ops, o); at >= 0 {
		h.ops = slices.Delete(h.ops, at, at+1)
	}
}

// again notes that a call without an answer is sent once more under its key.
func (h *history) again(o *op, epoch int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	o.epoch = epoch
}

// check looks for an order of the calls that explains all answers. A failure leaves a
// picture of the calls in dir.
func (h *history) check(t *timeline, dir string) (failed error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var ops []porcupine.Operation
	if h.exact != nil {
		err := h.exact(h.ended(t))
		if err == nil {
			return nil
		}
		defer func() { failed = errors.Join(err, failed) }()
	}
	for _, o := range h.ops {
		ret := o.ret
		if !o.known && (o.reads || h.idle != nil && h.idle(o)) {
			continue // it says nothing, and each call more costs much
		}
		if !o.known {
			ret = t.endOf(o.epoch)
		}
		ops = append(ops, porcupine.Operation{ClientId: o.client, Input: o, Call: o.call, Output: o.out, Return: ret})
	}
	switch result := porcupine.CheckOperationsTimeout(h.model, ops, checkTime); result {
	case porcupine.Ok:
		return nil
	case porcupine.Unknown:
		return fmt.Errorf("the %d calls on %s were not checked within %v", len(ops), h.name, checkTime)
	case porcupine.Illegal:
	}
	_, info := porcupine.CheckOperationsVerbose(h.model, ops, checkTime)
	picture := filepath.Join(dir, h.name+".html")
	err := fmt.Errorf("%w: no order of the %d calls on %s explains the answers", errBroken, len(ops), h.name)
	if e := os.MkdirAll(dir, 0o700); e == nil && porcupine.VisualizePath(h.model, info, picture) == nil {
		err = fmt.Errorf("%w; %s shows them", err, picture)
	}
	_ = os.WriteFile(filepath.Join(dir, h.name+".txt"), h.text(ops), 0o600) // err is told in any case
	return err
}

// ended returns the calls. Those without an answer ended with their hub at the latest.
func (h *history) ended(t *timeline) []*op {
	ops := make([]*op, len(h.ops))
	for i, o := range h.ops {
		one := *o
		if !o.known {
			one.ret = t.endOf(o.epoch)
		}
		ops[i] = &one
	}
	return ops
}

// text lists the calls as they began, in milliseconds since the run began.
func (h *history) text(ops []porcupine.Operation) []byte {
	slices.SortFunc(ops, func(a, b porcupine.Operation) int { return int(a.Call - b.Call) })
	var b bytes.Buffer
	for _, o := range ops {
		fmt.Fprintf(&b, "%12.3f %12.3f  client %d: %s\n", float64(o.Call)/1e6, float64(o.Return)/1e6, o.ClientId, describe(o.Input, o.Output))
	}
	return b.Bytes()
}

// describe is how a picture shows a call.
func describe(in, out any) string {
	o := in.(*op)
	if !o.known {
		return fmt.Sprintf("%+v = ?", o.in)
	}
	return fmt.Sprintf("%+v = %+v", o.in, out)
}

// stamped is a number that the hub has given out during a call.
type stamped struct {
	n         int64
	call, ret int64
	what      string
}

// checkOrder looks for a number that was given out twice, or in an order that the
// callers could tell from their clocks to be wrong.
func checkOrder(what string, numbers []stamped) error {
	slices.SortFunc(numbers, func(a, b stamped) int { return int(a.n - b.n) })
	var latest stamped // of the smaller numbers: the one whose call began last
	for i, s := range numbers {
		if i > 0 && numbers[i-1].n == s.n && numbers[i-1].what != s.what {
			return fmt.Errorf("%w: %s %d was given to %s and to %s", errBroken, what, s.n, numbers[i-1].what, s.what)
		}
		if i > 0 && s.ret < latest.call {
			return fmt.Errorf("%w: %s %d (%s) was answered before %d (%s) was asked for", errBroken, what, s.n, s.what, latest.n, latest.what)
		}
		if i == 0 || s.call > latest.call {
			latest = s
		}
	}
	return nil
}
