package index

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"hubcli/actors/core"
	"hubcli/actors/view"
	"hubcli/hub"
)

// maxIndexedText is how many bytes of an artifact, or of the attachments of a message,
// are searched.
const maxIndexedText = 64 << 10

func messageDocument(m *core.StoredMessage) (core.IndexDocument, error) {
	row, err := m.JSON.Decode()
	if err != nil {
		return core.IndexDocument{}, hub.Errorf(hub.CodeCorruptRecord, "message %d cannot be read", m.ID)
	}
	d := core.IndexDocument{
		Type: hub.FoundMessage, Number: uint64(m.ID), Text: MessageText(&row),
		Channel: m.Channel, From: m.From, Kind: string(m.Kind), TS: m.TS,
	}
	if m.To != "" {
		d.Parties = []hub.AgentID{m.From, m.To}
	}
	if row.RoomID != nil {
		d.Place = string(*row.RoomID)
	}
	return d, nil
}

// MessageText is what is found of a message: its body, and of its attachments
// what people read.
func MessageText(m *hub.Message) string {
	if len(m.Attachments) == 0 {
		return m.Body
	}
	var b strings.Builder
	for i := range m.Attachments {
		a := &m.Attachments[i]
		for _, s := range []string{a.Path, a.Description, contentText(a)} {
			if s != "" {
				b.WriteByte('\n')
				b.WriteString(s)
			}
		}
		if b.Len() > maxIndexedText {
			break
		}
	}
	return m.Body + clipped(b.String(), maxIndexedText)
}

// clipped returns the beginning of text, at most so many bytes, that ends with a
// whole character.
func clipped(text string, bytes int) string {
	if len(text) <= bytes {
		return text
	}
	for bytes > 0 && !utf8.RuneStart(text[bytes]) {
		bytes--
	}
	return text[:bytes]
}

// keptDocuments returns the documents that change with a row of a table: the
// row's own, and that of a memory which it replaces.
func keptDocuments(v *view.View, rows core.Rows, table core.Table, seq hub.Seq) ([]core.IndexDocument, error) {
	switch table {
	case core.TableDecision:
		row, err := StoredDecision(rows, seq)
		if err != nil {
			return nil, err
		}
		return []core.IndexDocument{{
			Type: hub.FoundDecision, Number: uint64(seq), Text: DecisionText(row),
			Place: string(row.RoomID), From: row.By, TS: row.CreatedAt,
		}}, nil
	case core.TableArtifact:
		row, err := StoredArtifact(rows, seq)
		if err != nil {
			return nil, err
		}
		text, err := ArtifactText(rows, row, seq)
		if err != nil {
			return nil, err
		}
		return []core.IndexDocument{{
			Type: hub.FoundArtifact, Number: uint64(seq), Text: text,
			Place: string(row.RoomID), From: row.By, Kind: row.Kind, TS: row.CreatedAt,
		}}, nil
	default:
		return memoryDocuments(v, seq)
	}
}

// StoredDecision returns a decision from the store. ErrNotFound.
func StoredDecision(rows core.Rows, seq hub.Seq) (*hub.Decision, error) {
	row, err := view.StoredRow[hub.Decision](rows, core.TableDecision, core.SeqKey(seq))
	return &row, err
}

// StoredArtifact returns an artifact from the store. ErrNotFound.
func StoredArtifact(rows core.Rows, seq hub.Seq) (*hub.Artifact, error) {
	row, err := view.StoredRow[hub.Artifact](rows, core.TableArtifact, core.SeqKey(seq))
	return &row, err
}

// DecisionText is what is found of a decision: its title, its note and what its
// metadata says.
func DecisionText(d *hub.Decision) string {
	parts := []string{d.Title, d.Note, saidIn(d.Metadata)}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "\n")
}

// saidIn returns the names, texts and numbers of a JSON value, in their order.
func saidIn(value json.RawMessage) string {
	var words []string
	tokens := json.NewDecoder(bytes.NewReader(value))
	tokens.UseNumber()
	for {
		token, err := tokens.Token()
		if err != nil { // the end
			return strings.Join(words, " ")
		}
		switch token := token.(type) {
		case string:
			words = append(words, token)
		case json.Number:
			words = append(words, token.String())
		}
	}
}

// ArtifactText is what is found of an artifact: its title and the beginning of
// its content, if that is text.
func ArtifactText(rows core.Rows, a *hub.Artifact, seq hub.Seq) (string, error) {
	content, err := rows.Row(core.TableArtifactContent, core.SeqKey(seq))
	if err != nil && !errors.Is(err, core.ErrNotFound) {
		return "", err
	}
	text := clipped(string(content[:min(len(content), maxIndexedText+utf8.UTFMax)]), maxIndexedText)
	if text == "" || !utf8.ValidString(text) || bytes.IndexByte([]byte(text), 0) >= 0 {
		return a.Title, nil
	}
	return a.Title + "\n" + text, nil
}

// contentText is the text of an attachment's content: of a JSON string what it
// says, of any other JSON the JSON.
func contentText(a *hub.Attachment) string {
	if len(a.Content) == 0 || a.Content[0] != '"' {
		return string(a.Content)
	}
	var text string
	if json.Unmarshal(a.Content, &text) != nil {
		return ""
	}
	return text
}

// memoryDocuments returns the documents that change with a memory: its own and
// that of the memory it replaces.
func memoryDocuments(v *view.View, seq hub.Seq) ([]core.IndexDocument, error) {
	var docs []core.IndexDocument
	for seq != 0 {
		row, err := v.Memory(seq)
		if err != nil {
			return nil, err
		}
		docs = append(docs, core.IndexDocument{
			Type: hub.FoundMemory, Number: uint64(seq), Text: MemoryText(&row.Memory), History: row.ReplacedAt != nil,
			Place: row.Of(), From: row.By, TS: row.CreatedAt,
		})
		if seq = row.Replaces; len(docs) > 1 {
			break
		}
	}
	return docs, nil
}

// MemoryText is what is found of a memory: its key, its text and its tags.
func MemoryText(m *hub.Memory) string {
	parts := []string{m.Key, m.Text, strings.Join(m.Tags, " ")}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "\n")
}

// keptRows counts the decisions, artifacts and memories among rows.
func keptRows(rows []core.Row) (n int64) {
	for i := range rows {
		switch rows[i].Table {
		case core.TableDecision, core.TableArtifact, core.TableMemory:
			n++
		default:
		}
	}
	return n
}
