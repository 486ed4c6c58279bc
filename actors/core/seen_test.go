package core

import (
	"fmt"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"hubcli/hub"
)

// TestSeenNeverMovesBack compares the cursors with the highest id that was ever
// named for a scope. Beyond the limit a cursor may be forgotten: then it is lower,
// never higher.
func TestSeenNeverMovesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s Seen
		channels := rapid.SampledFrom([]int{3, MaxSeenChannels, MaxSeenChannels + 20}).Draw(t, "channels")
		var all, inbox, told hub.MessageID
		in, answered := map[hub.ChannelName]hub.MessageID{}, map[hub.MessageID]bool{}
		for range rapid.IntRange(1, 300).Draw(t, "moves") {
			id := hub.MessageID(rapid.IntRange(0, 50).Draw(t, "id"))
			c := hub.ChannelName(fmt.Sprint("c", rapid.IntRange(1, channels).Draw(t, "channel")))
			before := s.Clone()
			var moved, want bool
			switch rapid.IntRange(0, 4).Draw(t, "move") {
			case 0:
				moved, want = s.SawAll(id), id > all
				all = max(all, id)
			case 1:
				moved, want = s.SawInbox(id), id > max(all, inbox)
				inbox = max(inbox, id)
			case 2:
				at := s.InChannel(c)
				moved, want = s.SawChannel(c, id), id > at
				in[c] = max(in[c], id)
			case 3:
				if s.Answer(id) == (answered[id] || id <= all) {
					t.Fatalf("answering %d of %+v", id, before)
				}
				answered[id] = true
			default:
				_, moved, _ = s.Tell(id, "")
				want = id > told
				told = max(told, id)
			}
			if moved != want {
				t.Fatalf("moved %v, want %v: %+v to %+v", moved, want, before, s)
			}
			if s.InInbox() != max(all, inbox) || s.All != all || s.Told != told {
				t.Fatalf("%+v, want all %d, inbox %d, told %d", s, all, inbox, told)
			}
			for i := range channels {
				c := hub.ChannelName(fmt.Sprint("c", i+1))
				got, most := s.InChannel(c), max(all, in[c])
				if got > most || got < most && channels <= MaxSeenChannels {
					t.Fatalf("%s is seen up to %d, want %d: %+v", c, got, most, s)
				}
			}
			for id := range hub.MessageID(51) {
				if got := id <= all || s.HasAnswered(id); got != (id <= all || answered[id]) {
					t.Fatalf("%d is seen: %v, want %v: %+v", id, got, !got, s)
				}
			}
			if len(s.Channels) > MaxSeenChannels {
				t.Fatalf("%d channels have a cursor", len(s.Channels))
			}
		}
		if len(s.Channels) == 0 {
			s.Channels = nil
		}
		if len(s.Answered) == 0 {
			s.Answered = nil
		}
		if back, err := DecodeSeen(s.Encode()); err != nil || !reflect.DeepEqual(back, s) {
			t.Fatalf("%+v came back as %+v, %v", s, back, err)
		}
	})
}

// TestSeenForgetsTheLowestAnswer: what is remembered of answers is bounded, and what
// is forgotten counts as unread again.
func TestSeenForgetsTheLowestAnswer(t *testing.T) {
	var s Seen
	for id := hub.MessageID(2 * MaxSeenAnswered); id > 0; id-- {
		s.Answer(id)
	}
	for id := hub.MessageID(1); id <= 2*MaxSeenAnswered; id++ {
		if has := s.HasAnswered(id); has != (id > MaxSeenAnswered) {
			t.Errorf("%d is remembered: %v", id, has)
		}
	}
	if s.Answer(2*MaxSeenAnswered + 1); s.HasAnswered(MaxSeenAnswered+1) || len(s.Answered) != MaxSeenAnswered {
		t.Errorf("%d are remembered: %v", len(s.Answered), s.Answered)
	}
	if s.SawAll(2 * MaxSeenAnswered); len(s.Answered) != 1 {
		t.Errorf("behind a cursor are remembered %v", s.Answered)
	}
}
