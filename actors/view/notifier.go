package view

import (
	"hash/maphash"
	"sync"
	"sync/atomic"

	"hubcli/actors/core"
)

// Notifier wakes the calls that wait for a scope. A post to a scope that no call
// waits for costs one look-up, and a call that waits costs neither a query nor a
// timer tick until its scope has something new.
type Notifier struct {
	seed   maphash.Seed
	shards [32]notifierShard
	// watching counts the subscriptions to scopes of watches. While there is none,
	// those scopes are not notified.
	watching atomic.Int64
}

type notifierShard struct {
	mu     sync.Mutex
	scopes map[core.Scope][]listener
	_      [40]byte // a cache line of its own
}

// listener is one scope of a subscription.
type listener struct {
	sub *Subscription
	at  int // index of the scope in sub.scopes
}

// Subscription is to any number of scopes until it is closed. It tells that
// something is new in one of them, not what and not how often.
type Subscription struct {
	notifier *Notifier
	scopes   []core.Scope
	places   []int // of each scope, where it stands among the listeners; guarded by the scope's shard
	// C receives when something is new. Its capacity is 1.
	C chan struct{}
}

func newNotifier() *Notifier {
	n := &Notifier{seed: maphash.MakeSeed()}
	for i := range n.shards {
		n.shards[i].scopes = map[core.Scope][]listener{}
	}
	return n
}

func (n *Notifier) shard(s core.Scope) *notifierShard {
	return &n.shards[maphash.Comparable(n.seed, s)%uint64(len(n.shards))]
}

// Subscribe returns a subscription to these scopes, which must differ and must not
// be changed. A call must subscribe before it looks at what is there, or it misses
// what comes in between.
func (n *Notifier) Subscribe(scopes []core.Scope) *Subscription {
	sub := &Subscription{notifier: n, scopes: scopes, places: make([]int, len(scopes)), C: make(chan struct{}, 1)}
	if watches(scopes) {
		n.watching.Add(1)
	}
	for i, s := range scopes {
		sh := n.shard(s)
		sh.mu.Lock()
		sub.places[i] = len(sh.scopes[s])
		sh.scopes[s] = append(sh.scopes[s], listener{sub, i})
		sh.mu.Unlock()
	}
	return sub
}

// Close ends the subscription. It costs the same however many others listen.
func (sub *Subscription) Close() {
	for i, s := range sub.scopes {
		sh := sub.notifier.shard(s)
		sh.mu.Lock()
		all, at := sh.scopes[s], sub.places[i]
		last := all[len(all)-1]
		all[at] = last
		last.sub.places[last.at] = at
		all[len(all)-1] = listener{}
		if len(all) > 1 {
			sh.scopes[s] = all[:len(all)-1]
		} else {
			delete(sh.scopes, s)
		}
		sh.mu.Unlock()
	}
	if watches(sub.scopes) {
		sub.notifier.watching.Add(-1)
	}
}

// watches reports whether any of the scopes is one that only watches listen to.
func watches(scopes []core.Scope) bool {
	for _, s := range scopes {
		switch s.Kind {
		case scopeTask, scopeRun, scopePresence, scopeReady:
			return true
		default:
		}
	}
	return false
}

// Notify wakes all calls that wait for a scope. It wakes them without the lock,
// which they take next, to close.
func (n *Notifier) Notify(s core.Scope) {
	sh := n.shard(s)
	sh.mu.Lock()
	var few [8]*Subscription
	subs := few[:0]
	for _, l := range sh.scopes[s] {
		subs = append(subs, l.sub)
	}
	sh.mu.Unlock()
	for _, sub := range subs {
		sub.wake()
	}
}

func (sub *Subscription) wake() {
	select {
	case sub.C <- struct{}{}:
	default:
	}
}

// notifyWatches notifies a scope that only watches subscribe to, at once and on the
// caller's goroutine. It is for changes that are not in the journal. Without watches it
// costs one atomic load.
func (n *Notifier) notifyWatches(s func() core.Scope) {
	if n.watching.Load() > 0 {
		n.Notify(s())
	}
}

// subscriptions returns how many scopes are listened to.
func (n *Notifier) subscriptions() (count int) {
	for i := range n.shards {
		sh := &n.shards[i]
		sh.mu.Lock()
		count += len(sh.scopes)
		sh.mu.Unlock()
	}
	return count
}

// Waker notifies on a goroutine of its own, so that acknowledgements leave before a
// thousand calls want the processor.
type Waker struct {
	notifier *Notifier
	mu       sync.Mutex
	due      map[core.Scope]struct{}
	spare    map[core.Scope]struct{}
	some     chan struct{} // something is due; capacity 1
	done     chan struct{}
	round    func()
}

// NewWaker returns a waker. round is called after each round of notifications.
func NewWaker(n *Notifier, round func()) *Waker {
	return &Waker{
		notifier: n, due: map[core.Scope]struct{}{}, spare: map[core.Scope]struct{}{},
		some: make(chan struct{}, 1), done: make(chan struct{}), round: round,
	}
}

// Add marks scopes that have something new. It does not wait.
func (w *Waker) Add(scopes []core.Scope) {
	if len(scopes) == 0 {
		return
	}
	w.mu.Lock()
	for _, s := range scopes {
		w.due[s] = struct{}{}
	}
	w.mu.Unlock()
	select {
	case w.some <- struct{}{}:
	default:
	}
}

// Serve notifies until stop is closed and nothing is due any more.
func (w *Waker) Serve(stop <-chan struct{}) {
	defer close(w.done)
	for {
		select {
		case <-w.some:
			w.notifyDue()
		case <-stop:
			w.notifyDue()
			return
		}
	}
}

// Done is closed when Serve has returned.
func (w *Waker) Done() <-chan struct{} { return w.done }

func (w *Waker) notifyDue() {
	w.mu.Lock()
	due := w.due
	w.due, w.spare = w.spare, due
	w.mu.Unlock()
	for s := range due {
		w.notifier.Notify(s)
	}
	w.round()
	clear(due) // spare until the next exchange, which only this goroutine makes
}
