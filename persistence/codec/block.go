package codec

import (
	"bytes"
	"encoding/binary"
	"errors"

	"hubcli/actors/core"
	"hubcli/hub"
)

// The messages of a group are stored together, in blocks, and each scope's index
// has one entry a group, not one a message: Badger's price is per key, and a
// profile of 64 posting agents showed more than half of the hub's time in it. A
// block of one small message also stays below valueThreshold, so that a lone post
// syncs one file rather than two.

// MaxBlock is where a block is cut, in bytes; one message may be larger.
const MaxBlock = 1 << 20

// MessageBlock collects the messages of a block as they are encoded.
type MessageBlock struct {
	First hub.MessageID
	Ends  []uint32 // of each message, from the beginning of the first
	Body  []byte   // the messages
}

// Seal appends the finished block to b: version │ CRC of the bytes from here to
// the messages │ count 4 │ end 4 … │ messages. Each message carries its own
// CRC, so that reading one does not cost a look at all.
func (m *MessageBlock) Seal(b []byte) []byte {
	start := len(b)
	b = append(b, make([]byte, SealSize)...)
	b = binary.BigEndian.AppendUint32(b, uint32(len(m.Ends)))
	for _, end := range m.Ends {
		b = binary.BigEndian.AppendUint32(b, end)
	}
	Seal(b, start, BlockVersion, MessageKey(m.First))
	return append(b, m.Body...)
}

// Block is a stored block. It aliases the bytes it was decoded from.
type Block struct {
	First hub.MessageID
	Ends  []byte // 4 each
	body  []byte
}

// DecodeBlock returns the block that a value holds. Errors: ErrDamaged, ErrVersion.
func DecodeBlock(key, b []byte) (k Block, err error) {
	number, ok := KeyNumber(key)
	if !ok || len(key) != len(PrefixMessage)+8 || len(b) < SealSize+4 {
		return Block{}, ErrDamaged
	}
	n := int64(binary.BigEndian.Uint32(b[SealSize:]))
	table := SealSize + 4 + 4*n
	if n == 0 || table > int64(len(b)) {
		return Block{}, ErrDamaged
	}
	if _, err := Unseal(b[:table], BlockVersion, key); err != nil {
		return Block{}, err
	}
	return Block{First: hub.MessageID(number), Ends: b[SealSize+4 : table], body: b[table:]}, nil
}

// Last returns the highest id in the block.
func (k *Block) Last() hub.MessageID { return k.First + hub.MessageID(len(k.Ends)/4) - 1 }

// Message decodes one message of the block. Its JSON is a copy.
func (k *Block) Message(id hub.MessageID) (core.StoredMessage, error) {
	b, ok := k.BytesOf(id)
	if !ok {
		return core.StoredMessage{}, ErrDamaged
	}
	m, err := DecodeMessage(b)
	if err != nil || m.ID != id {
		return core.StoredMessage{}, errors.Join(ErrDamaged, err)
	}
	m.JSON = bytes.Clone(m.JSON)
	return m, nil
}

// BytesOf returns the bytes of one message of the block; false if they lie beyond it.
func (k *Block) BytesOf(id hub.MessageID) (b []byte, ok bool) {
	i := int(id - k.First)
	start, end := uint32(0), binary.BigEndian.Uint32(k.Ends[4*i:])
	if i > 0 {
		start = binary.BigEndian.Uint32(k.Ends[4*i-4:])
	}
	if start > end || int64(end) > int64(len(k.body)) {
		return nil, false
	}
	return k.body[start:end], true
}

// ScopeIndex collects, for one group, the ids that an index entry of each scope
// holds.
type ScopeIndex struct {
	at    map[IndexName]int // in lists
	Lists []IndexList
}

// IndexName is the name of a list of ids.
type IndexName struct{ Prefix, Name string }

// IndexList is a list of ids that is being written.
type IndexList struct {
	IndexName
	Ids []hub.MessageID
}

// Reset empties the list and keeps its memory.
func (x *ScopeIndex) Reset() {
	clear(x.at)
	clear(x.Lists)
	x.Lists = x.Lists[:0]
}

func (x *ScopeIndex) add(prefix, name string, id hub.MessageID) {
	k := IndexName{prefix, name}
	i, ok := x.at[k]
	if !ok {
		if x.at == nil {
			x.at = map[IndexName]int{}
		}
		i = len(x.Lists)
		x.at[k] = i
		x.Lists = append(x.Lists, IndexList{IndexName: k})
	}
	x.Lists[i].Ids = append(x.Lists[i].Ids, id)
}

// AddMessage adds a message to the scopes in which it is found.
func (x *ScopeIndex) AddMessage(m *core.StoredMessage) {
	if m.To == "" {
		x.add(PrefixChannel, string(m.Channel), m.ID)
	} else {
		x.add(PrefixInbox, string(m.To), m.ID)
	}
	if m.Thread != "" {
		x.add(PrefixThread, string(m.Thread), m.ID)
	}
}

// Entry returns the index entry: its key ends with the first id, its value holds
// the distances to the others, and is empty where there are none.
func (l *IndexList) Entry() Entry {
	key := IndexKey(l.Prefix, l.Name, l.Ids[0])
	if len(l.Ids) == 1 {
		return Entry{Key: key, Value: []byte{}}
	}
	b := make([]byte, SealSize, SealSize+2*len(l.Ids))
	for i := 1; i < len(l.Ids); i++ {
		b = binary.AppendUvarint(b, uint64(l.Ids[i]-l.Ids[i-1]))
	}
	return Entry{Key: key, Value: Seal(b, 0, IndexVersion, key)}
}

// DecodeIndex returns the ids of an index entry, rising.
func DecodeIndex(key, b []byte, into []hub.MessageID) ([]hub.MessageID, error) {
	first, ok := KeyNumber(key)
	if !ok || first == 0 || first > hub.MaxMessageID {
		return nil, ErrDamaged
	}
	id := hub.MessageID(first)
	into = append(into, id)
	if len(b) == 0 {
		return into, nil
	}
	b, err := Unseal(b, IndexVersion, key)
	if err != nil {
		return nil, err
	}
	for len(b) > 0 {
		distance, n := binary.Uvarint(b)
		if n <= 0 || distance == 0 || distance > hub.MaxMessageID {
			return nil, ErrDamaged
		}
		if id += hub.MessageID(distance); id > hub.MaxMessageID {
			return nil, ErrDamaged
		}
		into = append(into, id)
		b = b[n:]
	}
	return into, nil
}

// Check decodes all messages of the block.
func (k *Block) Check() error {
	start := uint32(0)
	for i, id := 0, k.First; i < len(k.Ends); i, id = i+4, id+1 {
		end := binary.BigEndian.Uint32(k.Ends[i:])
		if start > end || int64(end) > int64(len(k.body)) {
			return ErrDamaged
		}
		if m, err := DecodeMessage(k.body[start:end]); err != nil || m.ID != id {
			return ErrDamaged
		}
		start = end
	}
	return nil
}
