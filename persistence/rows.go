package persistence

import (
	"bytes"
	"errors"

	"github.com/dgraph-io/badger/v4"

	"hubcli/actors/core"
	"hubcli/hub"
)

// Message returns a row by its id, or core.ErrNotFound.
func (s *Store) Message(id hub.MessageID) (m core.StoredMessage, err error) {
	err = s.view(func(txn *badger.Txn) error {
		m, err = getMessage(txn, id)
		return err
	})
	return m, err
}

func getMessage(txn *badger.Txn, id hub.MessageID) (core.StoredMessage, error) {
	item, err := txn.Get(messageKey(id))
	if errors.Is(err, badger.ErrKeyNotFound) {
		return core.StoredMessage{}, core.ErrNotFound
	}
	if err != nil {
		return core.StoredMessage{}, damagedMessage(id)
	}
	return itemMessage(item, id)
}

// itemMessage decodes a message row under id. Its JSON is a copy.
func itemMessage(item *badger.Item, id hub.MessageID) (m core.StoredMessage, err error) {
	err = item.Value(func(b []byte) error {
		if m, err = decodeMessage(b); err == nil {
			m.JSON = bytes.Clone(m.JSON)
		}
		return err
	})
	if err != nil || m.ID != id {
		return core.StoredMessage{}, damagedMessage(id)
	}
	return m, nil
}

func damagedMessage(id hub.MessageID) error {
	return corruptRecord("a message", map[string]any{"message_id": id})
}

// Messages calls fn for the rows of scope with low < id <= upto until it returns
// false. What fn gets belongs to it.
func (s *Store) Messages(scope core.Scope, low, upto hub.MessageID, backward bool, fn func(*core.StoredMessage) bool) error {
	low, upto = max(low, 0), min(upto, hub.MaxMessageID)
	if low >= upto || !indexable(scope.Name) {
		return nil
	}
	var prefix []byte
	switch scope.Kind {
	case core.ScopeAll, core.ScopePublic:
		prefix = []byte(prefixMessage)
	case core.ScopeChannel:
		prefix = indexPrefix(prefixChannel, scope.Name)
	case core.ScopeThread:
		prefix = indexPrefix(prefixThread, scope.Name)
	case core.ScopeInbox:
		prefix = indexPrefix(prefixInbox, scope.Name)
	default:
		return hub.Errorf(hub.CodeInternal, "no messages are indexed by scope %d", scope.Kind)
	}
	return s.view(func(txn *badger.Txn) error {
		return messagesUnder(txn, prefix, low, upto, backward, fn)
	})
}

func messagesUnder(txn *badger.Txn, prefix []byte, low, upto hub.MessageID, backward bool, fn func(*core.StoredMessage) bool) error {
	it := iterate(txn, prefix, backward)
	defer it.Close()
	start := low + 1
	if backward {
		start = upto
	}
	for it.Seek(idKey(prefix, start)); it.ValidForPrefix(prefix); it.Next() {
		item := it.Item()
		n, ok := keyNumber(item.Key())
		if !ok || len(item.Key()) != len(prefix)+8 {
			return corruptRecord("an index entry", nil)
		}
		id := hub.MessageID(n)
		if id <= low || id > upto {
			return nil
		}
		m, err := core.StoredMessage{}, error(nil)
		if string(prefix) == prefixMessage {
			m, err = itemMessage(item, id)
		} else if m, err = getMessage(txn, id); errors.Is(err, core.ErrNotFound) {
			err = damagedMessage(id) // it is indexed, so it was there
		}
		if err != nil {
			return err
		}
		if !fn(&m) {
			return nil
		}
	}
	return nil
}

func idKey(prefix []byte, id hub.MessageID) []byte {
	return append(bytes.Clone(prefix), core.IDKey(id)...)
}

// Row returns the latest row of a table under key, or core.ErrNotFound.
func (s *Store) Row(t core.Table, key []byte) (value []byte, err error) {
	k := rowKey(t, key)
	err = s.view(func(txn *badger.Txn) error {
		item, err := txn.Get(k)
		if errors.Is(err, badger.ErrKeyNotFound) {
			return core.ErrNotFound
		}
		if err != nil {
			return damagedRow(t)
		}
		value, err = itemRow(item, k, t)
		return err
	})
	return value, err
}

func itemRow(item *badger.Item, key []byte, t core.Table) ([]byte, error) {
	b, err := item.ValueCopy(nil)
	if err == nil {
		b, err = decodeRow(key, b)
	}
	if err != nil {
		return nil, damagedRow(t)
	}
	return b, nil
}

func damagedRow(t core.Table) error {
	return corruptRecord("a row", map[string]any{"table": int(t)})
}

// RowsOf calls fn for the rows of a table whose key begins with prefix, in key
// order, until fn returns false. What fn gets belongs to it.
func (s *Store) RowsOf(t core.Table, prefix []byte, backward bool, fn func(key, value []byte) bool) error {
	head := len(rowKey(t, nil))
	full := rowKey(t, prefix)
	return s.view(func(txn *badger.Txn) error {
		it := iterate(txn, full, backward)
		defer it.Close()
		start := full
		if backward {
			// Seek ends at the first key at or below: nothing with the prefix
			// equals the key after it, unless it is the last of all.
			start = after(full)
		}
		it.Seek(start)
		if backward && it.Valid() && bytes.Equal(it.Item().Key(), start) {
			it.Next()
		}
		for ; it.ValidForPrefix(full); it.Next() {
			key := it.Item().KeyCopy(nil)
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
func (s *Store) Effect(scope [32]byte) (x *core.Effect, err error) {
	err = s.view(func(txn *badger.Txn) error {
		item, err := txn.Get(effectKey(scope))
		if errors.Is(err, badger.ErrKeyNotFound) {
			return core.ErrNotFound
		}
		var b []byte
		if err == nil {
			b, err = item.ValueCopy(nil)
		}
		if err == nil {
			x, err = decodeEffect(scope, b)
		}
		if err != nil {
			return corruptRecord("a kept answer", nil)
		}
		return nil
	})
	return x, err
}
