package index

import (
	"context"
	"encoding/binary"
	"errors"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"hubcli/actors/core"
	"hubcli/actors/engine"
	"hubcli/actors/view"
	"hubcli/hub"
)

// How the index is fed. A batch is small, so that it takes little memory: one
// of a thousand rows saves a tenth of the time and takes 40 MB more. Rows that
// come one by one gather first, because each batch is saved with several syncs.
// A search ends the wait.
const (
	batch            = 250
	batchBytes       = 64 << 10        // of text; one document may be larger
	calmAfter        = 2 * time.Second // until the index has merged its new rows
	retryLast        = 5 * time.Minute
	maxIndexedTables = 3

	// unknownKept is the number of indexed decisions, artifacts and memories
	// while that number is not known: less than any real one.
	unknownKept = -1

	// Gather is how long rows that come one by one gather.
	Gather = time.Second
	// FullPause is how long the indexer waits while the disk is full.
	FullPause = time.Second
	// RetryFirst is how long the indexer waits after the first failure of the
	// index.
	RetryFirst = time.Second
)

// Indexer feeds the index behind the commits. It keeps no queue: rows that it
// has not taken in yet are in the ring or in the store. So its memory does not
// grow, and a start after a crash is the same as falling behind.
//
// Invariants:
//  1. Only rows that are committed and shown are put.
//  2. Every message up to fed.Message and every decision, artifact and memory up
//     to fed.Seq is in the index whenever the index is open.
//  3. Documents are put under the ids of their rows, so that putting again
//     changes nothing.
type Indexer struct {
	engine *engine.Engine
	view   *view.View
	rows   core.Rows
	log    *slog.Logger
	index  core.Index
	poked  chan struct{} // something was shown; capacity 1
	hurry  chan struct{} // a search waits; capacity 1
	kept   atomic.Int64  // decisions, artifacts and memories shown in this run

	mu       sync.Mutex
	open     bool
	failed   bool // the index was closed or could not be opened, and is not open again
	fed      core.IndexPosition
	fedKept  int64 // how many of kept are in the index
	gain     gain
	held     map[core.Owner]hub.Seq // see Hold in dirty.go
	progress chan struct{}          // closed and replaced when something above changes
}

// New returns an indexer that feeds x once it serves.
func New(e *engine.Engine, v *view.View, rows core.Rows, log *slog.Logger, x core.Index) *Indexer {
	return &Indexer{
		engine: e, view: v, rows: rows, log: log, index: x, poked: make(chan struct{}, 1), hurry: make(chan struct{}, 1),
		held: map[core.Owner]hub.Seq{}, progress: make(chan struct{}),
	}
}

// Shown notes a committed record. It runs on the writer's goroutine, so it
// never waits.
func (x *Indexer) Shown(r *core.Record, _ []core.Fact) {
	if x == nil {
		return
	}
	n := keptRows(r.Rows)
	for i := range r.Rows {
		if r.Rows[i].Table == core.TableImport {
			n++ // what it has revealed
		}
	}
	if n > 0 {
		x.kept.Add(n)
	}
	if n > 0 || len(r.Messages) > 0 {
		poke(x.poked)
	}
}

func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Serve feeds the index until quit is closed. An index that fails is closed and
// opened again, which makes a new one if it must; meanwhile searches answer
// search_unavailable and everything else goes on.
func (x *Indexer) Serve(quit <-chan struct{}) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	x.engine.Tasks.Go(func() {
		<-quit
		cancel()
	})
	retry := RetryFirst
	for ctx.Err() == nil {
		at, err := x.index.Open(x.end())
		if err == nil {
			x.note(at, unknownKept)
			err = x.feed(ctx, at)
			if ctx.Err() == nil {
				retry = RetryFirst
			}
		}
		x.closed()
		if cerr := x.index.Close(); cerr != nil && err == nil {
			err = cerr
		}
		if ctx.Err() != nil {
			return
		}
		x.log.LogAttrs(ctx, slog.LevelWarn, "search is not available", slog.Any("error", err), slog.Duration("retry", retry))
		pause(ctx, retry, nil)
		retry = min(2*retry, retryLast)
	}
}

// end is how far the index can go now.
func (x *Indexer) end() core.IndexPosition {
	seq := hub.Seq(x.view.ShownSeq.Load()) // read before the head, so that its messages are below the head
	return core.IndexPosition{Message: x.view.Ring.Visible(), Seq: seq}
}

// note publishes how far the index is.
func (x *Indexer) note(fed core.IndexPosition, fedKept int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.open, x.failed, x.fed, x.fedKept = true, false, fed, fedKept
	x.gain.look(time.Now(), fed.Message)
	x.tell()
}

// closed publishes that the index is not open any more, or could not be opened.
func (x *Indexer) closed() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.open, x.failed, x.fed, x.fedKept = false, true, core.IndexPosition{}, 0
	x.gain = gain{}
	x.tell()
}

// tell wakes the calls that wait for progress. mu is held.
func (x *Indexer) tell() {
	close(x.progress)
	x.progress = make(chan struct{})
}

// feed takes in the rows that are shown, then each new row, until ctx is done
// (nil) or the index fails.
func (x *Indexer) feed(ctx context.Context, at core.IndexPosition) error {
	fedKept := int64(unknownKept)
	backlog := false
	var pace pace
	for {
		kept := x.kept.Load()
		end, held := x.free(x.end())
		at.Seq = min(at.Seq, end.Seq) // an earlier run may have gone beyond a held record
		if back, rewound := x.beforeImports(at, end); rewound {
			at, fedKept = back, unknownKept
		}
		pace.look(time.Now(), end.Seq)
		if ok, _ := x.engine.Journal.Room(); !ok {
			if !pause(ctx, FullPause, nil) {
				return nil
			}
			continue
		}
		begin := time.Now()
		if fedKept != kept {
			if err := x.putKept(ctx, at, end.Seq); err != nil {
				return ended(ctx, err)
			}
			if !held {
				fedKept = kept
			}
		}
		at.Seq = end.Seq
		docs, upto, err := x.messages(at.Message, end.Message)
		if err != nil {
			return ended(ctx, err)
		}
		at.Message = upto
		if len(docs) > 0 {
			if err := x.index.Put(ctx, docs, at); err != nil {
				return ended(ctx, err)
			}
		}
		x.note(at, fedKept)
		more := at.Message < end.Message
		backlog = backlog || more
		if !x.rest(ctx, &pace, time.Since(begin), more, &backlog) {
			return nil
		}
	}
}

// beforeImports returns the position before the first gap that was revealed between at
// and end, and whether there is one. The position lies before at if rows behind the gap are
// in the index already. They are put again, which changes nothing. With the next Put the
// index itself goes back, so a crash before all is put repeats it.
func (x *Indexer) beforeImports(at, end core.IndexPosition) (back core.IndexPosition, rewound bool) {
	back = at
	for _, i := range x.view.Imports() {
		if i.Revealed > at.Seq && i.Revealed <= end.Seq {
			back.Message, back.Seq = min(back.Message, i.FromMessage-1), min(back.Seq, i.FromSeq-1)
			rewound = true
		}
	}
	return back, rewound
}

// ended returns err, or nil once ctx is done.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// rest waits between two batches. If no row is left it first waits for one.
// Then it waits as long as the pace asks, or until a search comes. It returns
// false once ctx is done.
func (x *Indexer) rest(ctx context.Context, p *pace, took time.Duration, more bool, backlog *bool) bool {
	if more {
		return pause(ctx, p.rest(took), x.hurry)
	}
	if !x.idle(ctx, backlog) {
		return false
	}
	p.look(time.Now(), x.end().Seq) // the quiet before does not count
	return pause(ctx, max(Gather, p.rest(took)), x.hurry)
}

// idle waits for something to do. It returns false once ctx is done. The memory
// that a backlog used is given back when nothing needs it.
func (x *Indexer) idle(ctx context.Context, backlog *bool) bool {
	var calm <-chan time.Time
	if *backlog {
		t := time.NewTimer(calmAfter)
		defer t.Stop()
		calm = t.C
	}
	for {
		select {
		case <-x.poked:
			return true
		case <-calm:
			*backlog = false
			debug.FreeOSMemory()
		case <-ctx.Done():
			return false
		}
	}
}

// pause waits for d, or until early or ctx is ready. It returns false if ctx is
// done.
func pause(ctx context.Context, d time.Duration, early <-chan struct{}) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-early:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}

// Await waits, at most for wait, until everything that was shown before the
// call is in the index, and returns how many rows are still missing. It also
// waits for the first opening of the index. Error: search_unavailable.
func (x *Indexer) Await(ctx context.Context, wait time.Duration) (behind int64, err error) {
	if x == nil {
		return 0, ErrUnavailable()
	}
	kept, end := x.kept.Load(), x.end()
	timeout := time.NewTimer(wait)
	defer timeout.Stop()
	for {
		x.mu.Lock()
		open, failed, progress := x.open, x.failed, x.progress
		behind = max(0, int64(end.Message-x.fed.Message)) + max(0, kept-x.fedKept)
		x.mu.Unlock()
		switch {
		case open && behind == 0:
			return 0, nil
		case failed:
			return 0, ErrUnavailable()
		}
		poke(x.hurry)
		poke(x.poked)
		select {
		case <-progress:
			continue
		case <-timeout.C:
		case <-ctx.Done():
		case <-x.engine.Ending:
		}
		if !open {
			return 0, ErrUnavailable()
		}
		return behind, nil
	}
}

// State reports whether the index is open, how many rows it has not taken in, and
// how long it needs for them, 0 if that is not known.
func (x *Indexer) State() (open bool, behind int64, left time.Duration) {
	if x == nil {
		return false, 0, 0
	}
	kept, end := x.kept.Load(), x.end()
	x.mu.Lock()
	defer x.mu.Unlock()
	behind = max(0, int64(end.Message-x.fed.Message)) + max(0, kept-x.fedKept)
	return x.open, behind, x.gain.left(behind)
}

// ErrUnavailable says that the hub cannot search.
func ErrUnavailable() error {
	return hub.NewError(hub.CodeSearchUnavailable, "the hub cannot search at the moment").
		WithRetryAfter(engine.RetryAfterSec).
		WithFix("repeat the call after the time in Retry-After; if it stays so, see the hub's log. Everything else works")
}

// messages returns the documents of the next messages behind after, and the id
// that the index goes up to with them.
func (x *Indexer) messages(after, head hub.MessageID) (docs []core.IndexDocument, upto hub.MessageID, err error) {
	upto = head
	size := 0
	var bad error
	add := func(m *core.StoredMessage) bool {
		var d core.IndexDocument
		if d, bad = messageDocument(m); bad != nil {
			return false
		}
		docs = append(docs, d)
		if size += len(d.Text); len(docs) < batch && size < batchBytes {
			return true
		}
		upto = m.ID
		return false
	}
	whole := true
	for id := after + 1; id <= head; id++ {
		m, ok := x.view.Ring.Get(id)
		if !ok { // the ring has no such row: ask the store
			whole = false
			break
		}
		if !add(m) {
			break
		}
		after = id
	}
	if !whole && bad == nil && upto == head {
		err = x.rows.Messages(core.Scope{Kind: core.ScopeAll}, after, head, false, add)
	}
	return docs, upto, errors.Join(err, bad)
}

// putKept takes in the decisions, artifacts and memories of the records behind
// at.Seq, up to upto. The position moves only afterward.
func (x *Indexer) putKept(ctx context.Context, at core.IndexPosition, upto hub.Seq) error {
	for _, table := range [maxIndexedTables]core.Table{core.TableDecision, core.TableArtifact, core.TableMemory} {
		var found []uint64
		err := x.rows.RowsOf(table, nil, true, func(key, _ []byte) bool {
			seq := hub.Seq(binary.BigEndian.Uint64(key))
			if seq > at.Seq && seq <= upto {
				found = append(found, uint64(seq))
			}
			return seq > at.Seq
		})
		if err != nil {
			return err
		}
		slices.Reverse(found)
		var docs []core.IndexDocument
		size := 0
		for i, n := range found {
			more, err := keptDocuments(x.view, x.rows, table, hub.Seq(n))
			if err != nil {
				return err
			}
			for _, d := range more {
				docs = append(docs, d)
				size += len(d.Text)
			}
			if len(docs) < batch && size < batchBytes && i < len(found)-1 {
				continue
			}
			if err := x.index.Put(ctx, docs, at); err != nil {
				return err
			}
			docs, size = nil, 0
		}
	}
	return nil
}

// free lowers the sequence number of a position below the first held record,
// and reports whether there is such a record.
func (x *Indexer) free(at core.IndexPosition) (core.IndexPosition, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, seq := range x.held {
		at.Seq = min(at.Seq, seq-1)
	}
	return at, len(x.held) > 0
}
