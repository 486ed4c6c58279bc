package actors

import (
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"math"
	"strings"

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
)

// A cursor is a version, its list, the place of the last row that was shown and
// a MAC over these, in base 64. The MAC keeps out what the hub has not made: a
// place is then always one of this list, and no check of it is needed.
const (
	cursorVersion  = 1
	cursorMACBytes = 8
)

var cursorText = base64.RawURLEncoding.Strict()

// cursor renders the place behind which the next page of a list begins.
func (s secrets) cursor(list listOf, place []byte) hub.Cursor {
	b := append([]byte{cursorVersion, byte(list)}, place...)
	return hub.Cursor(cursorText.EncodeToString(append(b, s.sum("cursor", string(b))[:cursorMACBytes]...)))
}

// place reads a cursor of a list; found is false for the beginning. invalid.
func (s secrets) place(list listOf, c hub.Cursor) (place []byte, found bool, err error) {
	if c == "" {
		return nil, false, nil
	}
	if len(c) > hub.MaxCursorBytes || strings.ContainsAny(string(c), "\r\n") { // which the decoder skips
		return nil, false, errCursor("this is no cursor of this hub")
	}
	b, decodeErr := cursorText.DecodeString(string(c))
	end := len(b) - cursorMACBytes
	if decodeErr != nil || end < 2 ||
		subtle.ConstantTimeCompare(b[end:], s.sum("cursor", string(b[:end]))[:cursorMACBytes]) != 1 {
		return nil, false, errCursor("this is no cursor of this hub")
	}
	if b[0] != cursorVersion || b[1] != byte(list) {
		return nil, false, errCursor("this cursor is of another list")
	}
	return b[2:end], true, nil
}

func errCursor(message string) error {
	return hub.Invalid("cursor", message).
		WithFix("send the cursor of the answer before as it is and to the same list, or begin again without cursor")
}

// textPlace is place for a list that is ordered by names.
func (h *Hub) textPlace(list listOf, c hub.Cursor) (behind string, err error) {
	place, _, err := h.secrets().place(list, c)
	return string(place), err
}

// numberPlace is place for a list that is ordered by numbers, the highest first.
func (h *Hub) numberPlace(list listOf, c hub.Cursor) (before uint64, err error) {
	place, found, err := h.secrets().place(list, c)
	if err != nil || !found {
		return math.MaxUint64, err
	}
	return binary.BigEndian.Uint64(place), nil
}

// walkPlace is place for such a list; a walk that begins is as of head.
func (h *Hub) walkPlace(list listOf, c hub.Cursor, head uint64) (w view.Walk, err error) {
	place, found, err := h.secrets().place(list, c)
	if err != nil || !found {
		return view.Walk{AsOf: head, Before: math.MaxUint64}, err
	}
	return view.Walk{AsOf: binary.BigEndian.Uint64(place), Before: binary.BigEndian.Uint64(place[8:])}, nil
}

// paged cuts rows, of which there may be one more than limit, and returns the
// cursor of the rest, if there is any: place says where a row stands.
func paged[T any](h *Hub, list listOf, rows []T, limit int, place func(*T) []byte) ([]T, hub.Cursor) {
	if len(rows) <= limit {
		return rows, ""
	}
	return rows[:limit], h.secrets().cursor(list, place(&rows[limit-1]))
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
