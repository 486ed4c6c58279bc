package core

import (
	"encoding/binary"
	"strconv"
	"strings"

	"hubcli/hub"
)

// The prefixes of ids. Such an id is prefix, underscore, and in base 36 the
// sequence number of the record that created the thing. One record creates at
// most one thing of each kind. The form is part of the store's format.
const (
	PrefixProject  = "p"
	PrefixRoom     = "r"
	PrefixSeat     = "seat"
	PrefixInvite   = "i"
	PrefixDecision = "d"
	PrefixArtifact = "a"
	PrefixMemory   = "m"
	PrefixRun      = "run"
	PrefixSpawn    = "sp"
	PrefixAsk      = "ask"

	PrefixConnection = "cn"
)

// IDAt returns the id of the thing that the record at seq creates.
func IDAt(prefix string, seq hub.Seq) string {
	return prefix + "_" + strconv.FormatUint(uint64(seq), 36)
}

// SeqOf returns the sequence number in an id, and false if the id is not in
// canonical form.
func SeqOf(prefix, id string) (hub.Seq, bool) {
	digits, ok := strings.CutPrefix(id, prefix+"_")
	n, err := strconv.ParseUint(digits, 36, 64)
	return hub.Seq(n), ok && err == nil && IDAt(prefix, hub.Seq(n)) == id
}

// SeqKey is the key form of a sequence number: 8 bytes, big endian, so that keys
// sort by number.
func SeqKey(seq hub.Seq) []byte { return binary.BigEndian.AppendUint64(nil, uint64(seq)) }

// OwnedKey is the key of a row that belongs to a room, run or project: the
// owner's id, a zero byte and the rest. All rows of an owner share the prefix
// OwnedKey(owner, nil).
func OwnedKey[ID ~string](owner ID, rest []byte) []byte {
	return append(append([]byte(owner), 0), rest...)
}

// KeyEnd returns the number that a key of at least 8 bytes ends with: of IDKey and
// SeqKey, and of index keys that end with one of these.
func KeyEnd(key []byte) uint64 { return binary.BigEndian.Uint64(key[len(key)-8:]) }
