package core

import (
	"encoding/json"
	"maps"
	"slices"

	"hubcli/hub"
)

// MaxSeenChannels bounds the channels for which one agent has a cursor of its
// own. Beyond it the lowest cursor is dropped, which may show a message as
// unread again.
const MaxSeenChannels = 64

// MaxSeenAnswered bounds the answered messages above the cursors of one agent.
// Beyond it the lowest is dropped, with the same effect.
const MaxSeenAnswered = 64

// Seen holds the read cursors of one agent and the messages that it was
// notified of. A cursor is the highest id up to which the agent has confirmed
// all messages of a scope. Cursors never move back. The zero Seen has seen
// nothing.
type Seen struct {
	All      hub.MessageID                     `json:"all,omitempty"`      // everything public, and the inbox
	Inbox    hub.MessageID                     `json:"inbox,omitempty"`    // direct messages
	Channels map[hub.ChannelName]hub.MessageID `json:"channels,omitempty"` // public messages of one channel; each above All
	// Answered lists single messages above a cursor that the agent has replied
	// to, in rising order. The agent has seen these, but not necessarily the
	// messages before them.
	Answered []hub.MessageID `json:"answered,omitempty"`
	// Told is the highest id of which a hook or a watch has notified the agent.
	// Being notified does not count as having read.
	Told hub.MessageID `json:"told,omitempty"`
	// ToldBy is the idempotency key of the call that moved Told. So a repetition of the
	// call is known, also after a crash.
	ToldBy string `json:"told_by,omitempty"`
	// ToldAfter is up to where it is sure that the agent was given what it was told of. What
	// was told behind it is told again if the program of the agent is cut off.
	ToldAfter hub.MessageID `json:"told_after,omitempty"`
}

// Begun reports whether the agent has seen, or was notified of, anything.
func (s *Seen) Begun() bool {
	return s.All > 0 || s.Inbox > 0 || s.Told > 0 || len(s.Channels) > 0 || len(s.Answered) > 0
}

// Size is the memory that s takes, counted in cursors and single messages.
func (s *Seen) Size() int { return len(s.Channels) + len(s.Answered) }

// Clone returns a copy that shares nothing with s.
func (s *Seen) Clone() Seen {
	c := *s
	c.Channels, c.Answered = maps.Clone(s.Channels), slices.Clone(s.Answered)
	return c
}

// InChannel returns up to which id the public messages of a channel are seen.
func (s *Seen) InChannel(c hub.ChannelName) hub.MessageID { return max(s.All, s.Channels[c]) }

// InInbox returns up to which id the direct messages are seen.
func (s *Seen) InInbox() hub.MessageID { return max(s.All, s.Inbox) }

// SawAll marks everything up to id as seen. Like the other Saw methods it
// reports whether that changed anything.
func (s *Seen) SawAll(id hub.MessageID) bool {
	if id <= s.All {
		return false
	}
	s.All = id
	if s.Inbox <= id {
		s.Inbox = 0
	}
	for c, at := range s.Channels {
		if at <= id {
			delete(s.Channels, c)
		}
	}
	above, _ := slices.BinarySearch(s.Answered, id+1)
	s.Answered = slices.Delete(s.Answered, 0, above)
	return true
}

// SawInbox marks the direct messages up to id as seen.
func (s *Seen) SawInbox(id hub.MessageID) bool {
	if id <= s.InInbox() {
		return false
	}
	s.Inbox = id
	return true
}

// SawChannel marks the public messages of a channel up to id as seen.
func (s *Seen) SawChannel(c hub.ChannelName, id hub.MessageID) bool {
	if id <= s.InChannel(c) {
		return false
	}
	if s.Channels == nil {
		s.Channels = map[hub.ChannelName]hub.MessageID{}
	}
	s.Channels[c] = id
	if len(s.Channels) > MaxSeenChannels {
		s.forgetLowest(c)
	}
	return true
}

// forgetLowest drops the lowest cursor of a channel other than keep.
func (s *Seen) forgetLowest(keep hub.ChannelName) {
	lowest, at := keep, hub.MessageID(hub.MaxMessageID)
	for c, id := range s.Channels {
		if c != keep && (id < at || id == at && c < lowest) {
			lowest, at = c, id
		}
	}
	delete(s.Channels, lowest)
}

// Answer records that the agent has replied to one message, and so has seen
// that one message.
func (s *Seen) Answer(id hub.MessageID) bool {
	at, has := slices.BinarySearch(s.Answered, id)
	if has || id <= s.All || at == 0 && len(s.Answered) >= MaxSeenAnswered {
		return false
	}
	s.Answered = slices.Insert(s.Answered, at, id)
	if len(s.Answered) > MaxSeenAnswered {
		s.Answered = slices.Delete(s.Answered, 0, 1)
	}
	return true
}

// HasAnswered reports whether the agent is known to have replied to a message.
func (s *Seen) HasAnswered(id hub.MessageID) bool {
	_, has := slices.BinarySearch(s.Answered, id)
	return has
}

// Tell records that the agent was notified of everything up to id, by the call with an
// idempotency key or, if it is empty, without one. It reports whether the call moved the
// mark, now or, for a repetition of the last call that did, before; and where the mark was
// before, which for a repetition may be further back.
func (s *Seen) Tell(id hub.MessageID, key string) (after hub.MessageID, moved, repeated bool) {
	if id <= s.Told {
		if repeated = key != "" && key == s.ToldBy && id == s.Told; repeated {
			return s.ToldAfter, true, true
		}
		return s.Told, false, false
	}
	after = s.Told
	s.Told, s.ToldBy = id, key
	return after, true, false
}

// Prove records that the agent was surely given what it was told of, up to id. It reports
// whether that changed anything.
func (s *Seen) Prove(id hub.MessageID) bool {
	id = min(id, s.Told)
	if id <= s.ToldAfter {
		return false
	}
	s.ToldAfter = id
	return true
}

// Untell takes back what the agent was told of, up to id, and was not surely given: the
// program of the agent was cut off. If the agent was told of more meanwhile, nothing is
// taken back. It reports whether that changed anything.
func (s *Seen) Untell(id hub.MessageID) bool {
	if s.Told > id || s.ToldAfter >= s.Told {
		return false
	}
	s.Told, s.ToldBy = s.ToldAfter, ""
	return true
}

// Encode returns the stored form: JSON.
func (s *Seen) Encode() []byte { return mustJSON(s) }

// DecodeSeen reads the stored form.
func DecodeSeen(b []byte) (Seen, error) {
	var s Seen
	err := json.Unmarshal(b, &s)
	return s, err
}
