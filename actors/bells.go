package actors

import (
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"

	"hubcli/actors/core"
)

// bells wake who waits for a scope. A bell exists only while somebody listens,
// so a post to a scope that nobody waits for costs one look-up, and a waiter
// costs neither a query nor a timer tick until its bell rings.
type bells struct {
	seed   maphash.Seed
	shards [32]bellShard
	// listening counts the ears. Scopes that only ears listen to are not rung
	// while there is none.
	listening atomic.Int64
}

type bellShard struct {
	mu    sync.Mutex
	bells map[core.Scope]*bell
	ears  map[core.Scope][]*ear
	_     [32]byte // a cache line of its own
}

// bell is closed once, when something has come into its scope.
type bell struct {
	scope     core.Scope
	rung      chan struct{}
	listeners int
}

func newBells() *bells {
	b := &bells{seed: maphash.MakeSeed()}
	for i := range b.shards {
		b.shards[i].bells = map[core.Scope]*bell{}
		b.shards[i].ears = map[core.Scope][]*ear{}
	}
	return b
}

func (b *bells) shard(s core.Scope) *bellShard {
	return &b.shards[maphash.Comparable(b.seed, s)%uint64(len(b.shards))]
}

// listen returns the bell of scope. Whoever listens must do so before it looks
// at what is there, or it misses what comes in between; and must leave.
func (b *bells) listen(s core.Scope) *bell {
	sh := b.shard(s)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	l := sh.bells[s]
	if l == nil {
		l = &bell{scope: s, rung: make(chan struct{})}
		sh.bells[s] = l
	}
	l.listeners++
	return l
}

// channel returns what is closed when the bell rings; of no bell, never.
func (l *bell) channel() <-chan struct{} {
	if l == nil {
		return nil
	}
	return l.rung
}

// leave ends a listening. A bell that has rung is forgotten already; a thousand
// who wake at once do not queue for its lock.
func (b *bells) leave(l *bell) {
	select {
	case <-l.rung:
		return
	default:
	}
	sh := b.shard(l.scope)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if l.listeners--; l.listeners == 0 && sh.bells[l.scope] == l {
		delete(sh.bells, l.scope)
	}
}

// ring wakes everybody who listens to scope now.
func (b *bells) ring(s core.Scope) {
	sh := b.shard(s)
	sh.mu.Lock()
	l := sh.bells[s]
	delete(sh.bells, s)
	for _, e := range sh.ears[s] {
		e.poke()
	}
	sh.mu.Unlock()
	if l != nil {
		close(l.rung)
	}
}

// ear listens to any number of scopes for as long as it is open: it hears that
// something has rung, not what, and not how often.
type ear struct {
	scopes []core.Scope
	heard  chan struct{} // capacity 1
}

// open returns an ear for these scopes. Whoever looks after that misses nothing.
func (b *bells) open(scopes []core.Scope) *ear {
	e := &ear{scopes: scopes, heard: make(chan struct{}, 1)}
	b.listening.Add(1)
	for _, s := range scopes {
		sh := b.shard(s)
		sh.mu.Lock()
		sh.ears[s] = append(sh.ears[s], e)
		sh.mu.Unlock()
	}
	return e
}

// close ends the listening.
func (b *bells) close(e *ear) {
	for _, s := range e.scopes {
		sh := b.shard(s)
		sh.mu.Lock()
		if left := slices.DeleteFunc(sh.ears[s], func(o *ear) bool { return o == e }); len(left) > 0 {
			sh.ears[s] = left
		} else {
			delete(sh.ears, s)
		}
		sh.mu.Unlock()
	}
	b.listening.Add(-1)
}

// listeners returns how many bells and ears there are.
func (b *bells) listeners() (n int) {
	for i := range b.shards {
		sh := &b.shards[i]
		sh.mu.Lock()
		n += len(sh.bells) + len(sh.ears)
		sh.mu.Unlock()
	}
	return n
}

func (e *ear) poke() {
	select {
	case e.heard <- struct{}{}:
	default:
	}
}

// ringEars wakes the ears that listen to scope, at once and on the caller's
// goroutine: for what is not in the journal. Without ears it costs one load.
func (b *bells) ringEars(s func() core.Scope) {
	if b.listening.Load() > 0 {
		b.ring(s())
	}
}

// waker rings bells on a goroutine of its own, so that acknowledgements leave
// before a thousand waiters want the processor.
type waker struct {
	bells *bells
	mu    sync.Mutex
	due   map[core.Scope]struct{}
	spare map[core.Scope]struct{}
	poke  chan struct{}
	done  chan struct{}
	rang  func() // called after each round
}

func newWaker(b *bells, rang func()) *waker {
	w := &waker{
		bells: b, due: map[core.Scope]struct{}{}, spare: map[core.Scope]struct{}{},
		poke: make(chan struct{}, 1), done: make(chan struct{}), rang: rang,
	}
	return w
}

// add marks scopes that have something new.
func (w *waker) add(scopes []core.Scope) {
	if len(scopes) == 0 {
		return
	}
	w.mu.Lock()
	for _, s := range scopes {
		w.due[s] = struct{}{}
	}
	w.mu.Unlock()
	select {
	case w.poke <- struct{}{}:
	default:
	}
}

// serve rings until stop is closed and everything due has been rung.
func (w *waker) serve(stop <-chan struct{}) {
	defer close(w.done)
	for {
		select {
		case <-w.poke:
			w.ringDue()
		case <-stop:
			w.ringDue()
			return
		}
	}
}

func (w *waker) ringDue() {
	w.mu.Lock()
	due := w.due
	w.due, w.spare = w.spare, due
	w.mu.Unlock()
	for s := range due {
		w.bells.ring(s)
	}
	w.rang()
	clear(due) // spare until the next exchange, which only this goroutine makes
}
