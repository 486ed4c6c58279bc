package mcp

import (
	"strconv"
	"unicode/utf8"

	"hubcli/hub"
)

// listing is part of a list. Cursor is where the rest begins, for the same call.
type listing[T any] struct {
	RoomID    hub.RoomID `json:"room_id,omitempty" lean:"-"` // whose list it is; the line says it too
	Items     []T        `json:"items"`
	Truncated bool       `json:"truncated" lean:"empty"`
	Cursor    hub.Cursor `json:"cursor,omitempty"`
}

const defaultRows = 20 // of a listing that names no limit

// take returns the first of all, at most limit (0: the default) and in about room
// characters but at least one. more says that some are left; a list that was asked
// for with one row more than limit says so by that row.
func take[T any](all []T, limit, room int) (part []T, more bool) {
	part = []T{}
	for i := range all {
		if room -= size(all[i]); len(part) == orDefault(limit, defaultRows) || i > 0 && room < 0 {
			return part, true
		}
		part = append(part, all[i])
	}
	return part, false
}

// pages answers with a page of a list of the hub's. list asks for so many rows, build
// makes the answer of as many of rows as it has room for, says how many that are, and
// hands next on as the cursor. Where rows are left out, the hub is asked once more for
// those that fit, and gives the cursor that stands behind them.
func pages[T any](c *call, limit int, list func(limit int) ([]T, hub.Cursor, error), build func(rows []T, next hub.Cursor, room int) (*answer, int)) (*answer, error) {
	for limit = orDefault(limit, defaultRows); ; {
		rows, next, err := list(limit)
		if err != nil {
			return nil, err
		}
		shown := 0
		a, err := c.fit(func(room int) (a *answer) {
			a, shown = build(rows, next, room)
			return a
		})
		if err != nil || shown == len(rows) {
			return a, err
		}
		limit = shown
	}
}

// behind leaves out what a list has up to and with the one that cursor names. A
// cursor that names none of them is refused rather than taken for the beginning.
func behind[T any](all []T, cursor string, id func(*T) string) ([]T, error) {
	if cursor == "" {
		return all, nil
	}
	for i := range all {
		if id(&all[i]) == cursor {
			return all[i+1:], nil
		}
	}
	return nil, hub.Invalid("cursor", "the list has nothing of this cursor any more").WithFix("begin again without cursor")
}

// offset reads a cursor that counts rows.
func offset(cursor string) (int, error) {
	if cursor == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(cursor)
	if err != nil || n < 0 || n > hub.MaxPageRows {
		return 0, hub.Invalid("cursor", "this is no cursor of this list").WithFix("begin again without cursor")
	}
	return n, nil
}

// orDefault is n, or other if n is 0.
func orDefault(n, other int) int {
	if n == 0 {
		return other
	}
	return n
}

// brief is the beginning of a text, as it stands in a list.
func brief(s string, room int) string {
	part, _, whole := clip(s, 0, room)
	if whole {
		return part
	}
	return part + "…"
}

func chars(s string) int { return utf8.RuneCountInString(s) }
