package core

import (
	"fmt"
	"strconv"
	"strings"

	"hubcli/hub"
)

// AddDecision records a decision and posts it to the room's channel. If the
// call names no agent, the hub posts without the text: a caller must not be
// able to speak as the hub.
func (r *Room) AddDecision(in hub.DecisionInput, by TaskActor) Decision[hub.Decision] {
	fact := &DecisionAdded{Title: in.Title, Note: in.Note, By: in.By, Metadata: in.Metadata}
	m := r.tells(by, hub.KindNotice)
	m.Numbered = func(m *MessageDraft, at Position) {
		id := IDAt(PrefixDecision, at.Seq)
		m.Metadata = naming("decision", id)
		switch m.Body = "Decided (" + id + "): " + in.Title; {
		case by.Agent == "":
			m.Body = "Decision " + id + " was recorded; nobody is named."
		case in.Note != "":
			m.Body += "\n\n" + in.Note
		}
	}
	return Decision[hub.Decision]{
		Draft:  Draft{Facts: []Fact{fact}, Messages: []MessageDraft{m}},
		Answer: func(at Position) hub.Decision { return fact.row(r.id, at) },
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
		m.Body = fmt.Sprintf("%q version %d (%s, %s). %s",
			fact.Title, fact.Version, plainType(fact.ContentType), bytesInWords(fact.Size), readArtifact(id))
		if by.Agent == "" {
			m.Body = fmt.Sprintf("Artifact %s was stored (%s); nobody is named. %s", id, bytesInWords(fact.Size), readArtifact(id))
		}
	}
	return Decision[hub.Artifact]{
		Draft:  Draft{Facts: []Fact{fact}, Messages: []MessageDraft{m}, Content: c.Content},
		Answer: func(at Position) hub.Artifact { return fact.row(r.id, at) },
	}, nil
}

// plainType is a content type without the parameters that every text has.
func plainType(contentType string) string {
	return strings.TrimSuffix(contentType, "; charset=utf-8")
}

// readArtifact says how an agent or a person reads an artifact.
func readArtifact(id string) string {
	return "Read it: hub_get_artifact (hubcli artifact get) " + id + "."
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
