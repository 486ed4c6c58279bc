package lists

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"hubcli/hub"
	"hubcli/internal/require"
)

// testCursors returns the cursors of a store.
func testCursors(store byte) cursors {
	return cursors{func(text string) []byte {
		m := hmac.New(sha256.New, bytes.Repeat([]byte{store}, 32))
		m.Write([]byte(text))
		return m.Sum(nil)
	}}
}

// TestCursors: a cursor leads back to its place. A cursor of another list or
// store is refused, and so is one with a bit changed, or with bytes cut off or
// added.
func TestCursors(t *testing.T) {
	s, other := testCursors(7), testCursors(8)
	for _, place := range []string{"", "k", "a key/with \x00 and ü", strings.Repeat("x", 4096)} {
		c := s.at(listClaims, []byte(place))
		got, found, err := s.place(listClaims, c)
		if string(got) != place || !found || err != nil {
			t.Fatalf("place of %q: %q, %v, %v", place, got, found, err)
		}
		if len(c) > hub.MaxCursorBytes || strings.Trim(string(c), "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			t.Errorf("cursor %.80s does not fit a URL", c)
		}
		wantNoCursor(t, s, listLocks, c)
		wantNoCursor(t, other, listClaims, c)
		if len(place) > 100 {
			continue
		}
		raw, err := base64.RawURLEncoding.DecodeString(string(c))
		require.NoError(t, err)
		for i := range raw {
			for bit := range 8 {
				changed := bytes.Clone(raw)
				changed[i] ^= 1 << bit
				wantNoCursor(t, s, listClaims, hub.Cursor(base64.RawURLEncoding.EncodeToString(changed)))
			}
			if i > 0 { // an empty cursor is the beginning
				wantNoCursor(t, s, listClaims, hub.Cursor(base64.RawURLEncoding.EncodeToString(raw[:i])))
			}
		}
		for _, text := range []string{" ", "\n", "=", "A", "%00"} {
			wantNoCursor(t, s, listClaims, c+hub.Cursor(text))
			wantNoCursor(t, s, listClaims, hub.Cursor(text)+c)
		}
	}
	for _, text := range []string{"0", "claim-1", "AAAA", "\x00", strings.Repeat("A", 10*hub.MaxCursorBytes)} {
		wantNoCursor(t, s, listClaims, hub.Cursor(text))
	}
}

func wantNoCursor(t *testing.T, s cursors, list listOf, c hub.Cursor) {
	t.Helper()
	_, _, err := s.place(list, c)
	var e *hub.Error
	if !errors.As(err, &e) || e.Code != hub.CodeInvalid || e.Status != 400 || e.Detail["field"] != "cursor" || e.Fix == "" {
		t.Fatalf("cursor %.80q: %v", c, err)
	}
}

// TestCursorOfNewVersion: a cursor of a later version of the hub is refused,
// not misread.
func TestCursorOfNewVersion(t *testing.T) {
	s := testCursors(7)
	b := []byte{cursorVersion + 1, byte(listTasks), 0, 0, 0, 0, 0, 0, 0, 9}
	b = append(b, s.mac(string(b))[:cursorMACBytes]...)
	wantNoCursor(t, s, listTasks, hub.Cursor(cursorText.EncodeToString(b)))
}
