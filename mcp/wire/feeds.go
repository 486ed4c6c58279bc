package wire

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"hubcli/hub"
)

// Feed names what polls read one after the other: each has a cursor of its own.
type Feed struct {
	agent  hub.AgentID
	scope  string
	thread hub.ThreadID
}

// FeedOf names the feed that a query reads.
func FeedOf(q *hub.EventsQuery) Feed {
	var scope strings.Builder
	scope.WriteString(string(q.RoomID))
	for _, name := range q.Channels {
		scope.WriteString("\n" + string(name))
	}
	return Feed{agent: q.Agent, scope: scope.String(), thread: q.ThreadID}
}

// parts returns the room and the channels that a feed is of; neither is all.
func (f Feed) parts() (room hub.RoomID, channels []hub.ChannelName) {
	names := strings.Split(f.scope, "\n")
	for _, name := range names[1:] {
		channels = append(channels, hub.ChannelName(name))
	}
	return hub.RoomID(names[0]), channels
}

const (
	// undoneFor is how long after its answer a poll may be cancelled: the client that
	// cancels ignores an answer that has crossed its cancellation.
	undoneFor = 10 * time.Second
	// AckDelay is how long after an answer the hub is not yet told that its rows were
	// read: a client may send its next call before it cancels the last one.
	AckDelay = time.Second
)

// Feeds holds how far the agent has been given each feed.
//
// A poll stages the rows that it is about to return. The cursor moves when the answer
// is on its way to the client. It does not move if the answer is an error or its
// request was cancelled, and it moves back if the cancellation crosses the answer. It
// stays where another answer had the rows too: a client may poll again before its
// cancellation is here.
//
// The hub hears of a cursor from a later poll or from the bridge itself, and only
// AckDelay after the answer was written whole. If the client dies before that, the
// hub still counts the rows of that answer as unread.
//
// No cursor is forgotten before the store changes: a feed without one would lose rows
// or repeat them. Each feed costs the model a call, so a bridge holds a few dozen.
//
// Feeds is safe for concurrent use. NewFeeds makes one.
type Feeds struct {
	AckDelay time.Duration // see the constant
	// LateCancels reports whether the client cancels each request after its answer, as a
	// habit; nil: it is not known to.
	LateCancels func() bool
	now         func() time.Time
	Written     chan struct{} // of capacity 1: an answer that moves a cursor has been written

	mu     sync.Mutex
	at     map[Feed]hub.MessageID // the cursors: how far the answers reach from base on
	base   map[Feed]hub.MessageID // up to where no cancellation can take anything back
	told   map[Feed]hub.MessageID // what the hub has heard; back in Again alone
	from   map[Feed]hub.MessageID // where the feeds began
	staged map[RequestSeq]move    // of requests that have no answer yet
	moved  []move                 // lately, the oldest first
	undone chan struct{}          // closed when a cursor goes back; nil: nobody waits for it
}

// move is what the answer to a poll does to the cursor of its feed.
type move struct {
	feed          Feed
	since, cursor hub.MessageID // the rows behind since up to cursor are in the answer
	id            jsonrpc.ID    // of the request
	seq           RequestSeq    // of the request
	when          time.Time     // the answer was given
	written       time.Time     // the answer was, whole; zero: not yet
}

// NewFeeds returns the feeds of a bridge that has read nothing.
func NewFeeds() *Feeds {
	return &Feeds{AckDelay: AckDelay, now: time.Now, Written: make(chan struct{}, 1)}
}

// Known returns the cursor of a feed.
func (f *Feeds) Known(of Feed) (hub.MessageID, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	at, ok := f.at[of]
	return at, ok
}

// Start sets the cursor of a feed that has none, and returns the one it has.
func (f *Feeds) Start(of Feed, at hub.MessageID) hub.MessageID {
	f.mu.Lock()
	defer f.mu.Unlock()
	if has, ok := f.at[of]; ok {
		return has
	}
	if f.at == nil {
		f.at, f.base = map[Feed]hub.MessageID{}, map[Feed]hub.MessageID{}
		f.told, f.from = map[Feed]hub.MessageID{}, map[Feed]hub.MessageID{}
	}
	f.at[of], f.base[of], f.told[of], f.from[of] = at, at, at, at // what no answer has brought is not the bridge's to tell
	return at
}

// Begin returns the cursor of a feed, and whether the hub may be told that all up to
// it has been heard; undone is closed when a cursor goes back.
func (f *Feeds) Begin(of Feed) (at hub.MessageID, heard, ok bool, undone <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.undone == nil {
		f.undone = make(chan struct{})
	}
	at, ok = f.at[of]
	return at, f.sure(of) == at, ok, f.undone
}

// sure returns up to where all of a feed was in answers that no cancellation can
// cross any more. The lock is held.
func (f *Feeds) sure(of Feed) hub.MessageID {
	return f.reach(of, func(m *move) bool { return !m.written.IsZero() && f.now().Sub(m.written) >= f.AckDelay })
}

// reach returns up to where the rows of a feed are in answers, without a gap. It counts
// those that count. The lock is held.
func (f *Feeds) reach(of Feed, counts func(*move) bool) hub.MessageID {
	at := f.base[of]
	for {
		i := slices.IndexFunc(f.moved, func(m move) bool { return m.feed == of && m.since <= at && at < m.cursor && counts(&m) })
		if i < 0 {
			return at
		}
		at = f.moved[i].cursor
	}
}

// Place is how far a feed was given.
type place struct {
	Feed Feed
	At   hub.MessageID
}

// query is the look by which the hub hears that all up to a place was given: that of
// a poll which goes on behind it.
func (p place) Query() hub.EventsQuery {
	room, channels := p.Feed.parts()
	return hub.EventsQuery{
		Agent: p.Feed.agent, RoomID: room, Channels: channels, Since: p.At, ExcludeSelf: true, Limit: 1,
	}
}

// Untold returns what is sure of the agent's feeds and the hub has not heard, and
// whether there is more that is not sure yet. Of a thread the hub hears nothing: it
// leaves out most of what there is.
func (f *Feeds) Untold(agent hub.AgentID) (list []place, more bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for of, at := range f.at {
		if of.agent != agent || of.thread != "" {
			continue
		}
		sure := f.sure(of)
		if more = more || sure < at; sure > f.told[of] {
			list = append(list, place{of, sure})
		}
	}
	return list, more
}

// Tell notes that the hub has heard up to where a feed was given.
func (f *Feeds) Tell(of Feed, at hub.MessageID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.told != nil { // else the hub has another store by now
		f.told[of] = max(f.told[of], at)
	}
}

// Again has the hub told once more of all that it has heard: it was away, and a crash takes back
// what it heard last.
func (f *Feeds) Again() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for of, at := range f.from {
		f.told[of] = at
	}
	f.news()
}

// news says that there is something to tell the hub.
func (f *Feeds) news() {
	select {
	case f.Written <- struct{}{}:
	default: // the last notification is still pending
	}
}

// Stage notes that the answer to a request is going to hold the rows behind since up
// to cursor.
func (f *Feeds) Stage(request RequestSeq, of Feed, since, cursor hub.MessageID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.staged == nil {
		f.staged = map[RequestSeq]move{}
	}
	f.staged[request] = move{feed: of, since: since, cursor: cursor, seq: request}
}

// Delivered takes what is staged as delivered, because its answers were written whole to a client that cannot take them
// back, and returns the looks by which the hub hears of it. Rows behind a gap are left out, and so is a thread.
func (f *Feeds) Delivered() (looks []hub.EventsQuery) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range f.staged {
		if at, known := f.at[m.feed]; known && m.feed.thread == "" && m.since <= at && m.cursor > at {
			looks = append(looks, place{m.feed, m.cursor}.Query())
		}
	}
	f.staged = nil
	return looks
}

// drop forgets what was staged for a request that will not be answered.
func (f *Feeds) drop(request RequestSeq) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.staged, request)
}

// give moves the cursor as was staged for a request whose answer is about to be
// written. It does not move over rows that are in no answer, nor in another store.
func (f *Feeds) give(request RequestSeq, id jsonrpc.ID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	m, ok := f.staged[request]
	delete(f.staged, request)
	if _, known := f.at[m.feed]; !ok || !known || m.cursor <= m.since {
		return
	}
	m.id, m.when = id, f.now()
	f.keep(m.feed)
	f.moved = append(f.moved, m)
	f.at[m.feed] = f.reach(m.feed, all)
}

func all(*move) bool { return true }

// keep forgets the answers of a feed that can be taken back no more, and goes on from
// where they reach. The lock is held.
func (f *Feeds) keep(of Feed) {
	old := func(m *move) bool { return !m.written.IsZero() && f.now().Sub(m.when) > undoneFor }
	f.base[of] = f.reach(of, old)
	f.moved = slices.DeleteFunc(f.moved, func(m move) bool { return m.feed == of && m.cursor <= f.base[of] && old(&m) })
}

// settle notes that the answer to a request has been written, or could not be: then
// what it moved is taken back.
func (f *Feeds) settle(request RequestSeq, written bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := slices.IndexFunc(f.moved, func(m move) bool { return m.seq == request })
	switch {
	case i < 0:
	case written:
		f.moved[i].written = f.now()
		f.news()
	default:
		f.back(i)
	}
}

// undo takes back what the answer to a request moved: it has crossed the
// cancellation of the request. If it did arrive, its rows come twice, unless another
// answer has them.
func (f *Feeds) undo(id jsonrpc.ID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, m := range slices.Backward(f.moved) {
		if m.id == id && f.now().Sub(m.when) <= undoneFor {
			f.back(i)
			return
		}
	}
}

// back takes one move back. The lock is held.
func (f *Feeds) back(i int) {
	of := f.moved[i].feed
	f.moved = slices.Delete(f.moved, i, i+1)
	at := f.reach(of, all)
	if at < f.at[of] && f.undone != nil {
		close(f.undone)
		f.undone = nil
	}
	f.at[of] = at
}

// Forget begins anew: the hub has another store, whose messages have other ids.
func (f *Feeds) Forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at, f.base, f.told, f.from, f.moved, f.staged = nil, nil, nil, nil, nil, nil
}
