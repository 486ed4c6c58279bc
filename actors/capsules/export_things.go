package capsules

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"

	"hubcli/actors/core"
	"hubcli/actors/view"
	"hubcli/capsule"
	"hubcli/hub"
)

func (e *exporter) roomLines() error {
	if err := e.out.Section("rooms.ndjson"); err != nil {
		return err
	}
	taken := map[string]bool{}
	for i := range e.chosen {
		r := &e.chosen[i]
		slug := free(e.texts.slugBeside(r.Slug, r.Name), hub.MaxSlugChars, func(s string) bool { return taken[s] })
		taken[slug] = true
		err := e.line(&capsule.Room{
			ID: refOf("r", int64(i)+1), Slug: slug, Name: e.texts.text(r.Name, hub.MaxNameChars),
			Topic: e.texts.text(r.Topic, hub.MaxTopicChars), CreatedBy: e.texts.agentName(r.CreatedBy), CreatedAt: r.CreatedAt,
			ForceReason: e.texts.text(r.ForceReason, hub.MaxReasonChars), Locks: r.Locks,
			Archived: r.Archived, WithProject: r.WithProject, GuardHops: r.GuardHops,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// agentLines writes the agents by their names in the capsule.
func (e *exporter) agentLines() error {
	if err := e.out.Section("agents.ndjson"); err != nil {
		return err
	}
	byName := map[hub.AgentID]hub.AgentID{}
	var names []hub.AgentID
	for id, name := range e.agents {
		if !name.Reserved() {
			byName[name] = id
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		row, err := view.StoredRow[core.AgentRow](e.rows, core.TableAgent, []byte(byName[name]))
		if err != nil && !errors.Is(err, core.ErrNotFound) {
			return err
		}
		if err := e.out.Line(&capsule.Agent{ID: name, DisplayName: e.texts.safe(row.Session.DisplayName, hub.MaxDisplayNameChars)}); err != nil {
			return err
		}
	}
	return nil
}

func (e *exporter) decisionLines() error {
	if err := e.out.Section("decisions.ndjson"); err != nil {
		return err
	}
	return eachOf(e.survey, core.TableDecision, e.decisions, func(n int64, d hub.Decision) error {
		metadata, err := e.texts.metadata(d.Metadata)
		if err != nil {
			return err
		}
		if metadata == nil {
			metadata = []byte("{}")
		}
		return e.line(&capsule.Decision{
			ID: refOf("d", n), Room: e.ref(string(d.RoomID)), Title: e.texts.text(d.Title, hub.MaxTitleChars),
			Note: e.texts.text(d.Note, hub.MaxNoteChars), By: e.texts.agentName(d.By), Metadata: metadata, CreatedAt: d.CreatedAt,
		})
	})
}

// Why the bytes of an artifact are not in a capsule.
const (
	artifactBinary = "binary"
	artifactLarge  = "too_large" // after its redaction

	artifactEncoding = "encoding" // of the plan alone: the capsule says binary
)

// contents writes the bytes of the artifacts, one after the other.
func (e *exporter) contents() error {
	e.blobs = make([]blob, len(e.artifacts))
	return eachOf(e.survey, core.TableArtifact, e.artifacts, func(n int64, a hub.Artifact) error {
		b := &e.blobs[n-1]
		b.media, b.leftOut = e.texts.mediaType(a.ContentType), a.LeftOut
		if b.leftOut != "" {
			return nil
		}
		data, err := e.rows.Row(core.TableArtifactContent, core.SeqKey(e.artifacts[n-1]))
		if errors.Is(err, core.ErrNotFound) {
			return hub.NewError(hub.CodeCorruptRecord, "the content of an artifact is missing").With("artifact_id", a.ArtifactID)
		}
		if err != nil {
			return err
		}
		if data = e.contentOf(&a, data, b); b.leftOut != "" {
			return nil
		}
		b.sha, b.bytes = sha256.Sum256(data), int64(len(data))
		_, err = e.out.Blob(data)
		return err
	})
}

// contentOf returns what the capsule has of a content, or says in b why it has nothing.
func (e *exporter) contentOf(a *hub.Artifact, data []byte, b *blob) []byte {
	if !capsule.TextContent(a.ContentType, data) {
		if e.texts.redactor != nil && !slices.Contains(e.req.Binary, a.ArtifactID) {
			b.leftOut = artifactBinary
			e.left(leftBinary, 1)
			e.nameLeftOut(a)
		}
		return data
	}
	// References stay as they are: a content may be code, in which #124 is a color.
	out := e.texts.safe(string(data), hub.MaxArtifactBytes)
	if len(out) > hub.MaxArtifactBytes && e.texts.redactor != nil {
		b.leftOut = artifactLarge
		e.left(leftContent, 1)
	}
	return []byte(out)
}

// nameLeftOut keeps the names of the first artifacts that are left out, as the operator knows
// them. They are for the plan, and in no capsule.
func (e *exporter) nameLeftOut(a *hub.Artifact) {
	if len(e.omitted) >= hub.MaxLeftOutNames {
		return
	}
	reason := artifactBinary
	if capsule.TextType(a.ContentType) {
		reason = artifactEncoding
	}
	e.omitted = append(e.omitted, hub.CapsuleLeftOut{ArtifactID: a.ArtifactID, Title: a.Title, Version: a.Version, Reason: reason})
}

func (e *exporter) artifactLines() error {
	if err := e.out.Section("artifacts.ndjson"); err != nil {
		return err
	}
	return eachOf(e.survey, core.TableArtifact, e.artifacts, func(n int64, a hub.Artifact) error {
		b := &e.blobs[n-1]
		line := &capsule.Artifact{
			ID: refOf("a", n), Room: e.ref(string(a.RoomID)), Title: e.texts.text(a.Title, hub.MaxTitleChars),
			Kind: e.texts.text(a.Kind, hub.MaxNameChars), By: e.texts.agentName(a.By), Version: a.Version,
			ContentType: b.media, CreatedAt: a.CreatedAt, LeftOut: b.leftOut,
		}
		if b.leftOut == "" {
			line.Bytes, line.SHA256 = b.bytes, hex.EncodeToString(b.sha[:])
		}
		return e.line(line)
	})
}

func (e *exporter) memoryLines() error {
	if err := e.out.Section("memories.ndjson"); err != nil {
		return err
	}
	return eachOf(e.survey, core.TableMemory, e.memories, func(n int64, m core.StoredMemory) error {
		replaced, err := e.replacedAt(&m)
		if err != nil {
			return err
		}
		line := &capsule.Memory{
			ID: refOf("k", n), Scope: m.Scope, Key: e.texts.text(m.Key, hub.MaxNameChars), Text: e.texts.text(m.Text, hub.MaxMemoryChars),
			Tags: e.texts.all(m.Tags, hub.MaxNameChars), By: e.texts.agentName(m.By), CreatedAt: m.CreatedAt, ReplacedAt: replaced,
		}
		if m.RoomID != nil {
			line.Room = e.ref(string(*m.RoomID))
		}
		if earlier, ok := e.memories.of(m.Replaces); ok {
			line.Replaces = refOf("k", earlier)
		}
		return e.line(line)
	})
}

// replacedAt returns when a memory became history, or nil if it is current.
func (e *exporter) replacedAt(m *core.StoredMemory) (*hub.Time, error) {
	if m.ReplacedAt != nil {
		return m.ReplacedAt, nil
	}
	seq := view.SeqOf(core.PrefixMemory, m.MemoryID)
	end, err := e.rows.Row(core.TableMemoryBy, core.MemoryByKey(m.Of(), seq))
	if err != nil || len(end) == 0 {
		return nil, err
	}
	row, err := view.DecodeRow[core.MemoryEnd](core.TableMemoryBy, end)
	return &row.At, err
}
