package core

import (
	"slices"
	"strings"
	"unicode"

	"hubcli/hub"
)

// maxCandidates is how many look-alikes a refusal shows.
const maxCandidates = 10

// similar lists the rooms of a project that a room of this name would look like,
// the closest first.
func (p *Projects) similar(project hub.ProjectID, name string) []hub.SimilarRoom {
	var found []hub.SimilarRoom
	want := lettersOf(name)
	for _, room := range p.atlas.Rooms(project) {
		if lettersOf(room.Name) == want {
			found = append(found, hub.SimilarRoom{
				RoomID: room.RoomID, Slug: room.Slug, Name: room.Name, Topic: room.Topic,
				Why: "the names are the same but for case, accents, spaces and punctuation",
			})
		}
	}
	return slices.Clip(found[:min(len(found), maxCandidates)])
}

// lettersOf returns the letters and digits of a name, in lower case without
// accents; of a name that has none, the name.
func lettersOf(name string) string {
	letters := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, plain(name))
	if letters == "" {
		return foldName(name)
	}
	return letters
}
