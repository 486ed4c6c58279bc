package capsules

import (
	"crypto/sha256"
	"encoding/hex"

	"hubcli/actors/core"
	"hubcli/capsule"
	"hubcli/hub"
)

func (s *staging) importedProject(now hub.Time) (hub.Project, error) {
	m := s.src.Manifest()
	p, err := s.src.Project()
	if err != nil {
		return hub.Project{}, err
	}
	return hub.Project{
		ProjectID: s.project, Slug: p.Slug, Name: p.Name, CreatedAt: p.CreatedAt, Archived: p.Archived,
		Imported: &hub.ProjectImport{CapsuleID: m.CapsuleID, ContentDigest: m.ContentDigest, At: now, Slug: p.Slug, Name: p.Name},
	}, nil
}

func (s *staging) rooms() (rooms []hub.Room, err error) {
	err = s.src.Rooms(func(r *capsule.Room) error {
		id, err := s.room(r.ID)
		if err != nil {
			return err
		}
		rooms = append(rooms, hub.Room{
			RoomID: id, ProjectID: s.project, Slug: r.Slug, Name: s.texts.text(r.Name), Topic: s.texts.text(r.Topic),
			Channel: id.Channel(), Bindings: []string{}, CreatedBy: s.agent(r.CreatedBy), CreatedAt: r.CreatedAt,
			ForceReason: s.texts.text(r.ForceReason), Locks: r.Locks, Archived: r.Archived, WithProject: r.WithProject, GuardHops: r.GuardHops,
		})
		return nil
	})
	return rooms, err
}

// room returns the id of a room that a line names.
func (s *staging) room(ref capsule.Ref) (hub.RoomID, error) {
	id, ok := s.thing(ref)
	if !ok || ref[0] != 'r' {
		return "", errChanged("a line names a room that is not in it")
	}
	return hub.RoomID(id), nil
}

func (s *staging) agents() error {
	return s.src.Agents(func(a *capsule.Agent) error {
		if a.DisplayName != "" {
			core.ImportedAgent(s.agent(a.ID), a.DisplayName, s.put)
		}
		return s.failed
	})
}

func (s *staging) decisions() error {
	return s.src.Decisions(func(d *capsule.Decision) error {
		room, err := s.room(d.Room)
		seq, _, ok := s.seq(d.ID)
		if err != nil || !ok {
			return errChanged("a decision names what is not in it")
		}
		core.ImportedDecision(seq, &hub.Decision{
			DecisionID: hub.DecisionID(core.IDAt(core.PrefixDecision, seq)), RoomID: room,
			Title: s.texts.text(d.Title), Note: s.texts.text(d.Note), By: s.agent(d.By),
			Metadata: orObject(s.texts.metadata(d.Metadata)), CreatedAt: d.CreatedAt,
		}, s.put)
		return s.step()
	})
}

// orObject returns metadata, or an empty object if there is none.
func orObject(value []byte) []byte {
	if len(value) == 0 {
		return []byte("{}")
	}
	return value
}

func (s *staging) artifacts() error {
	type title struct {
		room hub.RoomID
		name string
	}
	latest := map[title]hub.Artifact{}
	err := s.src.Artifacts(func(a *capsule.Artifact) error {
		room, err := s.room(a.Room)
		seq, _, ok := s.seq(a.ID)
		if err != nil || !ok {
			return errChanged("an artifact names what is not in it")
		}
		var content []byte
		if a.LeftOut == "" {
			if content, err = s.src.Blob(a.SHA256); err != nil {
				return err
			}
		}
		row := hub.Artifact{
			ArtifactID: hub.ArtifactID(core.IDAt(core.PrefixArtifact, seq)), RoomID: room,
			Title: s.texts.text(a.Title), Kind: s.texts.text(a.Kind), By: s.agent(a.By), Version: a.Version,
			ContentType: a.ContentType, CreatedAt: a.CreatedAt, LeftOut: a.LeftOut,
		}
		if content != nil {
			sum := sha256.Sum256(content)
			row.Size, row.SHA256 = int64(len(content)), hex.EncodeToString(sum[:])
		}
		core.ImportedArtifact(seq, &row, content, s.put)
		if at := (title{room, row.Title}); latest[at].Version < row.Version {
			latest[at] = row
		}
		return s.step()
	})
	for _, a := range latest {
		core.ImportedTitle(&a, s.put)
	}
	return err
}

func (s *staging) memories() error {
	kept := map[string]int{}
	err := s.src.Memories(func(m *capsule.Memory) error {
		seq, _, ok := s.seq(m.ID)
		if !ok {
			return errChanged("a memory has no number of its own")
		}
		row := core.StoredMemory{Memory: hub.Memory{
			MemoryID: hub.MemoryID(core.IDAt(core.PrefixMemory, seq)), ProjectID: s.project, Scope: m.Scope,
			Key: s.texts.text(m.Key), Text: s.texts.text(m.Text), Tags: s.texts.texts(m.Tags), By: s.agent(m.By), CreatedAt: m.CreatedAt,
		}}
		if m.Room != "" {
			room, err := s.room(m.Room)
			if err != nil {
				return err
			}
			row.RoomID = &room
		}
		if m.Replaces != "" {
			if row.Replaces, _, ok = s.seq(m.Replaces); !ok {
				return errChanged("a memory replaces one that is not in it")
			}
		}
		replaced := m.ReplacedAt
		if m.Text == "" { // it forgets its key, and was history at once
			row.ReplacedAt, replaced = m.ReplacedAt, nil
		}
		if m.ReplacedAt == nil {
			kept[row.Of()]++
		}
		core.ImportedMemory(seq, &row, replaced, s.put)
		return s.step()
	})
	for of, n := range kept {
		core.ImportedMemories(of, n, s.put)
	}
	return err
}
