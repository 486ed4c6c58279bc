package actors

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"hubcli/actors/core"
	"hubcli/hub"
	"hubcli/persistence/conformance"
)

// memStore is a Journal and Rows in memory. What survives a crash is its disk,
// which can be cloned at any moment; beside it stand the ways in which a disk
// delays, fails and fills up.
type memStore struct {
	mu     sync.RWMutex
	disk   *disk
	broken error // set by a failed Append: none may follow
	closed bool

	delay    func() time.Duration   // slept in every Append, before it takes effect
	failAt   int                    // the Append, counted from 1, that fails; 0: none
	failHalf bool                   // the failing Append takes effect all the same
	appends  int                    // so far
	gate     chan struct{}          // if set, an Append takes effect after it is closed
	full     bool                   // Room says no
	noRoom   func() bool            // whether an Append or PutRows meets a full disk
	corrupt  map[hub.Seq]bool       // records that cannot be trusted
	lost     map[core.Table]error   // tables that cannot be read
	onAppend func(g *core.Group)    // called before an Append takes effect
	saved    []core.Checkpoint      // every checkpoint, in order
	putRows  func([]core.Row) error // called before PutRows takes effect
}

// disk is what a crash leaves.
type disk struct {
	head       core.Head
	first      hub.Seq // of records
	records    []*core.Record
	messages   []core.StoredMessage
	rows       map[core.Table]map[string][]byte
	effects    map[[32]byte]*core.Effect
	checkpoint *core.Checkpoint
}

func newDisk() *disk {
	return &disk{first: 1, rows: map[core.Table]map[string][]byte{}, effects: map[[32]byte]*core.Effect{}}
}

func newMemStore() *memStore { return &memStore{disk: newDisk()} }

// clone is the disk as a crash at this moment would leave it. Records, messages
// and values are never changed once they are stored, so they are shared.
func (s *memStore) clone() *disk {
	s.mu.RLock()
	defer s.mu.RUnlock()
	d := *s.disk
	d.records, d.messages = slices.Clone(d.records), slices.Clone(d.messages)
	d.rows = map[core.Table]map[string][]byte{}
	for t, rows := range s.disk.rows {
		d.rows[t] = maps.Clone(rows)
	}
	d.effects = maps.Clone(d.effects)
	return &d
}

// restarted is a store on the disk that a crash now would leave.
func (s *memStore) restarted() *memStore { return &memStore{disk: s.clone()} }

func (s *memStore) Head() core.Head {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.disk.head
}

var errDisk = errors.New("memstore: input/output error")

func (s *memStore) Append(g *core.Group) error {
	s.mu.Lock()
	s.appends++
	fails := s.appends == s.failAt
	delay, gate, before := s.delay, s.gate, s.onAppend
	s.mu.Unlock()
	if before != nil {
		before(g)
	}
	if delay != nil {
		time.Sleep(delay())
	}
	if gate != nil {
		<-gate
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return errors.New("memstore: closed")
	case s.broken != nil:
		return s.broken
	case s.noRoom != nil && s.noRoom():
		return core.ErrNoRoom
	case fails && !s.failHalf:
		s.broken = errDisk
		return errDisk
	}
	if err := s.disk.append(g); err != nil {
		s.broken = err
		return err
	}
	if fails {
		s.broken = errDisk
		return errDisk
	}
	return nil
}

// append stores a group if it follows what is stored.
func (d *disk) append(g *core.Group) error {
	head := d.head
	for _, r := range g.Records {
		if r.Seq != head.Seq+1 || r.FirstMessage != head.Message+1 || r.FirstFence != head.Fence+1 || r.MessageCount != len(r.Messages) {
			return fmt.Errorf("memstore: record %+v does not follow %+v", r.Position(), head)
		}
		for i := range r.Messages {
			if r.Messages[i].ID != r.Position().Message(i) {
				return fmt.Errorf("memstore: message %d of record %d has id %d", i, r.Seq, r.Messages[i].ID)
			}
		}
		head.Seq, head.HubMS = r.Seq, max(head.HubMS, r.HubMS)
		head.Message += hub.MessageID(r.MessageCount)
		head.Fence += hub.Fence(r.FenceCount)
	}
	d.head = head
	for _, r := range g.Records {
		kept := *r
		kept.Messages, kept.Rows, kept.Effect = nil, nil, nil
		d.records = append(d.records, &kept)
		d.messages = append(d.messages, r.Messages...)
		d.put(r.Rows)
		if r.Effect != nil {
			e := *r.Effect
			e.Answer = bytes.Clone(e.Answer)
			d.effects[e.Scope] = &e
		}
	}
	d.put(g.Rows)
	return nil
}

func (d *disk) put(rows []core.Row) {
	for _, r := range rows {
		if d.rows[r.Table] == nil {
			d.rows[r.Table] = map[string][]byte{}
		}
		d.rows[r.Table][string(r.Key)] = bytes.Clone(r.Value)
	}
}

func (s *memStore) Records(after hub.Seq, fn func(*core.Record) error) error {
	s.mu.RLock()
	records, first, closed := s.disk.records, s.disk.first, s.closed
	s.mu.RUnlock()
	if closed {
		return errors.New("memstore: closed")
	}
	if after+1 < first {
		return hub.Errorf(hub.CodeCorruptRecord, "record %d is missing", after+1)
	}
	for i := int(after + 1 - first); i < len(records); i++ {
		r := *records[i]
		if s.corrupt[r.Seq] {
			return hub.Errorf(hub.CodeCorruptRecord, "record %d cannot be trusted", r.Seq)
		}
		if err := fn(&r); err != nil {
			return err
		}
	}
	return nil
}

func (s *memStore) Room() (bool, int64) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.full {
		return false, 0
	}
	return true, 1 << 30
}

// written returns how many groups were appended.
func (s *memStore) written() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.appends
}

func (s *memStore) setFull(full bool) {
	s.mu.Lock()
	s.full = full
	s.mu.Unlock()
}

// setNoRoom has every write meet a full disk that Room did not tell of.
func (s *memStore) setNoRoom(is bool) {
	s.mu.Lock()
	s.noRoom = func() bool { return is }
	s.mu.Unlock()
}

func (s *memStore) setGate(gate chan struct{}) {
	s.mu.Lock()
	s.gate = gate
	s.mu.Unlock()
}

func (s *memStore) SaveCheckpoint(c *core.Checkpoint) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return errors.New("memstore: closed")
	case c.Head.Seq > s.disk.head.Seq:
		return errors.New("memstore: a checkpoint ahead of the journal")
	}
	kept := *c
	s.disk.checkpoint = &kept
	s.saved = append(s.saved, kept)
	return nil
}

// forgetRecords drops what the checkpoint makes needless, as a store may.
func (s *memStore) forgetRecords() {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.disk
	d.records = slices.Clone(d.records[d.checkpoint.Head.Seq+1-d.first:])
	d.first = d.checkpoint.Head.Seq + 1
}

func (s *memStore) Checkpoint() (*core.Checkpoint, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.disk.checkpoint == nil {
		return nil, core.ErrNotFound
	}
	c := *s.disk.checkpoint
	return &c, nil
}

func (s *memStore) PutRows(rows []core.Row) error {
	if s.putRows != nil {
		if err := s.putRows(rows); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return errors.New("memstore: closed")
	case s.noRoom != nil && s.noRoom():
		return core.ErrNoRoom
	}
	s.disk.put(rows)
	return nil
}

func (s *memStore) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	return nil
}

// readable returns an error once the store is closed. Call it with the lock.
func (s *memStore) readable() error {
	if s.closed {
		return errors.New("memstore: closed")
	}
	return nil
}

func ownBytes(m core.StoredMessage) core.StoredMessage {
	m.JSON = bytes.Clone(m.JSON)
	return m
}

func (s *memStore) Message(id hub.MessageID) (core.StoredMessage, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.readable(); err != nil {
		return core.StoredMessage{}, err
	}
	if id < 1 || id > hub.MessageID(len(s.disk.messages)) {
		return core.StoredMessage{}, core.ErrNotFound
	}
	return ownBytes(s.disk.messages[id-1]), nil
}

func (s *memStore) Messages(scope core.Scope, after, upto hub.MessageID, backward bool, fn func(*core.StoredMessage) bool) error {
	s.mu.RLock()
	all, err := s.disk.messages, s.readable()
	s.mu.RUnlock()
	if err != nil {
		return err
	}
	low, high := max(after, 0), min(upto, hub.MessageID(len(all)))
	for n := low; n < high; n++ {
		i := n
		if backward {
			i = high - 1 - (n - low)
		}
		if m := ownBytes(all[i]); inScope(scope, &m) && !fn(&m) {
			return nil
		}
	}
	return nil
}

func (s *memStore) Recipients(behind hub.AgentID, fn func(hub.AgentID) bool) error {
	s.mu.RLock()
	err := s.readable()
	to := map[hub.AgentID]bool{}
	for i := range s.disk.messages {
		to[s.disk.messages[i].To] = true
	}
	s.mu.RUnlock()
	if err != nil {
		return err
	}
	for _, agent := range slices.Sorted(maps.Keys(to)) {
		if agent > behind && !fn(agent) {
			return nil
		}
	}
	return nil
}

func inScope(s core.Scope, m *core.StoredMessage) bool {
	switch s.Kind {
	case core.ScopeChannel:
		return m.To == "" && string(m.Channel) == s.Name
	case core.ScopeThread:
		return string(m.Thread) == s.Name
	case core.ScopeInbox:
		return m.To != "" && string(m.To) == s.Name
	case core.ScopeAll, core.ScopePublic:
	}
	return true
}

func (s *memStore) Row(t core.Table, key []byte) ([]byte, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.readable(); err != nil {
		return nil, err
	}
	if err := s.lost[t]; err != nil {
		return nil, err
	}
	value, ok := s.disk.rows[t][string(key)]
	if !ok {
		return nil, core.ErrNotFound
	}
	return bytes.Clone(value), nil
}

func (s *memStore) RowsOf(t core.Table, prefix []byte, backward bool, fn func(key, value []byte) bool) error {
	return s.RowsBehind(t, prefix, nil, backward, fn)
}

func (s *memStore) RowsBehind(t core.Table, prefix, behind []byte, backward bool, fn func(key, value []byte) bool) error {
	s.mu.RLock()
	err := s.readable()
	var keys []string
	values := map[string][]byte{}
	for k, v := range s.disk.rows[t] {
		if behind != nil && (k == string(behind) || (k < string(behind)) != backward) {
			continue
		}
		if strings.HasPrefix(k, string(prefix)) {
			keys = append(keys, k)
			values[k] = v
		}
	}
	s.mu.RUnlock()
	if err != nil {
		return err
	}
	sort.Strings(keys)
	if backward {
		slices.Reverse(keys)
	}
	for _, k := range keys {
		if !fn([]byte(k), bytes.Clone(values[k])) {
			return nil
		}
	}
	return nil
}

func (s *memStore) Effect(scope [32]byte) (*core.Effect, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if err := s.readable(); err != nil {
		return nil, err
	}
	stored, ok := s.disk.effects[scope]
	if !ok {
		return nil, core.ErrNotFound
	}
	e := *stored
	e.Answer = bytes.Clone(e.Answer)
	return &e, nil
}

// Snapshot is a store of its own on a copy of the disk.
func (s *memStore) Snapshot() (core.Snapshot, error) {
	s.mu.RLock()
	err := s.readable()
	s.mu.RUnlock()
	if err != nil {
		return nil, err
	}
	return &memSnapshot{s.restarted()}, nil
}

type memSnapshot struct{ *memStore }

func (s *memSnapshot) Close() { _ = s.memStore.Close() }

// randomDelay is a seeded source of delays up to limit, safe for one appender.
func randomDelay(seed uint64, limit time.Duration) func() time.Duration {
	rng := rand.New(rand.NewPCG(seed, 1))
	return func() time.Duration { return time.Duration(rng.Int64N(int64(limit) + 1)) }
}

// The store of these tests keeps the laws that the real one keeps.
func TestMemStoreConforms(t *testing.T) {
	folders := map[string]*disk{}
	open := func(_ testing.TB, dir string) *memStore {
		if folders[dir] == nil {
			folders[dir] = newDisk()
		}
		return &memStore{disk: folders[dir]}
	}
	t.Run("journal", func(t *testing.T) {
		conformance.TestJournal(t, func(t testing.TB, dir string) conformance.Journal { return open(t, dir) })
	})
	t.Run("rows", func(t *testing.T) {
		conformance.TestRows(t, func(t testing.TB, dir string) conformance.Store { return open(t, dir) })
	})
}
