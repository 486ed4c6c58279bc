package core

import (
	"encoding/json"
	"fmt"
	"strconv"

	"hubcli/hub"
)

// DecisionAdded records a decision of the room.
type DecisionAdded struct {
	Title    string          `json:"title"`
	Note     string          `json:"note,omitempty"`
	By       hub.AgentID     `json:"by,omitempty"`
	Metadata json.RawMessage `json:"metadata,omitempty"`
}

// ArtifactAdded records a new version of a title. Its content is stored under
// the sequence number of the record.
type ArtifactAdded struct {
	Title       string      `json:"title"`
	Kind        string      `json:"kind"`
	By          hub.AgentID `json:"by,omitempty"`
	Version     int64       `json:"version"`
	Size        int64       `json:"size"`
	SHA256      string      `json:"sha256"`
	ContentType string      `json:"content_type"`
}

// FactType implements Fact.
func (*DecisionAdded) FactType() FactType { return factDecisionAdded }

// FactType implements Fact.
func (*ArtifactAdded) FactType() FactType { return factArtifactAdded }

// AddDecision records a decision and posts it to the room's channel. If the
// call names no agent, the hub posts without the text: a caller must not be
// able to speak as the hub.
func (r *Room) AddDecision(in hub.DecisionInput, by TaskActor) Decision[hub.Decision] {
	fact := &DecisionAdded{Title: in.Title, Note: in.Note, By: in.By, Metadata: in.Metadata}
	m := r.tells(by, hub.KindNotice)
	if m.Body = "Decided: " + in.Title; in.Note != "" {
		m.Body += "\n\n" + in.Note
	}
	m.Numbered = func(m *MessageDraft, at Position) {
		id := IDAt(PrefixDecision, at.Seq)
		if m.Metadata = naming("decision", id); by.Agent == "" {
			m.Body = "Decision " + id + " was recorded; nobody is named."
		}
	}
	return Decision[hub.Decision]{
		Draft:  Draft{Facts: []Fact{fact}, Messages: []MessageDraft{m}},
		Answer: func(at Position) hub.Decision { return fact.row(r.id, at) },
	}
}

// row returns the row that the fact creates at a position.
func (f *DecisionAdded) row(room hub.RoomID, at Position) hub.Decision {
	return hub.Decision{
		DecisionID: hub.DecisionID(IDAt(PrefixDecision, at.Seq)), RoomID: room, Title: f.Title, Note: f.Note,
		By: f.By, Metadata: objectOf(f.Metadata), CreatedAt: at.Now.Wall,
	}
}

// ArtifactCommand asks for the next version of a title.
type ArtifactCommand struct {
	Title       string
	Kind        string
	ContentType string
	Content     []byte // not nil
	SHA256      string // of Content, lower case hexadecimal
}

// AddArtifact decides the next version of a title and posts it to the room's
// channel, as AddDecision does. Error: room_full.
func (r *Room) AddArtifact(c ArtifactCommand, by TaskActor) (Decision[hub.Artifact], error) {
	latest, known := r.versions[c.Title]
	if !known && len(r.versions) >= hub.MaxRoomTitles {
		return Decision[hub.Artifact]{}, errRoomFull("titles of artifacts", hub.MaxRoomTitles)
	}
	fact := &ArtifactAdded{
		Title: c.Title, Kind: c.Kind, By: by.Agent, Version: latest + 1,
		Size: int64(len(c.Content)), SHA256: c.SHA256, ContentType: c.ContentType,
	}
	m := r.tells(by, hub.KindArtifact)
	m.Numbered = func(m *MessageDraft, at Position) {
		id := IDAt(PrefixArtifact, at.Seq)
		m.Metadata = naming("artifact", id)
		m.Body = fmt.Sprintf("%q version %d (%s, %s): GET /v1/artifacts/%s/content",
			fact.Title, fact.Version, fact.ContentType, bytesInWords(fact.Size), id)
		if by.Agent == "" {
			m.Body = fmt.Sprintf("Artifact %s was stored (%s); nobody is named: GET /v1/artifacts/%[1]s/content", id, bytesInWords(fact.Size))
		}
	}
	return Decision[hub.Artifact]{
		Draft:  Draft{Facts: []Fact{fact}, Messages: []MessageDraft{m}, Content: c.Content},
		Answer: func(at Position) hub.Artifact { return fact.row(r.id, at) },
	}, nil
}

// bytesInWords writes a size of at least 0 with a comma before each three digits.
func bytesInWords(n int64) string {
	if n == 1 {
		return "1 byte"
	}
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits + " bytes"
}

// row returns what the fact makes at a position.
func (f *ArtifactAdded) row(room hub.RoomID, at Position) hub.Artifact {
	return hub.Artifact{
		ArtifactID: hub.ArtifactID(IDAt(PrefixArtifact, at.Seq)), RoomID: room, Title: f.Title, Kind: f.Kind,
		By: f.By, Version: f.Version, Size: f.Size, SHA256: f.SHA256, ContentType: f.ContentType,
		CreatedAt: at.Now.Wall,
	}
}

// LatestArtifact is the latest version of a title, as stored.
type LatestArtifact struct {
	Version  int64          `json:"version"`
	Artifact hub.ArtifactID `json:"artifact"`
}

// addArtifact applies ArtifactAdded.
func (r *Room) addArtifact(f *ArtifactAdded, at Position, rows RowSink) {
	row, seq := f.row(r.id, at), SeqKey(at.Seq)
	r.versions[f.Title] = f.Version
	rows.Put(TableArtifact, seq, mustJSON(row))
	rows.Put(TableArtifactByRoom, OwnedKey(r.id, seq), nil)
	rows.Put(TableArtifactTitle, OwnedKey(r.id, []byte(f.Title)), mustJSON(LatestArtifact{f.Version, row.ArtifactID}))
}
