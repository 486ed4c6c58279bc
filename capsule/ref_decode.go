package capsule

import (
	"encoding/json"
	"strings"

	"hubcli/hub"
)

// A Decoder turns the texts of a capsule into those of a hub. It undoes EncodeRefs, EncodeJSON
// and EncodeMetadata.
type Decoder struct {
	// Message gives the id of a message or task, Thing the id of another thing. A reference of
	// which they say false is left as it is.
	Message func(Number) (hub.MessageID, bool)
	Thing   func(Ref) (string, bool)
	// Number is told of each message or task that is not in the capsule and is named all the
	// same: the text keeps its number as it is. ID is told of each token with _ inside, such
	// as r_5x, which may name another thing that is not in the capsule.
	Number func(int64)
	ID     func(token string)
}

// Text decodes a text.
func (d *Decoder) Text(text string) string {
	d.look(text)
	return DecodeRefs(text, d.Message, d.Thing)
}

// JSON decodes every string of a JSON text, names of members included. It refuses what
// EncodeJSON refuses, and an object in which two names become one.
func (d *Decoder) JSON(raw json.RawMessage) (json.RawMessage, error) { return MapJSON(raw, d.Text) }

// Metadata decodes metadata of a message. Exactly the string "#m5" in the members of hubNumbers()
// becomes a number.
func (d *Decoder) Metadata(raw json.RawMessage) (json.RawMessage, error) {
	nowhere := func(Number) (hub.MessageID, bool) { return 0, false }
	nothing := func(Ref) (string, bool) { return "", false }
	m := mapper{
		text: d.Text,
		inID: func(text string) string { return DecodeRefs(text, nowhere, nothing) },
		id:   d.Message,
		number: func(id int64) (Number, bool) {
			d.Number(id)
			return 0, false
		},
	}
	return m.run(raw, hubNumbers())
}

// look tells of the numbers and ids that a text keeps.
func (d *Decoder) look(text string) {
	for at := strings.IndexByte(text, '#'); at >= 0; {
		end := wordEnd(text, at+1)
		if n, ok := parseNumber(text[at+1 : end]); ok && (at == 0 || !word()[text[at-1]]) {
			d.Number(n)
		}
		at = next(text, end, '#')
	}
	for at := strings.IndexByte(text, '_'); at >= 0; {
		begin, end := at, wordEnd(text, at)
		for begin > 0 && word()[text[begin-1]] {
			begin--
		}
		d.ID(text[begin:end])
		at = next(text, end, '_')
	}
}

// next returns where a byte stands next in a text, or -1.
func next(text string, from int, c byte) int {
	at := strings.IndexByte(text[from:], c)
	if at < 0 {
		return -1
	}
	return from + at
}
