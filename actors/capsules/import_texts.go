package capsules

import (
	"encoding/json"
	"strings"

	"hubcli/capsule"
	"hubcli/hub"
)

// importTexts gives texts of a capsule the ids of this hub.
type importTexts struct {
	*ids
	lenient bool // a number of the gap that means nothing in the capsule is let be
	taken   bool // such a number was found
}

// text returns a text with the ids of this hub.
func (t *importTexts) text(text string) string {
	t.look(text)
	return capsule.DecodeRefs(text, t.message, t.thing)
}

// look notes whether a text of the capsule names what the gap is about to name: a message such
// as #12 or an id such as r_5x that means nothing in the capsule.
func (t *importTexts) look(text string) {
	if t.lenient || t.taken {
		return
	}
	for _, n := range capsule.LooseNumbers(text) {
		t.taken = t.taken || t.gap.HasMessage(hub.MessageID(n))
	}
	for at := strings.IndexByte(text, '_'); at >= 0; {
		begin, end := at, at+1
		for begin > 0 && isWord(text[begin-1]) {
			begin--
		}
		for end < len(text) && isWord(text[end]) {
			end++
		}
		t.taken = t.taken || t.gap.HasID(text[begin:end])
		next := strings.IndexByte(text[end:], '_')
		if next < 0 {
			return
		}
		at = end + next
	}
}

// isWord reports whether a byte is part of an id.
func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// json returns a JSON value whose strings have the ids of this hub. It has been verified, so
// it is valid.
func (t *importTexts) json(value json.RawMessage) json.RawMessage {
	return t.decoded(value, capsule.DecodeJSON)
}

// metadata does the same for metadata, whose members also have ids as numbers.
func (t *importTexts) metadata(value json.RawMessage) json.RawMessage {
	return t.decoded(value, capsule.DecodeMetadata)
}

type decodeJSON = func(json.RawMessage, func(capsule.Number) (hub.MessageID, bool), func(capsule.Ref) (string, bool)) (json.RawMessage, error)

func (t *importTexts) decoded(value json.RawMessage, decode decodeJSON) json.RawMessage {
	if len(value) == 0 {
		return value
	}
	t.look(string(value))
	out, err := decode(value, t.message, t.thing)
	if err != nil {
		return value
	}
	return out
}

// attachment returns an attachment with the ids of this hub.
func (t *importTexts) attachment(a hub.Attachment) hub.Attachment {
	a.Content = t.json(a.Content)
	a.Path, a.Description = t.text(a.Path), t.text(a.Description)
	a.Language, a.Base, a.Head = t.text(a.Language), t.text(a.Base), t.text(a.Head)
	return a
}

// texts returns texts with the ids of this hub.
func (t *importTexts) texts(all []string) []string {
	out := make([]string, len(all))
	for i := range all {
		out[i] = t.text(all[i])
	}
	return out
}
