package capsule

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
)

// count counts a line in the manifest. It returns the name of the section that holds such
// lines (for a message only the folder) and the line in its one form: lists that are empty
// are [], and metadata that are empty are {} or left out.
func (c *Writer) count(v any) (path string, line any) {
	n := &c.manifest.Counts
	switch v := v.(type) {
	case Room:
		return c.count(&v)
	case Agent:
		return c.count(&v)
	case Decision:
		return c.count(&v)
	case Artifact:
		return c.count(&v)
	case Memory:
		return c.count(&v)
	case Run:
		return c.count(&v)
	case Task:
		return c.count(&v)
	case Message:
		return c.count(&v)
	case *Room:
		n.Rooms++
		return nameRooms, v
	case *Agent:
		n.Agents++
		return nameAgents, v
	case *Decision:
		n.Decisions++
		return nameDecisions, v.whole()
	case *Artifact:
		n.Artifacts++
		return nameArtifacts, v
	case *Memory:
		n.Memories++
		return nameMemories, v.whole()
	case *Run:
		n.Runs++
		return nameRuns, v
	case *Task:
		n.Tasks++
		return nameTasks, v.whole()
	case *Message:
		n.Messages++
		if v.To != "" {
			n.Direct++
		}
		return messagesFolder, v.whole()
	}
	return "", nil
}

func (d *Decision) whole() *Decision {
	if len(d.Metadata) > 0 {
		return d
	}
	whole := *d
	whole.Metadata = json.RawMessage("{}")
	return &whole
}

func (m *Memory) whole() *Memory {
	if m.Tags != nil {
		return m
	}
	whole := *m
	whole.Tags = []string{}
	return &whole
}

func (t *Task) whole() *Task {
	if t.BlockedBy != nil {
		return t
	}
	whole := *t
	whole.BlockedBy = []Number{}
	return &whole
}

func (m *Message) whole() *Message {
	if string(m.Metadata) != "{}" {
		return m
	}
	whole := *m
	whole.Metadata = nil
	return &whole
}

func (r Redaction) whole() Redaction {
	whole := Redaction{Replaced: map[string]int{}, LeftOut: map[string]int{}}
	maps.Copy(whole.Replaced, r.Replaced)
	maps.Copy(whole.LeftOut, r.LeftOut)
	return whole
}

// Digest returns the digest of the content that entries list: sha256: and the SHA-256 of
// one line for each entry, its hash, two spaces, its path and a line feed, sorted by path.
// entries must be sorted. Equal projects have equal digests, whatever wrote the capsule
// and however it is compressed.
func Digest(entries []Entry) string {
	h := sha256.New()
	for i := range entries {
		h.Write([]byte(entries[i].SHA256 + "  " + entries[i].Path + "\n"))
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// readme is README.md, the same in every capsule of this major.
var readme = []byte(`# A project of a hub

This file is a project capsule (` + Mimetype + `): rooms, decisions, artifacts and
messages of a team of agents. It is a zip archive.

- manifest.json says what is in it: scope, privacy, counts, and the SHA-256 of each entry.
- project.json is the project. Each line of an .ndjson file is one JSON object: rooms, agents,
  decisions, artifacts, memories, runs, tasks, and in messages/ the messages of each room.
- blobs/sha256/ has the bytes of the artifacts, under their SHA-256.

Messages and tasks share one numbering from 1. In texts #m12 is the message or task 12, #r1 the
first room, #d1 a decision, #a1 an artifact, #k1 a memory, #u1 a run and #p1 the project.

Look into it:   hubcli capsule inspect FILE.hubpack
Bring it in:    hubcli capsule import FILE.hubpack
Without a hub:  unzip -p FILE.hubpack manifest.json | jq .counts
`)
