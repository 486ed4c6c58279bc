package view

import (
	"strings"
	"testing"
	"unicode/utf8"

	"hubcli/actors/core"
	"hubcli/hub"
)

func TestMentions(t *testing.T) {
	for body, want := range map[string]bool{
		"@dev-a": true, "ask @dev-a.": true, "(@dev-a)": true, ".@dev-a: now": true, "@dev-a,@dev-b": true, "@dev-ab @dev-a": true,
		"\"@dev-a\"\n": true, "@dev-a.b": false, "@dev-ab": false, "me@dev-a": false, "dev-a": false, "@dev-A": false, "@ dev-a": false,
		"@dev-a-1": false, "@dev-a-": true, "": false,
	} {
		draft := core.MessageDraft{From: "ben", Channel: hub.DefaultChannel, Kind: hub.KindChat, Body: body + " "}
		m := draft.Encode(1, 0)
		if mentions(&m, "dev-a") != want {
			t.Errorf("%q names the agent: %v, want %v", body, !want, want)
		}
	}
}

// TestUnreadRowIsOneShortLine: a row holds at most excerptChars of the body, also
// where the last of them is behind white space.
func TestUnreadRowIsOneShortLine(t *testing.T) {
	for body, want := range map[string]string{
		" a \n\t b\u2028c ":               "a b c",
		"\x1b[31mred\u202etxt":            "[31mredtxt",
		strings.Repeat("é ", 300):         strings.Repeat("é ", 99) + "é…",
		strings.Repeat("é", 198) + " end": strings.Repeat("é", 198) + "…",
		strings.Repeat("界", 10) + "\n":    strings.Repeat("界", 10),
	} {
		draft := core.MessageDraft{From: "ben", Channel: hub.DefaultChannel, Kind: hub.KindChat, Body: body}
		m := draft.Encode(1, 0)
		row, err := (*View)(nil).UnreadRow(&m, "ann")
		if err != nil || row.Excerpt != want || utf8.RuneCountInString(row.Excerpt) > excerptChars {
			t.Errorf("%q became %q, %v, want %q", body, row.Excerpt, err, want)
		}
	}
}

// ringed makes a view whose ring holds n messages to all in a channel, which its store has too.
func ringed(n int) (*View, *listStore) {
	drafts := make([]core.MessageDraft, n)
	for i := range drafts {
		drafts[i] = core.MessageDraft{Channel: "shop", Body: "public"}
	}
	v, s := listed(drafts...)
	v.Ring = newRing(1<<30, 0)
	v.Ring.append(s.all)
	return v, s
}

// TestUnreadIsJudgedWithoutTheRing: nobody holds the ring while a message of it is looked at.
// What judges a message may read the one that it answers, and the writer may come to the lock
// of the ring before that.
func TestUnreadIsJudgedWithoutTheRing(t *testing.T) {
	v, s := ringed(5 * ringBatch)
	looked := 0
	none := func(*core.StoredMessage) bool {
		looked++
		if !v.Ring.mu.TryLock() {
			t.Fatal("the ring is locked while a message is looked at")
		}
		v.Ring.mu.Unlock()
		return false
	}
	u := UnreadIn{Agent: "bob", Head: v.Ring.Visible()}
	for name, look := range map[string]func() error{
		"newest": func() error { _, err := v.Newest(ChannelScope("shop"), 0, u.Head, none); return err },
		"last":   func() error { _, err := v.LastUnread(&u, "", 1, none); return err },
		"list":   func() error { _, err := v.ListUnread(&u, "", 1, none); return err },
	} {
		looked = 0
		if err := look(); err != nil || looked != len(s.all) {
			t.Errorf("%s: %d of %d messages were looked at, %v", name, looked, len(s.all), err)
		}
	}
}

// TestEarlierGoesOnInTheStore: what leaves the ring while its messages are looked at comes from
// the store, each message once and in order.
func TestEarlierGoesOnInTheStore(t *testing.T) {
	for _, after := range []int{0, 1, ringBatch, ringBatch + 1, 3*ringBatch - 1, 3 * ringBatch, 5 * ringBatch} {
		v, s := ringed(5 * ringBatch)
		head, later := v.Ring.Visible(), core.MessageDraft{From: "ann", Channel: "shop", Kind: hub.KindChat, Body: "later"}
		var got []*core.StoredMessage
		err := v.earlier(ChannelScope("shop"), 7, head, func(m *core.StoredMessage) bool {
			if got = append(got, m); len(got) == after {
				v.Ring.budget = 1
				v.Ring.append([]core.StoredMessage{later.Encode(head+1, 0)})
			}
			return true
		})
		if err != nil || len(got) != int(head-7) || got[0].ID != head || got[len(got)-1].ID != 8 {
			t.Fatalf("the ring ends after %d: %d messages, %v", after, len(got), err)
		}
		for i := range got[1:] {
			if got[i+1].ID != got[i].ID-1 {
				t.Fatalf("the ring ends after %d: message %d comes behind %d", after, got[i+1].ID, got[i].ID)
			}
		}
		if out := s.shown > 0; out != (after > 0 && after < 3*ringBatch+1) {
			t.Errorf("the ring ends after %d: %d messages came from the store", after, s.shown)
		}
	}
}
