package capsules

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"hubcli/capsule"
	"hubcli/hub"
)

// Limits of attachments, in characters, as package api checks them.
const (
	maxLanguageChars    = 64
	maxDescriptionChars = 4096
)

// texts turns texts of the hub into those of a capsule: first they are redacted, then their
// references get the numbers of the capsule. Every text of a line goes through it.
type texts struct {
	*survey
	redactor Redactor // nil: nothing is redacted
}

// text returns a text of at most limit characters. Only what a redaction has made longer is
// cut.
func (t *texts) text(text string, limit int) string {
	return capsule.EncodeRefs(t.safe(text, limit), t.number, t.thing)
}

// safe returns the redacted text, without its references changed.
func (t *texts) safe(text string, limit int) string {
	if t.redactor == nil || text == "" {
		return text
	}
	changed := t.redactor.Text(text)
	if changed == text {
		return text
	}
	return shortened(changed, limit)
}

// shortened returns the first limit characters of a text.
func shortened(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	n := 0
	for i := range text {
		if n == limit {
			return text[:i]
		}
		n++
	}
	return text
}

// all returns several texts.
func (t *texts) all(list []string, limit int) []string {
	out := make([]string, len(list))
	for i := range list {
		out[i] = t.text(list[i], limit)
	}
	return out
}

// metadata returns metadata of a message or decision: an object, at most
// hub.MaxMetadataBytes long.
func (t *texts) metadata(raw json.RawMessage) (json.RawMessage, error) {
	if isEmptyObject(raw) {
		return nil, nil
	}
	raw, err := t.safeJSON(raw, hub.MaxMetadataBytes, leftMetadata)
	if err != nil || raw == nil {
		return nil, err
	}
	return capsule.EncodeMetadata(Single(raw), t.number, t.thing)
}

// content returns the content of an attachment.
func (t *texts) content(raw json.RawMessage) (json.RawMessage, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	raw, err := t.safeJSON(raw, hub.DefaultLimits().MaxAttachmentChars, leftContent)
	if err != nil || raw == nil {
		return json.RawMessage(`""`), err
	}
	return capsule.EncodeJSON(Single(raw), t.number, t.thing)
}

// safeJSON returns a redacted JSON text, or nil and counts it if its redaction has made it
// longer than limit.
func (t *texts) safeJSON(raw json.RawMessage, limit int, kind string) (json.RawMessage, error) {
	if t.redactor == nil {
		return raw, nil
	}
	changed, err := t.redactor.JSON(raw)
	switch {
	case err != nil:
		return nil, hub.NewError(hub.CodeCorruptRecord, "a stored JSON text cannot be read: "+err.Error())
	case len(changed) > len(raw) && utf8.RuneCount(changed) > limit:
		t.left(kind, 1)
		return nil, nil
	}
	return changed, nil
}

// Single returns a JSON text in which no object has a name twice: two names may have become
// one by their redaction. The last one stands, as for most readers.
func Single(raw json.RawMessage) json.RawMessage {
	if _, err := capsule.MapJSON(raw, func(text string) string { return text }); err == nil {
		return raw
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var all any
	if d.Decode(&all) != nil {
		return raw
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(all) != nil {
		return raw
	}
	return bytes.TrimSpace(b.Bytes())
}

func isEmptyObject(raw json.RawMessage) bool {
	return len(raw) == 0 || string(raw) == "{}" || string(raw) == "null"
}

// attachment returns an attachment.
func (t *texts) attachment(a hub.Attachment) (hub.Attachment, error) {
	content, err := t.content(a.Content)
	a.Content = content
	a.Language, a.Path = t.text(a.Language, maxLanguageChars), t.text(a.Path, hub.MaxFilePathChars)
	a.Description = t.text(a.Description, maxDescriptionChars)
	a.Base, a.Head = t.text(a.Base, hub.MaxNameChars), t.text(a.Head, hub.MaxNameChars)
	return a, err
}

// slugBeside returns the slug of a thing with this name, without references. A slug is made of a
// name and may still spell what is redacted in it, in lower case and with hyphens. So it is
// made anew from a name that is redacted.
func (t *texts) slugBeside(slug, name string) string {
	safe := t.safe(slug, hub.MaxSlugChars)
	if shown := t.safe(name, hub.MaxNameChars); shown != name {
		safe = shown
	}
	if safe == slug {
		return slug
	}
	var b strings.Builder
	for _, r := range strings.ToLower(safe) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	return strings.Trim(b.String()[:min(b.Len(), hub.MaxSlugChars)], "-")
}

// mediaType returns a content type: of one that tells a secret, nothing stays.
func (t *texts) mediaType(contentType string) string {
	if t.safe(contentType, hub.MaxNameChars) == contentType {
		return contentType
	}
	return "text/plain; charset=utf-8"
}
