package lists

import (
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"math"
	"strings"

	"hubcli/actors/core"
	"hubcli/actors/view"
	"hubcli/hub"
)

// listOf names a list in its cursors: append, never reorder.
type listOf byte

const (
	listAgents listOf = iota + 1
	listChannels
	listThreads
	listClaims
	listLocks
	listTasks
	listRuns
	listProjects
	listRooms
	listDecisions
	listArtifacts
	listInvites
	listMemories
	listSpawns
	listAsks
	listUndelivered
)

// A cursor is a version, its list, the place of the last row that was shown and a MAC
// over these, in base 64. The MAC keeps out every text that the hub has not made. A
// place is then always one of this list and needs no check.
const (
	cursorVersion  = 1
	cursorMACBytes = 8
)

// cursors renders cursors and reads them again. mac is keyed by the store, so that a
// cursor of another store is refused.
type cursors struct{ mac func(text string) []byte }

var cursorText = base64.RawURLEncoding.Strict()

// at renders the place behind which the next page of a list begins.
func (c cursors) at(list listOf, place []byte) hub.Cursor {
	b := append([]byte{cursorVersion, byte(list)}, place...)
	return hub.Cursor(cursorText.EncodeToString(append(b, c.mac(string(b))[:cursorMACBytes]...)))
}

// place reads a cursor of a list; found is false for the beginning. Error: invalid.
func (c cursors) place(list listOf, from hub.Cursor) (place []byte, found bool, err error) {
	if from == "" {
		return nil, false, nil
	}
	if len(from) > hub.MaxCursorBytes || strings.ContainsAny(string(from), "\r\n") { // the decoder would skip them
		return nil, false, errCursor("this is no cursor of this hub")
	}
	b, decodeErr := cursorText.DecodeString(string(from))
	end := len(b) - cursorMACBytes
	if decodeErr != nil || end < 2 ||
		subtle.ConstantTimeCompare(b[end:], c.mac(string(b[:end]))[:cursorMACBytes]) != 1 {
		return nil, false, errCursor("this is no cursor of this hub")
	}
	if b[0] != cursorVersion || b[1] != byte(list) {
		return nil, false, errCursor("this cursor is of another list")
	}
	return b[2:end], true, nil
}

func errCursor(message string) error {
	return hub.Invalid("cursor", message).
		WithFix("send the cursor of the previous answer unchanged to the same list, or begin again without a cursor")
}

// textPlace is place for a list that is ordered by names.
func (c cursors) textPlace(list listOf, from hub.Cursor) (behind string, err error) {
	place, _, err := c.place(list, from)
	return string(place), err
}

// numberPlace is place for a list that is ordered by numbers, the highest first.
func (c cursors) numberPlace(list listOf, from hub.Cursor) (before uint64, err error) {
	place, found, err := c.place(list, from)
	if err != nil || !found {
		return math.MaxUint64, err
	}
	return binary.BigEndian.Uint64(place), nil
}

// walkPlace is place for a list whose rows may move; a new walk is as of head.
func (c cursors) walkPlace(list listOf, from hub.Cursor, head uint64) (w view.Walk, err error) {
	place, found, err := c.place(list, from)
	if err != nil || !found {
		return view.Walk{AsOf: head, Before: math.MaxUint64}, err
	}
	return view.Walk{AsOf: binary.BigEndian.Uint64(place), Before: binary.BigEndian.Uint64(place[8:])}, nil
}

// pageRows is how many rows a page has.
func pageRows(limit int) int {
	if limit <= 0 || limit > hub.MaxPageRows {
		return hub.MaxPageRows
	}
	return limit
}

func numberKey(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

func walkKey(asOf, at uint64) []byte { return binary.BigEndian.AppendUint64(numberKey(asOf), at) }

// beforeSeq reads where a list goes on: behind its cursor and before an id.
// Without either it begins with the latest row. The row with the id need not
// exist. Error: invalid.
func (c cursors) beforeSeq(list listOf, from hub.Cursor, prefix, id string) (hub.Seq, error) {
	place, err := c.numberPlace(list, from)
	if err != nil {
		return 0, err
	}
	before, err := beforeID(prefix, id)
	return min(before, hub.Seq(place)), err
}

// beforeID is beforeSeq without a cursor. Error: invalid.
func beforeID(prefix, id string) (hub.Seq, error) {
	if id == "" {
		return math.MaxUint64, nil
	}
	seq, ok := core.SeqOf(prefix, id)
	if !ok {
		return 0, hub.Invalid("before", "before is not the id of a row of this list").
			WithFix("give the id of the last row of the previous answer: " + prefix + "_…; or go on with cursor")
	}
	return seq, nil
}
