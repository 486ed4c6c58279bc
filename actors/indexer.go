package actors

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
	"hubcli/hub"
)

// How the index is fed. A batch is small, so that it takes little memory: one of
// a thousand rows saves a tenth of the time and takes 40 MB more. What comes one
// by one gathers first, since each batch is saved with several syncs and a search
// ends the wait.
const (
	indexBatch       = 250
	indexBatchBytes  = 64 << 10 // of text; one document may be larger
	indexGather      = time.Second
	indexCalm        = 2 * time.Second // until the engine has merged what it was given
	indexFullPause   = time.Second     // while the disk is full
	indexRetryFirst  = time.Second
	indexRetryLast   = 5 * time.Minute
	maxIndexedText   = 64 << 10 // bytes of an artifact, and of a message's attachments
	maxIndexedTables = 3

	// unknownKept stands for how many decisions, artifacts and memories are in
	// before it was looked: fewer than there are.
	unknownKept = -1
)

// indexer feeds the index behind the commits. It keeps no queue: what it has not
// taken in yet stands in the ring or in the store, and it knows how far it is. So
// it cannot grow, and a start after a crash is the same as falling behind.
//
// Invariants:
//  1. Only rows that are committed and shown are put.
//  2. Every message up to fed.Message and every decision, artifact and memory up
//     to fed.Seq is in the index whenever the index is open.
//  3. Documents are put under the ids of their rows, so that putting again
//     changes nothing.
type indexer struct {
	hub   *Hub
	index core.Index
	poked chan struct{} // something was shown; capacity 1
	hurry chan struct{} // a search waits; capacity 1
	kept  atomic.Int64  // decisions, artifacts and memories shown in this run

	mu       sync.Mutex
	open     bool
	failed   bool // it was closed, or could not be opened, and is not open since
	fed      core.IndexPosition
	fedKept  int64                  // how many of kept are in
	held     map[core.Owner]hub.Seq // records in doubt; see hold
	progress chan struct{}          // closed and replaced when something above changes
}

func newIndexer(h *Hub, x core.Index) *indexer {
	return &indexer{
		hub: h, index: x, poked: make(chan struct{}, 1), hurry: make(chan struct{}, 1),
		held: map[core.Owner]hub.Seq{}, progress: make(chan struct{}),
	}
}

// shown learns of a committed record, in the writer's turn: it never waits.
func (x *indexer) shown(r *core.Record, _ []core.Fact) {
	if x == nil {
		return
	}
	n := keptRows(r.Rows)
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

// serve feeds the index until quit is closed. An index that fails is closed and
// opened again, which makes a new one if it must; meanwhile searches answer
// search_unavailable and everything else goes on.
func (x *indexer) serve(quit <-chan struct{}) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	x.hub.engine.Tasks.Go(func() {
		<-quit
		cancel()
	})
	retry := indexRetryFirst
	for ctx.Err() == nil {
		at, err := x.index.Open(x.end())
		if err == nil {
			x.note(at, unknownKept)
			err = x.feed(ctx, at)
			if ctx.Err() == nil {
				retry = indexRetryFirst
			}
		}
		x.closed()
		if cerr := x.index.Close(); cerr != nil && err == nil {
			err = cerr
		}
		if ctx.Err() != nil {
			return
		}
		x.hub.log.LogAttrs(ctx, slog.LevelWarn, "search is not available", slog.Any("error", err), slog.Duration("retry", retry))
		pause(ctx, retry, nil)
		retry = min(2*retry, indexRetryLast)
	}
}

// end is how far the index can go now.
func (x *indexer) end() core.IndexPosition {
	seq := hub.Seq(x.hub.view.ShownSeq.Load()) // before the head: its messages are below that
	return core.IndexPosition{Message: x.hub.view.Ring.Visible(), Seq: seq}
}

// note publishes how far the index is.
func (x *indexer) note(fed core.IndexPosition, fedKept int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.open, x.failed, x.fed, x.fedKept = true, false, fed, fedKept
	x.tell()
}

// closed publishes that the index is not open any more, or could not be opened.
func (x *indexer) closed() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.open, x.failed, x.fed, x.fedKept = false, true, core.IndexPosition{}, 0
	x.tell()
}

// tell wakes who waits for progress. mu is held.
func (x *indexer) tell() {
	close(x.progress)
	x.progress = make(chan struct{})
}

// feed takes in what is shown, and then what comes, until ctx is done (nil) or
// the index fails.
func (x *indexer) feed(ctx context.Context, at core.IndexPosition) error {
	fedKept := int64(unknownKept)
	backlog := false
	var pace pace
	for {
		kept := x.kept.Load()
		end, held := x.free(x.end())
		at.Seq = min(at.Seq, end.Seq) // an earlier run has gone beyond what was in doubt
		pace.look(time.Now(), end.Seq)
		if ok, _ := x.hub.journal.Room(); !ok {
			if !pause(ctx, indexFullPause, nil) {
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

// ended is err, or nil once ctx is done.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// rest waits between two batches: for something to do, if nothing is left, and
// then for as long as the pace asks. A search ends it. False once ctx is done.
func (x *indexer) rest(ctx context.Context, p *pace, took time.Duration, more bool, backlog *bool) bool {
	if more {
		return pause(ctx, p.rest(took), x.hurry)
	}
	if !x.idle(ctx, backlog) {
		return false
	}
	p.look(time.Now(), x.end().Seq) // the quiet before does not count
	return pause(ctx, max(indexGather, p.rest(took)), x.hurry)
}

// idle waits for something to do; false once ctx is done. What memory a backlog
// has used is given back when it is of no use any more.
func (x *indexer) idle(ctx context.Context, backlog *bool) bool {
	var calm <-chan time.Time
	if *backlog {
		t := time.NewTimer(indexCalm)
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

// pause waits, but not once early or ctx is ready; false if that is ctx.
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

// await waits, at most for wait, until everything that was shown before the call
// is in the index, and returns how many rows are missing then.
// search_unavailable while the index cannot be opened; while it is opened for the
// first time that is waited for too.
func (x *indexer) await(ctx context.Context, wait time.Duration) (behind int64, err error) {
	if x == nil {
		return 0, errSearchUnavailable()
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
			return 0, errSearchUnavailable()
		}
		poke(x.hurry)
		poke(x.poked)
		select {
		case <-progress:
			continue
		case <-timeout.C:
		case <-ctx.Done():
		case <-x.hub.engine.Ending:
		}
		if !open {
			return 0, errSearchUnavailable()
		}
		return behind, nil
	}
}

// state says whether there is an index, and how many rows it has not taken in.
func (x *indexer) state() (open bool, behind int64) {
	if x == nil {
		return false, 0
	}
	kept, end := x.kept.Load(), x.end()
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.open, max(0, int64(end.Message-x.fed.Message)) + max(0, kept-x.fedKept)
}

func errSearchUnavailable() error {
	return hub.NewError(hub.CodeSearchUnavailable, "the hub cannot search at the moment").
		WithRetryAfter(engine.RetryAfterSec).
		WithFix("repeat the call after the time in Retry-After; if it stays so, see the hub's log. Everything else works")
}

// messages returns the documents of the next messages behind after, and the id
// that the index goes up to with them.
func (x *indexer) messages(after, head hub.MessageID) (docs []core.IndexDocument, upto hub.MessageID, err error) {
	upto = head
	size := 0
	var bad error
	add := func(m *core.StoredMessage) bool {
		var d core.IndexDocument
		if d, bad = messageDocument(m); bad != nil {
			return false
		}
		docs = append(docs, d)
		if size += len(d.Text); len(docs) < indexBatch && size < indexBatchBytes {
			return true
		}
		upto = m.ID
		return false
	}
	whole := true
	for id := after + 1; id <= head; id++ {
		m, ok := x.hub.view.Ring.Get(id)
		if !ok { // an older row, or none: the store knows
			whole = false
			break
		}
		if !add(m) {
			break
		}
		after = id
	}
	if !whole && bad == nil && upto == head {
		err = x.hub.rows.Messages(core.Scope{Kind: core.ScopeAll}, after, head, false, add)
	}
	return docs, upto, errors.Join(err, bad)
}

// putKept takes in the decisions, artifacts and memories of the records behind
// at.Seq, up to upto. The position moves only afterwards.
func (x *indexer) putKept(ctx context.Context, at core.IndexPosition, upto hub.Seq) error {
	for _, table := range [maxIndexedTables]core.Table{core.TableDecision, core.TableArtifact, core.TableMemory} {
		var found []uint64
		err := x.hub.rows.RowsOf(table, nil, true, func(key, _ []byte) bool {
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
			more, err := x.hub.keptDocuments(table, hub.Seq(n))
			if err != nil {
				return err
			}
			for _, d := range more {
				docs = append(docs, d)
				size += len(d.Text)
			}
			if len(docs) < indexBatch && size < indexBatchBytes && i < len(found)-1 {
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
