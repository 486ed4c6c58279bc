package persistence

import (
	"bytes"
	"errors"
	"slices"

	"hubcli/persistence/codec"

	"github.com/dgraph-io/badger/v4"

	"hubcli/actors/core"
	"hubcli/hub"
)

// reads is core.Rows through the transactions that view gives: those of a store, each
// with everything that has been committed by then, or the one of a Snapshot.
type reads struct {
	view       func(fn func(*badger.Txn) error) error
	importGaps func() importGaps // what is out of sight; it is asked before view
	mapped     *mapped
}

// Message returns a row by its id, or core.ErrNotFound.
func (s *reads) Message(id hub.MessageID) (m core.StoredMessage, err error) {
	if s.importGaps().hidesMessage(id) {
		return m, core.ErrNotFound
	}
	err = s.view(func(txn *badger.Txn) error {
		r := newBlockReader(txn, s.mapped)
		defer r.close()
		m, err = r.message(id)
		return err
	})
	return m, err
}

func damagedMessage(id hub.MessageID) error {
	return codec.CorruptRecord("a message", map[string]any{"message_id": id})
}

// Messages calls fn for the rows of scope with low < id <= upto until it returns
// false. What fn gets belongs to it. ScopePublic has no imported messages.
func (s *reads) Messages(scope core.Scope, low, upto hub.MessageID, backward bool, fn func(*core.StoredMessage) bool) error {
	low, upto = max(low, 0), min(upto, hub.MaxMessageID)
	if low >= upto || !codec.Indexable(scope.Name) {
		return nil
	}
	var prefix []byte
	switch scope.Kind {
	case core.ScopeAll, core.ScopePublic:
		return s.messagesBeside(scope.Kind, low, upto, backward, fn)
	case core.ScopeChannel:
		prefix = codec.IndexPrefix(codec.PrefixChannel, scope.Name)
	case core.ScopeThread:
		prefix = codec.IndexPrefix(codec.PrefixThread, scope.Name)
	case core.ScopeInbox:
		prefix = codec.IndexPrefix(codec.PrefixInbox, scope.Name)
	default:
		return hub.Errorf(hub.CodeInternal, "no messages are indexed by scope %d", scope.Kind)
	}
	keep := fn
	if hidden := s.importGaps().anyHidden(); hidden != nil {
		keep = func(m *core.StoredMessage) bool { return hidden.hidesMessage(m.ID) || fn(m) }
	}
	return s.view(func(txn *badger.Txn) error {
		return messagesUnder(txn, s.mapped, prefix, low, upto, backward, keep)
	})
}

// messagesBeside walks the blocks beside gaps of imports: beside those that are hidden,
// and for ScopePublic beside all of them. It passes over a gap without reading it.
func (s *reads) messagesBeside(kind core.ScopeKind, low, upto hub.MessageID, backward bool, fn func(*core.StoredMessage) bool) error {
	parts := []span{{low, upto}}
	for _, g := range s.importGaps() {
		last := &parts[len(parts)-1]
		if (g.hidden || kind == core.ScopePublic) && g.FromMessage <= last.upto && g.UptoMessage > last.low {
			rest := span{g.UptoMessage, last.upto}
			last.upto = g.FromMessage - 1
			parts = append(parts, rest)
		}
	}
	if backward {
		slices.Reverse(parts)
	}
	more := true
	return s.view(func(txn *badger.Txn) error {
		for _, p := range parts {
			if !more || p.low >= p.upto {
				continue
			}
			err := allMessages(txn, s.mapped, p.low, p.upto, backward, func(m *core.StoredMessage) bool {
				more = fn(m)
				return more
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// span is the ids above low up to upto.
type span struct{ low, upto hub.MessageID }

// decodedAtOnce is how many messages of a block are decoded before they are
// handed out.
const decodedAtOnce = 64

// allMessages walks the blocks.
func allMessages(txn *badger.Txn, mapped *mapped, low, upto hub.MessageID, backward bool, fn func(*core.StoredMessage) bool) error {
	prefix := []byte(codec.PrefixMessage)
	it := iterate(txn, prefix, backward)
	defer it.Close()
	start := codec.MessageKey(upto)
	if !backward {
		start = floorKey(txn, prefix, low+1)
	}
	for it.Seek(start); it.ValidForPrefix(prefix); it.Next() {
		mapped.reads(it.Item())
		done, err := blockMessages(it.Item(), low, upto, backward, fn)
		if done || err != nil {
			return err
		}
	}
	return nil
}

// blockMessages calls fn for the messages of one block within the range. done
// says that fn wants no more or that the range ends here. While the bytes of a
// value are looked at, Badger holds a lock on their file that its writer needs
// now and then: fn, which may read itself, is called without it.
func blockMessages(item *badger.Item, low, upto hub.MessageID, backward bool, fn func(*core.StoredMessage) bool) (done bool, err error) {
	var batch []core.StoredMessage
	for skip := 0; ; skip += len(batch) {
		batch = batch[:0]
		more := false
		err := item.Value(func(b []byte) error {
			k, err := codec.DecodeBlock(item.Key(), b)
			if err != nil {
				return damagedBlock(item.Key())
			}
			done = backward && k.First <= low+1 || !backward && k.Last() >= upto
			first, last := max(k.First, low+1), min(k.Last(), upto)
			n := int(max(0, last-first+1))
			for i := skip; i < n && len(batch) < decodedAtOnce; i++ {
				id := first + hub.MessageID(i)
				if backward {
					id = last - hub.MessageID(i)
				}
				m, err := k.Message(id)
				if err != nil {
					return damagedMessage(id)
				}
				batch = append(batch, m)
			}
			more = skip+len(batch) < n
			return nil
		})
		for i := range batch { // those before a damaged one, too
			if !fn(&batch[i]) {
				return true, nil
			}
		}
		if err != nil || !more {
			return done, asDamage(err, item.Key())
		}
	}
}

// asDamage gives an error of Badger's own over a value the form of the others.
func asDamage(err error, key []byte) error {
	var known *hub.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	return damagedBlock(key)
}

func damagedBlock(key []byte) error {
	first, _ := codec.KeyNumber(key)
	return codec.CorruptRecord("messages", map[string]any{"first_message_id": first})
}

// messagesUnder walks the entries of one scope's index.
func messagesUnder(txn *badger.Txn, mapped *mapped, prefix []byte, low, upto hub.MessageID, backward bool, fn func(*core.StoredMessage) bool) error {
	it := iterate(txn, prefix, backward)
	defer it.Close()
	blocks := newBlockReader(txn, mapped)
	defer blocks.close()
	start := idKey(prefix, upto)
	if !backward {
		start = floorKey(txn, prefix, low+1)
	}
	var ids []hub.MessageID
	for it.Seek(start); it.ValidForPrefix(prefix); it.Next() {
		item := it.Item()
		mapped.reads(item)
		err := item.Value(func(b []byte) (err error) {
			if len(item.Key()) != len(prefix)+8 {
				return codec.ErrDamaged
			}
			ids, err = codec.DecodeIndex(item.Key(), b, ids[:0])
			return err
		})
		if err != nil {
			return codec.CorruptRecord("an index entry", nil)
		}
		if backward {
			slices.Reverse(ids)
		}
		for _, id := range ids {
			if id <= low || id > upto {
				if backward == (id <= low) {
					return nil
				}
				continue
			}
			m, err := blocks.message(id)
			if errors.Is(err, core.ErrNotFound) {
				err = damagedMessage(id) // it is indexed, so it was there
			}
			if err != nil {
				return err
			}
			if !fn(&m) {
				return nil
			}
		}
	}
	return nil
}

// Recipients calls fn with the names of the index of direct messages, each once and in their
// order, behind a name, until fn returns false.
func (s *reads) Recipients(behind hub.AgentID, fn func(hub.AgentID) bool) error {
	prefix := []byte(codec.PrefixInbox)
	start := prefix
	if behind != "" {
		start = codec.After(codec.IndexPrefix(codec.PrefixInbox, string(behind)))
	}
	return s.view(func(txn *badger.Txn) error {
		it := iterate(txn, prefix, false)
		defer it.Close()
		for it.Seek(start); it.ValidForPrefix(prefix); {
			name := it.Item().Key()[len(prefix):]
			end := bytes.IndexByte(name, codec.NameEnd)
			if end < 0 {
				return codec.CorruptRecord("an index entry", nil)
			}
			to := string(name[:end])
			if !fn(hub.AgentID(to)) {
				return nil
			}
			it.Seek(codec.After(codec.IndexPrefix(codec.PrefixInbox, to)))
		}
		return nil
	})
}

// floorKey returns the key of the entry that may hold id: the last one under
// prefix whose number is not above it, or the key of id itself.
func floorKey(txn *badger.Txn, prefix []byte, id hub.MessageID) []byte {
	it := iterate(txn, prefix, true)
	defer it.Close()
	key := idKey(prefix, id)
	if it.Seek(key); it.ValidForPrefix(prefix) {
		return it.Item().KeyCopy(nil)
	}
	return key
}

func idKey(prefix []byte, id hub.MessageID) []byte {
	return append(bytes.Clone(prefix), core.IDKey(id)...)
}

// Row returns the latest row of a table under key, or core.ErrNotFound.
func (s *reads) Row(t core.Table, key []byte) (value []byte, err error) {
	if s.importGaps().hidesRow(t, key) {
		return nil, core.ErrNotFound
	}
	k := codec.RowKey(t, key)
	err = s.view(func(txn *badger.Txn) error {
		item, err := txn.Get(k)
		if errors.Is(err, badger.ErrKeyNotFound) {
			return core.ErrNotFound
		}
		if err != nil {
			return damagedRow(t)
		}
		s.mapped.reads(item)
		value, err = itemRow(item, k, t)
		return err
	})
	return value, err
}

func itemRow(item *badger.Item, key []byte, t core.Table) ([]byte, error) {
	b, err := item.ValueCopy(nil)
	if err == nil {
		b, err = codec.DecodeRow(key, b)
	}
	if err != nil {
		return nil, damagedRow(t)
	}
	return b, nil
}

func damagedRow(t core.Table) error {
	return codec.CorruptRecord("a row", map[string]any{"table": int(t)})
}

// RowsOf calls fn for the rows of a table whose key begins with prefix, in key
// order, until fn returns false. What fn gets belongs to it.
func (s *reads) RowsOf(t core.Table, prefix []byte, backward bool, fn func(key, value []byte) bool) error {
	return s.RowsBehind(t, prefix, nil, backward, fn)
}

// RowsBehind is RowsOf from the first key behind a key of the table on, in the
// direction of the walk; nil is the beginning. What lies before costs nothing.
func (s *reads) RowsBehind(t core.Table, prefix, behind []byte, backward bool, fn func(key, value []byte) bool) error {
	head := len(codec.RowKey(t, nil))
	full := codec.RowKey(t, prefix)
	hidden := s.importGaps().anyHidden()
	return s.view(func(txn *badger.Txn) error {
		it := iterate(txn, full, backward)
		defer it.Close()
		start, skip := full, backward
		if backward {
			// Seek ends at the first key at or below: nothing with the prefix
			// equals the key after it, unless it is the last of all.
			start = codec.After(full)
		}
		if behind != nil {
			if from := codec.RowKey(t, behind); bytes.Compare(from, start) < 0 == backward {
				start, skip = from, true
			}
		}
		it.Seek(start)
		if skip && it.Valid() && bytes.Equal(it.Item().Key(), start) {
			it.Next()
		}
		for ; it.ValidForPrefix(full); it.Next() {
			key := it.Item().KeyCopy(nil)
			if hidden.hidesRow(t, key[head:]) {
				continue
			}
			s.mapped.reads(it.Item())
			value, err := itemRow(it.Item(), key, t)
			if err != nil {
				return err
			}
			if !fn(key[head:], value) {
				return nil
			}
		}
		return nil
	})
}

// Effect returns the stored answer under an idempotency scope while it is kept,
// or core.ErrNotFound.
func (s *reads) Effect(scope [32]byte) (x *core.Effect, err error) {
	err = s.view(func(txn *badger.Txn) error {
		item, err := txn.Get(codec.EffectKey(scope))
		if errors.Is(err, badger.ErrKeyNotFound) {
			return core.ErrNotFound
		}
		var b []byte
		if err == nil {
			s.mapped.reads(item)
			b, err = item.ValueCopy(nil)
		}
		if err == nil {
			x, err = codec.DecodeEffect(scope, b)
		}
		if err != nil {
			return codec.CorruptRecord("a kept answer", nil)
		}
		return nil
	})
	return x, err
}
