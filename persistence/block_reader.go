package persistence

import (
	"errors"

	"hubcli/persistence/codec"

	"github.com/dgraph-io/badger/v4"

	"hubcli/actors/core"
	"hubcli/hub"
)

// blockReader finds messages by id. It stays at the block of the last one, for
// ids that are asked for in a row tend to lie together.
type blockReader struct {
	it          *badger.Iterator // backward
	first, last hub.MessageID    // of the block at it; 0: at none
	mapped      *mapped
}

func newBlockReader(txn *badger.Txn, mapped *mapped) *blockReader {
	return &blockReader{it: iterate(txn, []byte(codec.PrefixMessage), true), mapped: mapped}
}

func (r *blockReader) close() { r.it.Close() }

// message returns the message with this id, or core.ErrNotFound.
func (r *blockReader) message(id hub.MessageID) (m core.StoredMessage, err error) {
	if id < 1 {
		return m, core.ErrNotFound
	}
	if r.first == 0 || id < r.first || id > r.last {
		r.first, r.last = 0, 0
		if r.it.Seek(codec.MessageKey(id)); !r.it.ValidForPrefix([]byte(codec.PrefixMessage)) {
			return m, core.ErrNotFound
		}
		r.mapped.reads(r.it.Item())
	}
	item := r.it.Item()
	valueErr := item.Value(func(b []byte) error {
		k, err := codec.DecodeBlock(item.Key(), b)
		if err != nil {
			return err
		}
		if r.first, r.last = k.First, k.Last(); id > r.last {
			return core.ErrNotFound
		}
		m, err = k.Message(id)
		return err
	})
	if errors.Is(valueErr, core.ErrNotFound) {
		return m, core.ErrNotFound
	}
	if valueErr != nil {
		return core.StoredMessage{}, damagedMessage(id)
	}
	return m, nil
}
