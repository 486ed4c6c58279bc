package persistence

import (
	"encoding/binary"
	"strings"

	"hubcli/actors/core"
	"hubcli/hub"
)

// The prefixes of keys are part of the store's format. None may begin with
// "!badger!", the prefix of Badger's own keys.
const (
	prefixFrame   = "j/"
	prefixMessage = "m/"
	prefixChannel = "c/"
	prefixThread  = "t/"
	prefixInbox   = "i/"
	prefixRow     = "e/"
	prefixEffect  = "d/"
	prefixGap     = "g/"
	prefixImport  = "u/"
	keyRedone     = "r/"

	nameEnd = 0 // ends a name in an index key; names hold no control characters
)

func seqKey(prefix string, seq hub.Seq) []byte {
	b := make([]byte, 0, len(prefix)+8)
	b = append(b, prefix...)
	return binary.BigEndian.AppendUint64(b, uint64(seq))
}

func messageKey(id hub.MessageID) []byte {
	b := make([]byte, 0, len(prefixMessage)+8)
	b = append(b, prefixMessage...)
	return binary.BigEndian.AppendUint64(b, uint64(id))
}

// indexPrefix is the beginning of all keys of one scope's index.
func indexPrefix(prefix, name string) []byte {
	b := make([]byte, 0, len(prefix)+len(name)+1+8)
	b = append(b, prefix...)
	b = append(b, name...)
	return append(b, nameEnd)
}

func indexKey(prefix, name string, id hub.MessageID) []byte {
	return binary.BigEndian.AppendUint64(indexPrefix(prefix, name), uint64(id))
}

func rowKey(t core.Table, key []byte) []byte {
	b := make([]byte, 0, len(prefixRow)+2+len(key))
	b = append(b, prefixRow...)
	b = append(b, byte(t), '/')
	return append(b, key...)
}

func effectKey(scope [32]byte) []byte {
	b := make([]byte, 0, len(prefixEffect)+len(scope))
	b = append(b, prefixEffect...)
	return append(b, scope[:]...)
}

// keyNumber returns the number that ends a key.
func keyNumber(key []byte) (uint64, bool) {
	if len(key) < 8 {
		return 0, false
	}
	return binary.BigEndian.Uint64(key[len(key)-8:]), true
}

// after returns the smallest key that is greater than all keys with this
// prefix.
func after(prefix []byte) []byte {
	b := append([]byte(nil), prefix...)
	for i := len(b) - 1; i >= 0; i-- {
		if b[i] != 0xff {
			b[i]++
			return b[:i+1]
		}
	}
	return nil
}

// indexable reports whether a name can stand in an index key.
func indexable(name string) bool { return strings.IndexByte(name, nameEnd) < 0 }
