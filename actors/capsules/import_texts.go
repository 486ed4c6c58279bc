package capsules

import (
	"encoding/json"

	"hubcli/capsule"
	"hubcli/hub"
)

// importTexts gives texts of a capsule the ids of this hub.
type importTexts struct{ decoder capsule.Decoder }

// text returns a text with the ids of this hub.
func (t *importTexts) text(text string) string { return t.decoder.Text(text) }

// json returns a JSON value whose strings have the ids of this hub.
func (t *importTexts) json(value json.RawMessage) json.RawMessage {
	return decoded(value, t.decoder.JSON)
}

// metadata does the same for metadata, whose members also have ids as numbers.
func (t *importTexts) metadata(value json.RawMessage) json.RawMessage {
	return decoded(value, t.decoder.Metadata)
}

// decoded returns a JSON value that has been verified, so it is valid.
func decoded(value json.RawMessage, decode func(json.RawMessage) (json.RawMessage, error)) json.RawMessage {
	if len(value) == 0 {
		return value
	}
	out, err := decode(value)
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
