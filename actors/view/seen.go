package view

import (
	"container/list"
	"context"
	"errors"
	"hash/maphash"
	"log/slog"
	"sync"
	"time"

	"hubcli/actors/core"
	"hubcli/hub"
)

// What the cursors may take in memory, a shard, and when they are stored.
const (
	seenAgents = 256                    // agents
	seenNames  = 1024                   // channels with a cursor and answered messages, of all these agents
	seenLazy   = 100 * time.Millisecond // from a move to its row
	seenBatch  = 1 << 20                // bytes of rows in one commit
)

// SeenBook is a view of what agents have said to have seen: the highest since_id
// that each has polled with, by scope. It is kept lazily: a move is in memory at
// once and in the store a moment later, so that a poll never waits for the
// disk. Only the mark of what an agent was told of is stored before its call is
// answered. What a crash takes back shows some messages as unread once more; none is
// ever taken for seen that was not.
type SeenBook struct {
	journal core.Journal
	rows    core.Rows
	log     *slog.Logger
	seed    maphash.Seed
	shards  [16]seenShard
	moved   chan struct{} // something is to be stored; capacity 1
	storing sync.Mutex    // one commit at a time: a later one has later rows
}

// seenShard holds the agents that were asked for lately. All others are read
// from their rows.
type seenShard struct {
	mu     sync.Mutex
	agents map[hub.AgentID]*seenAgent
	order  *list.List // of *seenAgent, the longest unused first
	names  int        // channels with a cursor, and messages that were answered
}

type seenAgent struct {
	agent hub.AgentID
	seen  core.Seen
	moves uint64 // how often seen has changed
	kept  uint64 // of these moves, how many its row has
	place *list.Element
}

func newSeenBook(journal core.Journal, rows core.Rows, log *slog.Logger) *SeenBook {
	b := &SeenBook{journal: journal, rows: rows, log: log, seed: maphash.MakeSeed(), moved: make(chan struct{}, 1)}
	for i := range b.shards {
		b.shards[i].agents = map[hub.AgentID]*seenAgent{}
		b.shards[i].order = list.New()
	}
	return b
}

func (b *SeenBook) shard(agent hub.AgentID) *seenShard {
	return &b.shards[maphash.String(b.seed, string(agent))%uint64(len(b.shards))]
}

// find returns an agent's entry, read from its row if it is not at hand. A row
// that cannot be read is as one that was never stored. The shard is locked.
func (b *SeenBook) find(sh *seenShard, agent hub.AgentID) *seenAgent {
	if a := sh.agents[agent]; a != nil {
		sh.order.MoveToBack(a.place)
		return a
	}
	a := &seenAgent{agent: agent}
	value, err := b.rows.Row(core.TableSeen, []byte(agent))
	if err == nil {
		a.seen, err = core.DecodeSeen(value)
	}
	if err != nil && !errors.Is(err, core.ErrNotFound) {
		b.log.LogAttrs(context.Background(), slog.LevelWarn, "seen cursors not read; they begin anew",
			slog.String("agent", string(agent)), slog.Any("error", err))
		a.seen = core.Seen{}
	}
	a.place = sh.order.PushBack(a)
	sh.agents[agent] = a
	sh.names += a.seen.Size()
	sh.evict()
	return a
}

// evict keeps a shard within its budget. What is not stored yet stays, unless
// the store has not taken anything for long: then it is lost as in a crash.
func (sh *seenShard) evict() {
	for e := sh.order.Front(); e != nil && (len(sh.agents) > seenAgents || sh.names > seenNames); {
		a, next := e.Value.(*seenAgent), e.Next()
		hopeless := len(sh.agents) > 4*seenAgents || sh.names > 4*seenNames
		if next != nil && (a.moves == a.kept || hopeless) { // the last is in use
			sh.order.Remove(e)
			delete(sh.agents, a.agent)
			sh.names -= a.seen.Size()
		}
		e = next
	}
}

// Of returns how far an agent has seen.
func (b *SeenBook) Of(agent hub.AgentID) core.Seen {
	sh := b.shard(agent)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	return b.find(sh, agent).seen.Clone()
}

// move changes how far an agent has seen; it reports what change reports.
func (b *SeenBook) move(agent hub.AgentID, change func(*core.Seen) bool) bool {
	sh := b.shard(agent)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	a := b.find(sh, agent)
	before := a.seen.Size()
	moved := change(&a.seen)
	sh.names += a.seen.Size() - before
	if !moved {
		return false
	}
	a.moves++
	sh.evict()
	b.due()
	return true
}

// Tell moves the mark of what an agent has been told of. Of the calls that would
// move it to the same place one does; key, unless it is empty, tells a repetition
// of that call, which is answered as the call was.
func (b *SeenBook) Tell(agent hub.AgentID, to hub.MessageID, key string) hub.Told {
	sh := b.shard(agent)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	a := b.find(sh, agent)
	after, moved, repeated := a.seen.Tell(to, key)
	if moved && !repeated {
		a.moves++
		b.due()
	}
	return hub.Told{AgentID: agent, ToldID: a.seen.Told, AfterID: after, Moved: moved}
}

// Prove moves the mark up to which an agent was surely given what it was told of.
func (b *SeenBook) Prove(agent hub.AgentID, to hub.MessageID) (told hub.Told) {
	told.Moved = b.move(agent, func(s *core.Seen) bool {
		told = hub.Told{AgentID: agent, ToldID: s.Told, AfterID: s.ToldAfter}
		return s.Prove(to)
	})
	return told
}

// Untell takes back what an agent was told of up to an id and was not surely given.
func (b *SeenBook) Untell(agent hub.AgentID, to hub.MessageID) (told hub.Told) {
	told.Moved = b.move(agent, func(s *core.Seen) bool {
		told = hub.Told{AgentID: agent, ToldID: s.Told, AfterID: s.Told}
		moved := s.Untell(to)
		told.ToldID = s.Told
		return moved
	})
	return told
}

// due says that something is to be stored.
func (b *SeenBook) due() {
	select {
	case b.moved <- struct{}{}:
	default:
	}
}

// seenRow is the row of one agent, and which of its moves are in it.
type seenRow struct {
	agent *seenAgent
	moves uint64
	row   core.Row
}

// unkept returns the rows that are not stored yet.
func (b *SeenBook) unkept() (out []seenRow) {
	for i := range b.shards {
		sh := &b.shards[i]
		sh.mu.Lock()
		for _, a := range sh.agents {
			if a.moves != a.kept {
				row := core.Row{Table: core.TableSeen, Key: []byte(a.agent), Value: a.seen.Encode()}
				out = append(out, seenRow{agent: a, moves: a.moves, row: row})
			}
		}
		sh.mu.Unlock()
	}
	return out
}

// keep notes that rows are stored.
func (b *SeenBook) keep(rows []seenRow) {
	for _, r := range rows {
		sh := b.shard(r.agent.agent)
		sh.mu.Lock()
		r.agent.kept = r.moves
		sh.evict()
		sh.mu.Unlock()
	}
}

// Serve stores what has moved, some time after the first move and when the hub
// stops. When the disk is full it waits, and once failed is closed it stores nothing.
func (b *SeenBook) Serve(quit, failed <-chan struct{}) {
	defer b.Store(failed)
	for {
		select {
		case <-b.moved:
		case <-quit:
			return
		}
		lazily := time.NewTimer(seenLazy)
		select {
		case <-lazily.C:
		case <-quit:
			lazily.Stop()
			return
		}
		if !b.Store(failed) {
			b.due() // try again
		}
	}
}

// Store stores all that has moved; false if that was not possible.
func (b *SeenBook) Store(failed <-chan struct{}) bool {
	b.storing.Lock()
	defer b.storing.Unlock()
	select {
	case <-failed:
		return false
	default:
	}
	left := b.unkept()
	for len(left) > 0 {
		if ok, _ := b.journal.Room(); !ok {
			return false
		}
		n, size := 0, 0
		var rows []core.Row
		for ; n < len(left) && (n == 0 || size < seenBatch); n++ {
			rows = append(rows, left[n].row)
			size += len(left[n].row.Key) + len(left[n].row.Value)
		}
		if err := b.journal.PutRows(rows); err != nil {
			b.log.LogAttrs(context.Background(), slog.LevelWarn, "seen cursors not stored", slog.Any("error", err))
			return false
		}
		b.keep(left[:n])
		left = left[n:]
	}
	return true
}
