package capsule

import (
	"strconv"
	"strings"

	"hubcli/hub"
)

// The names of the entries. There are no others but one of messages for each room and one
// for each blob.
const (
	nameMimetype  = "mimetype"
	nameManifest  = "manifest.json"
	nameReadme    = "README.md"
	nameProject   = "project.json"
	nameRooms     = "rooms.ndjson"
	nameAgents    = "agents.ndjson"
	nameDecisions = "decisions.ndjson"
	nameArtifacts = "artifacts.ndjson"
	nameMemories  = "memories.ndjson"
	nameRuns      = "runs.ndjson"
	nameTasks     = "tasks.ndjson"

	messagesFolder = "messages/"
	blobsFolder    = "blobs/sha256/"
	linesSuffix    = ".ndjson"
)

// sections are the entries with lines that every capsule has.
var sections = []string{nameRooms, nameAgents, nameDecisions, nameArtifacts, nameMemories, nameRuns, nameTasks}

// MessagesPath returns the name of the entry with the messages of a room.
func MessagesPath(room Ref) string { return messagesFolder + string(room) + linesSuffix }

// BlobPath returns the name of the entry with the bytes of this hash, 64 lower case
// hexadecimal digits.
func BlobPath(sha string) string { return blobsFolder + sha }

// messagesOf returns the room of an entry with messages.
func messagesOf(path string) (Ref, bool) {
	rest, ok := strings.CutPrefix(path, messagesFolder)
	room, suffixed := strings.CutSuffix(rest, linesSuffix)
	if !ok || !suffixed {
		return "", false
	}
	_, ok = Ref(room).number('r')
	return Ref(room), ok
}

// blobOf returns the hash of an entry with bytes.
func blobOf(path string) (sha string, ok bool) {
	sha, ok = strings.CutPrefix(path, blobsFolder)
	return sha, ok && isHash(sha)
}

func isHash(text string) bool { return len(text) == 64 && strings.Trim(text, "0123456789abcdef") == "" }

// lines reports whether the entry has lines.
func lines(path string) bool { return strings.HasSuffix(path, linesSuffix) }

// number returns the number of a reference of this letter, from 1.
func (r Ref) number(letter byte) (int64, bool) {
	if r == "" || r[0] != letter {
		return 0, false
	}
	return parseNumber(string(r[1:]))
}

// refOf returns the n-th reference of a letter.
func refOf(letter byte, n int64) Ref { return Ref(letter) + Ref(strconv.FormatInt(n, 10)) }

// checkName refuses the name of an entry that no capsule has, and says why where it would
// do harm elsewhere.
func checkName(name string) error {
	switch name {
	case nameMimetype, nameManifest, nameReadme, nameProject:
		return nil
	}
	for _, section := range sections {
		if name == section {
			return nil
		}
	}
	if _, ok := messagesOf(name); ok {
		return nil
	}
	if _, ok := blobOf(name); ok {
		return nil
	}
	return badName(name)
}

func badName(name string) *hub.Error {
	switch {
	case strings.HasPrefix(name, "/"), strings.Contains(name, ".."), strings.ContainsAny(name, "\\:"):
		return invalid(name, "the name leads out of the capsule")
	case strings.HasSuffix(name, "/"):
		return invalid(name, "a folder has no entry of its own")
	}
	return invalid(name, "no capsule has an entry of this name")
}
