package persistence

import (
	"bytes"
	"encoding/binary"
	"errors"

	"github.com/dgraph-io/badger/v4"

	"hubcli/actors/core"
	"hubcli/hub"
)

// The messages of a group are stored together, in blocks, and each scope's index
// has one entry a group, not one a message: Badger's price is per key, and a
// profile of 64 posting agents showed more than half of the hub's time in it. A
// block of one small message also stays below valueThreshold, so that a lone post
// syncs one file rather than two.

// maxBlock is where a block is cut, in bytes; one message may be larger.
const maxBlock = 1 << 20

// messageBlock collects the messages of a block as they are encoded.
type messageBlock struct {
	first hub.MessageID
	ends  []uint32 // of each message, from the beginning of the first
	body  []byte   // the messages
}

// seal appends the finished block to b: version │ CRC of the bytes from here to
// the messages │ count 4 │ end 4 … │ messages. Each message carries its own
// CRC, so that reading one does not cost a look at all.
func (m *messageBlock) seal(b []byte) []byte {
	start := len(b)
	b = append(b, make([]byte, sealSize)...)
	b = binary.BigEndian.AppendUint32(b, uint32(len(m.ends)))
	for _, end := range m.ends {
		b = binary.BigEndian.AppendUint32(b, end)
	}
	seal(b, start, blockVersion, messageKey(m.first))
	return append(b, m.body...)
}

// block is a stored block. It aliases the bytes it was decoded from.
type block struct {
	first hub.MessageID
	ends  []byte // 4 each
	body  []byte
}

func decodeBlock(key, b []byte) (k block, err error) {
	number, ok := keyNumber(key)
	if !ok || len(key) != len(prefixMessage)+8 || len(b) < sealSize+4 {
		return block{}, errDamaged
	}
	n := int64(binary.BigEndian.Uint32(b[sealSize:]))
	table := sealSize + 4 + 4*n
	if n == 0 || table > int64(len(b)) {
		return block{}, errDamaged
	}
	if _, err := unseal(b[:table], blockVersion, key); err != nil {
		return block{}, err
	}
	return block{first: hub.MessageID(number), ends: b[sealSize+4 : table], body: b[table:]}, nil
}

// last returns the highest id in the block.
func (k *block) last() hub.MessageID { return k.first + hub.MessageID(len(k.ends)/4) - 1 }

// message decodes one message of the block. Its JSON is a copy.
func (k *block) message(id hub.MessageID) (core.StoredMessage, error) {
	b, ok := k.bytesOf(id)
	if !ok {
		return core.StoredMessage{}, errDamaged
	}
	m, err := decodeMessage(b)
	if err != nil || m.ID != id {
		return core.StoredMessage{}, errors.Join(errDamaged, err)
	}
	m.JSON = bytes.Clone(m.JSON)
	return m, nil
}

// bytesOf returns the bytes of one message of the block; false if they lie beyond it.
func (k *block) bytesOf(id hub.MessageID) (b []byte, ok bool) {
	i := int(id - k.first)
	start, end := uint32(0), binary.BigEndian.Uint32(k.ends[4*i:])
	if i > 0 {
		start = binary.BigEndian.Uint32(k.ends[4*i-4:])
	}
	if start > end || int64(end) > int64(len(k.body)) {
		return nil, false
	}
	return k.body[start:end], true
}

// blockReader finds messages by id. It stays at the block of the last one, for
// ids that are asked for in a row tend to lie together.
type blockReader struct {
	it          *badger.Iterator // backward
	first, last hub.MessageID    // of the block at it; 0: at none
	mapped      *mapped
}

func newBlockReader(txn *badger.Txn, mapped *mapped) *blockReader {
	return &blockReader{it: iterate(txn, []byte(prefixMessage), true), mapped: mapped}
}

func (r *blockReader) close() { r.it.Close() }

// message returns the message with this id, or core.ErrNotFound.
func (r *blockReader) message(id hub.MessageID) (m core.StoredMessage, err error) {
	if id < 1 {
		return m, core.ErrNotFound
	}
	if r.first == 0 || id < r.first || id > r.last {
		r.first, r.last = 0, 0
		if r.it.Seek(messageKey(id)); !r.it.ValidForPrefix([]byte(prefixMessage)) {
			return m, core.ErrNotFound
		}
		r.mapped.reads(r.it.Item())
	}
	item := r.it.Item()
	valueErr := item.Value(func(b []byte) error {
		k, err := decodeBlock(item.Key(), b)
		if err != nil {
			return err
		}
		if r.first, r.last = k.first, k.last(); id > r.last {
			return core.ErrNotFound
		}
		m, err = k.message(id)
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

// scopeIndex collects, for one group, the ids that an index entry of each scope
// holds.
type scopeIndex struct {
	at    map[indexName]int // in lists
	lists []indexList
}

type indexName struct{ prefix, name string }

type indexList struct {
	indexName
	ids []hub.MessageID
}

func (x *scopeIndex) reset() {
	clear(x.at)
	clear(x.lists)
	x.lists = x.lists[:0]
}

func (x *scopeIndex) add(prefix, name string, id hub.MessageID) {
	k := indexName{prefix, name}
	i, ok := x.at[k]
	if !ok {
		if x.at == nil {
			x.at = map[indexName]int{}
		}
		i = len(x.lists)
		x.at[k] = i
		x.lists = append(x.lists, indexList{indexName: k})
	}
	x.lists[i].ids = append(x.lists[i].ids, id)
}

// addMessage adds a message to the scopes in which it is found.
func (x *scopeIndex) addMessage(m *core.StoredMessage) {
	if m.To == "" {
		x.add(prefixChannel, string(m.Channel), m.ID)
	} else {
		x.add(prefixInbox, string(m.To), m.ID)
	}
	if m.Thread != "" {
		x.add(prefixThread, string(m.Thread), m.ID)
	}
}

// entry returns the index entry: its key ends with the first id, its value holds
// the distances to the others, and is empty where there are none.
func (l *indexList) entry() entry {
	key := indexKey(l.prefix, l.name, l.ids[0])
	if len(l.ids) == 1 {
		return entry{key: key, value: []byte{}}
	}
	b := make([]byte, sealSize, sealSize+2*len(l.ids))
	for i := 1; i < len(l.ids); i++ {
		b = binary.AppendUvarint(b, uint64(l.ids[i]-l.ids[i-1]))
	}
	return entry{key: key, value: seal(b, 0, indexVersion, key)}
}

// decodeIndex returns the ids of an index entry, rising.
func decodeIndex(key, b []byte, into []hub.MessageID) ([]hub.MessageID, error) {
	first, ok := keyNumber(key)
	if !ok || first == 0 || first > hub.MaxMessageID {
		return nil, errDamaged
	}
	id := hub.MessageID(first)
	into = append(into, id)
	if len(b) == 0 {
		return into, nil
	}
	b, err := unseal(b, indexVersion, key)
	if err != nil {
		return nil, err
	}
	for len(b) > 0 {
		distance, n := binary.Uvarint(b)
		if n <= 0 || distance == 0 || distance > hub.MaxMessageID {
			return nil, errDamaged
		}
		if id += hub.MessageID(distance); id > hub.MaxMessageID {
			return nil, errDamaged
		}
		into = append(into, id)
		b = b[n:]
	}
	return into, nil
}
