package actors

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"hubcli/actors/core"
	"hubcli/actors/index"
	"hubcli/hub"
	"hubcli/internal/pause"
)

// slowIndex stands in for an engine so that a batch takes time in a bubble. It
// remembers what it was given and when it was at work.
type slowIndex struct {
	opening time.Duration // of an Open
	took    time.Duration // of a Put
	fail    error         // of the next Put

	mu     sync.Mutex
	docs   map[uint64]bool // messages
	twice  int             // messages that were put again
	at     core.IndexPosition
	worked time.Duration
	last   time.Time     // when a Put ended
	gap    time.Duration // the longest time between two
	opens  int
}

var errEngine = errors.New("the engine fails")

func newSlowIndex(took time.Duration) *slowIndex {
	return &slowIndex{took: took, docs: map[uint64]bool{}}
}

func (x *slowIndex) Open(core.IndexPosition) (core.IndexPosition, error) {
	time.Sleep(x.opening)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.opens++
	return x.at, nil
}

func (x *slowIndex) Put(ctx context.Context, docs []core.IndexDocument, upto core.IndexPosition) error {
	pause.For(ctx, x.took)
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := x.fail; err != nil {
		x.fail = nil
		return err
	}
	for i := range docs {
		if x.docs[docs[i].Number] {
			x.twice++
		}
		x.docs[docs[i].Number] = true
	}
	x.at = upto
	x.worked += x.took
	if !x.last.IsZero() {
		x.gap = max(x.gap, time.Since(x.last))
	}
	x.last = time.Now()
	return nil
}

func (x *slowIndex) Find(context.Context, core.IndexQuery) ([]core.IndexHit, error) { return nil, nil }

func (x *slowIndex) Excerpt(string, string) (string, [][2]int) { return "", nil }
func (x *slowIndex) Close() error                              { return nil }

func (x *slowIndex) Documents() int64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	return int64(len(x.docs))
}

// counts returns how long it worked and the longest gap since the last call.
func (x *slowIndex) counts() (worked, gap time.Duration) {
	x.mu.Lock()
	defer x.mu.Unlock()
	worked, gap = x.worked, x.gap
	x.worked, x.gap, x.last = 0, 0, time.Now()
	return worked, gap
}

func withIndex(x core.Index) func(*Options) { return func(o *Options) { o.Index = x } }

// rush posts at a rate for a time.
func (r *rig) rush(perSecond int, d time.Duration) {
	tick := time.NewTicker(time.Second / time.Duration(perSecond))
	defer tick.Stop()
	for end := time.Now().Add(d); time.Now().Before(end); <-tick.C {
		r.say("ann", "", "x")
	}
}

// TestFeedingYieldsToPosts: while posts come in, the index takes no more than its
// share and makes progress all the same; once it is quiet it catches up; and a
// search does not wait for either.
func TestFeedingYieldsToPosts(t *testing.T) {
	const (
		took = 100 * time.Millisecond
		rush = 40 * time.Second
	)
	synctest.Test(t, func(t *testing.T) {
		x := newSlowIndex(took)
		r := start(t, newMemStore(), withIndex(x))
		r.rush(500, 5*time.Second)
		x.counts()
		r.rush(500, rush)
		worked, gap := x.counts()
		if worked > rush/30 {
			t.Errorf("the index worked %v in %v of posts", worked, rush)
		}
		if worked == 0 || gap > index.MaxRest+time.Second {
			t.Errorf("the index worked %v, and had no progress for %v", worked, gap)
		}
		if s := r.SearchStatus(); s.Behind < 5_000 {
			t.Fatalf("it is %d behind: posts were not in its way", s.Behind)
		}
		if _, err := r.Search(t.Context(), hub.SearchQuery{Text: "x", Limit: 1}); err != nil {
			t.Error(err)
		}
		if worked, _ := x.counts(); worked < searchFresh-2*took {
			t.Errorf("while a search waited it worked %v of %v", worked, searchFresh)
		}
		begin := time.Now()
		for r.SearchStatus().Behind > 0 {
			time.Sleep(took)
		}
		if quiet := time.Since(begin); quiet > index.MaxRest+10*time.Second {
			t.Errorf("it took %v of quiet to catch up", quiet)
		}
		r.stop()
	})
}

// TestSearchWaitsForWhatWasPosted: what comes one by one gathers, but not for a
// search.
func TestSearchWaitsForWhatWasPosted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newSlowIndex(time.Millisecond)
		r := start(t, newMemStore(), withIndex(x))
		for range 100 {
			r.say("ann", "", "x")
			begin := time.Now()
			page, err := r.Search(t.Context(), hub.SearchQuery{Text: "x", Limit: 1})
			if err != nil || page.Behind != 0 {
				t.Fatalf("%+v, %v", page, err)
			}
			if took := time.Since(begin); took > 20*time.Millisecond {
				t.Fatalf("it took %v", took)
			}
		}
		r.stop()
	})
}

// TestSearchWaitsForTheIndexToOpen: a search right after a start is not
// refused, unless opening takes long.
func TestSearchWaitsForTheIndexToOpen(t *testing.T) {
	search := func(opening time.Duration) (took time.Duration, err error) {
		synctest.Test(t, func(t *testing.T) {
			x := newSlowIndex(time.Millisecond)
			x.opening = opening
			r := start(t, newMemStore(), withIndex(x))
			r.say("ann", "", "x")
			begin := time.Now()
			_, err = r.Search(t.Context(), hub.SearchQuery{Text: "x", Limit: 1})
			took = time.Since(begin)
			time.Sleep(opening)
			r.stop()
		})
		return took, err
	}
	if took, err := search(100 * time.Millisecond); err != nil || took > 200*time.Millisecond {
		t.Errorf("opened in time: %v after %v", err, took)
	}
	took, err := search(10 * time.Second)
	wantCode(t, err, hub.CodeSearchUnavailable)
	if took != searchFresh {
		t.Errorf("opened too late: refused after %v", took)
	}
}

// TestFullDiskPausesFeeding: while the disk is full nothing is put, searches
// answer with what there is and say so, and feeding goes on afterwards.
func TestFullDiskPausesFeeding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newSlowIndex(time.Millisecond)
		store := newMemStore()
		r := start(t, store, withIndex(x))
		r.say("ann", "", "x")
		time.Sleep(2 * index.Gather)
		full := func(is bool) {
			store.mu.Lock()
			defer store.mu.Unlock()
			store.full = is
		}
		r.say("ann", "", "y")
		full(true)
		time.Sleep(time.Minute)
		if n := x.Documents(); n != 1 {
			t.Errorf("there are %d documents while the disk is full", n)
		}
		page, err := r.Search(t.Context(), hub.SearchQuery{Text: "y", Limit: 1})
		if err != nil || page.Behind != 1 {
			t.Errorf("a search while the disk is full: %+v, %v", page, err)
		}
		full(false)
		time.Sleep(2 * index.FullPause)
		if s := r.SearchStatus(); s.Behind != 0 || s.Documents != 2 {
			t.Errorf("after that: %+v", s)
		}
		r.stop()
	})
}

// TestFailedIndexIsOpenedAgain: searches are refused meanwhile, posts are not, and
// nothing is missed or put twice.
func TestFailedIndexIsOpenedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newSlowIndex(time.Millisecond)
		r := start(t, newMemStore(), withIndex(x))
		r.say("ann", "", "x")
		time.Sleep(2 * index.Gather)
		x.mu.Lock()
		x.fail = errEngine
		x.mu.Unlock()
		r.say("ann", "", "y")
		_, err := r.Search(t.Context(), hub.SearchQuery{Text: "y", Limit: 1})
		wantCode(t, err, hub.CodeSearchUnavailable)
		r.say("ann", "", "z")
		time.Sleep(2 * index.RetryFirst)
		if s := r.SearchStatus(); !s.Open || s.Behind != 0 || s.Documents != 3 || x.twice != 0 || x.opens != 2 {
			t.Errorf("after that: %+v, %d twice, opened %d times", s, x.twice, x.opens)
		}
		r.stop()
	})
}
