package replayfile

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"hubcli/hub"
	"hubcli/internal/require"
)

// talk is a room in which a message is said each second, and a seat is taken every hundred.
type talk struct {
	messages int
	body     string
	asked    int
}

func (s *talk) Moment(_ context.Context, q hub.MomentQuery) (hub.RoomMoment, error) {
	s.asked++
	m := hub.RoomMoment{RoomID: q.RoomID, Kept: true, FirstTS: 1_000, LastTS: hub.Time(s.messages) * 1_000, LastSeq: hub.Seq(s.messages)}
	m.Seq = m.LastSeq
	if q.At != 0 {
		m.Seq = hub.Seq(q.At / 1_000)
	}
	m.TS = hub.Time(m.Seq) * 1_000
	last := int(m.Seq)
	if q.BeforeID != 0 {
		last = int(q.BeforeID) - 1
	}
	for id := max(1, last-q.Limit+1); id <= last; id++ {
		row, err := json.Marshal(hub.Message{ID: hub.MessageID(id), TS: hub.Time(id) * 1_000, Body: s.body})
		if err != nil {
			return m, err
		}
		m.Messages = append(m.Messages, row)
	}
	for i := range last / 100 {
		m.Seats = append(m.Seats, hub.MomentSeat{AgentID: hub.AgentID(fmt.Sprint("agent-", i))})
	}
	return m, nil
}

func collect(t *testing.T, s *talk) *Replay {
	t.Helper()
	r, err := Collect(t.Context(), s, &hub.Room{RoomID: "r_1", Name: "</title><script>x"}, "shop", nil)
	require.NoError(t, err)
	return r
}

// TestReplayFileIsBounded: a long room is asked for no more often than a short one, and its file
// has the latest messages and says that it has not all.
func TestReplayFileIsBounded(t *testing.T) {
	for messages, want := range map[int]struct {
		kept int
		cut  bool
	}{0: {0, false}, 1: {1, false}, 999: {999, false}, 1_000: {1_000, false}, 2_500: {2_500, false}, 30_000: {MaxMessages, true}} {
		s := &talk{messages: messages}
		r := collect(t, s)
		if len(r.Messages) != want.kept || r.LeftOut != want.cut {
			t.Errorf("of %d messages %d are kept, more: %t", messages, len(r.Messages), r.LeftOut)
		}
		if n := len(r.Messages); n > 0 {
			if last, err := r.Messages[n-1].Decode(); err != nil || int(last.ID) != messages {
				t.Errorf("of %d messages the last is %d, %v", messages, last.ID, err)
			}
		}
		if s.asked > 2+MaxMessages/pageRows+MaxMoments || len(r.Moments) > MaxMoments {
			t.Errorf("of %d messages: asked %d times, %d moments", messages, s.asked, len(r.Moments))
		}
	}
}

// TestReplayFileIsBoundedInBytes: long messages are fewer.
func TestReplayFileIsBoundedInBytes(t *testing.T) {
	const each = 50_000
	r := collect(t, &talk{messages: 5_000, body: strings.Repeat("x", each)})
	if n := len(r.Messages); n*each > MaxBytes+pageRows*each || n < pageRows || !r.LeftOut {
		t.Errorf("%d messages of %d bytes, more: %t", n, each, r.LeftOut)
	}
}

// TestReplayFileHoldsEachStateOnce: where nothing has changed there is no new moment, and equal
// lists are one.
func TestReplayFileHoldsEachStateOnce(t *testing.T) {
	r := collect(t, &talk{messages: 350})
	if len(r.Moments) != 4 {
		t.Errorf("%d moments of four states", len(r.Moments))
	}
	if len(r.Lists) != 4 { // no seat, which is as empty as the other lists, and one to three
		t.Errorf("%d lists: %v", len(r.Lists), r.Lists)
	}
	if len(r.Rows) != 3 {
		t.Errorf("%d rows of three seats: %s", len(r.Rows), r.Rows)
	}
	for i, at := range []hub.Time{1_000, 100_000, 200_000, 300_000} {
		if got := r.Moments[i].TS; got < at || got > at+4_000 {
			t.Errorf("moment %d is that of %d, want one soon after %d", i, got, at)
		}
	}
}

// TestReplayFileIsNoMarkup: whatever agents write, the page has the markup of ours alone.
func TestReplayFileIsNoMarkup(t *testing.T) {
	s := &talk{messages: 3, body: "</script><script>alert(1)</script><!-- ]]> \u2028 \u2029 &lt; <img src=x onerror=alert(1)>"}
	var page strings.Builder
	require.NoError(t, collect(t, s).Write(&page))
	text := page.String()
	for part, want := range map[string]int{"<script": 2, "</script": 2, "<!--": 0, "onerror=alert(1)>": 0, "<img": 0, "\u2028": 0, "</title": 1} {
		if got := strings.Count(strings.Replace(text, string(script), "", 1), part); got != want {
			t.Errorf("%d times %q in the page, want %d", got, part, want)
		}
	}
	if strings.Contains(string(script), "</script") || strings.Contains(string(style), "</style") {
		t.Error("the viewer ends its own element")
	}
	data, found := strings.CutPrefix(text[strings.Index(text, `id="replay">`):], `id="replay">`)
	data, _, _ = strings.Cut(data, "</script>")
	var back struct {
		Messages []hub.Message `json:"messages"`
	}
	if err := json.Unmarshal([]byte(data), &back); err != nil || !found || len(back.Messages) != 3 || back.Messages[0].Body != s.body {
		t.Errorf("what was said is not what the page holds: %v, %+v", err, back)
	}
	for _, of := range [][]byte{script, style} {
		if !strings.Contains(text, sum(of)) {
			t.Error("the policy does not name what is in the page")
		}
	}
}

// shortPages is a source with at most seven messages a page.
type shortPages struct{ talk }

func (s *shortPages) Moment(ctx context.Context, q hub.MomentQuery) (hub.RoomMoment, error) {
	q.Limit = min(q.Limit, 7)
	return s.talk.Moment(ctx, q)
}

// TestShortPageIsNoEnd: a page may be short because its messages are long. What is older comes
// into the file all the same.
func TestShortPageIsNoEnd(t *testing.T) {
	r, err := Collect(t.Context(), &shortPages{talk{messages: 60, body: "hello"}}, &hub.Room{RoomID: "r_1", Name: "hall"}, "shop", nil)
	require.NoError(t, err)
	if len(r.Messages) != 60 || r.LeftOut {
		t.Errorf("%d of 60 messages are there, left out: %v", len(r.Messages), r.LeftOut)
	}
}
