package codec

import (
	"encoding/binary"
	"strings"

	"hubcli/actors/core"
	"hubcli/hub"
)

// The prefixes of keys are part of the store's format. None may begin with
// "!badger!", the prefix of Badger's own keys.
const (
	PrefixFrame   = "j/"
	PrefixMessage = "m/"
	PrefixChannel = "c/"
	PrefixThread  = "t/"
	PrefixInbox   = "i/"
	PrefixRow     = "e/"
	PrefixEffect  = "d/"
	PrefixGap     = "g/"
	PrefixImport  = "u/"
	KeyRedone     = "r/"

	NameEnd = 0 // ends a name in an index key; names hold no control characters
)

// SeqKey is the key of what a record has, by its number.
func SeqKey(prefix string, seq hub.Seq) []byte {
	b := make([]byte, 0, len(prefix)+8)
	b = append(b, prefix...)
	return binary.BigEndian.AppendUint64(b, uint64(seq))
}

// MessageKey is the key of a block of messages.
func MessageKey(id hub.MessageID) []byte {
	b := make([]byte, 0, len(PrefixMessage)+8)
	b = append(b, PrefixMessage...)
	return binary.BigEndian.AppendUint64(b, uint64(id))
}

// IndexPrefix is the beginning of all keys of one scope's index.
func IndexPrefix(prefix, name string) []byte {
	b := make([]byte, 0, len(prefix)+len(name)+1+8)
	b = append(b, prefix...)
	b = append(b, name...)
	return append(b, NameEnd)
}

// IndexKey is the key of a list of ids.
func IndexKey(prefix, name string, id hub.MessageID) []byte {
	return binary.BigEndian.AppendUint64(IndexPrefix(prefix, name), uint64(id))
}

// RowKey is the key of an entity row.
func RowKey(t core.Table, key []byte) []byte {
	b := make([]byte, 0, len(PrefixRow)+2+len(key))
	b = append(b, PrefixRow...)
	b = append(b, byte(t), '/')
	return append(b, key...)
}

// EffectKey is the key of the stored answer of a write.
func EffectKey(scope [32]byte) []byte {
	b := make([]byte, 0, len(PrefixEffect)+len(scope))
	b = append(b, PrefixEffect...)
	return append(b, scope[:]...)
}

// KeyNumber returns the number that ends a key.
func KeyNumber(key []byte) (uint64, bool) {
	if len(key) < 8 {
		return 0, false
	}
	return binary.BigEndian.Uint64(key[len(key)-8:]), true
}

// After returns the smallest key that is greater than all keys with this
// prefix.
func After(prefix []byte) []byte {
	b := append([]byte(nil), prefix...)
	for i := len(b) - 1; i >= 0; i-- {
		if b[i] != 0xff {
			b[i]++
			return b[:i+1]
		}
	}
	return nil
}

// Indexable reports whether a name can stand in an index key.
func Indexable(name string) bool { return strings.IndexByte(name, NameEnd) < 0 }
