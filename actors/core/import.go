package core

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"hubcli/hub"
)

// The fact of imports.
const factProjectImported FactType = 910

// ProjectImported says that a project with its rooms exists from now on, and with it all
// that was staged in a gap.
type ProjectImported struct {
	Gap     Gap         `json:"gap"`
	Project hub.Project `json:"project"`
	Rooms   []hub.Room  `json:"rooms"`
	Vacant  int64       `json:"vacant,omitempty"` // as in Import
}

// FactType implements Fact.
func (*ProjectImported) FactType() FactType { return factProjectImported }

func importFacts() map[FactType]func() Fact {
	return map[FactType]func() Fact{factProjectImported: func() Fact { return &ProjectImported{} }}
}

// Import is a committed import, as stored in TableImport.
type Import struct {
	Gap
	Revealed      hub.Seq       `json:"revealed"` // the record that made the project visible
	ProjectID     hub.ProjectID `json:"project_id"`
	CapsuleID     string        `json:"capsule_id"`
	ContentDigest string        `json:"content_digest"`
	// Vacant is how many message ids of the gap no message has. Imports of before it was
	// counted have none.
	Vacant int64 `json:"vacant,omitempty"`
}

// DecodeImport reads a row of TableImport.
func DecodeImport(value []byte) (row Import, err error) {
	if json.Unmarshal(value, &row) != nil || row.FromSeq == 0 || row.UptoSeq < row.FromSeq {
		return row, hub.NewError(hub.CodeCorruptRecord, "the stored row of an import cannot be read")
	}
	return row, nil
}

// ImportCommand asks to make a staged project visible. The ids of the project and its rooms
// are of the gap.
type ImportCommand struct {
	Gap     Gap
	Project hub.Project // its slug and name as in the capsule, and Imported
	Rooms   []hub.Room  // in the order of their ids
	Vacant  int64       // as in Import
}

// Import decides that an imported project exists. If its slug or its name is taken, it gets a
// number. Error: limit_reached.
func (p *Projects) Import(c ImportCommand) (Decision[hub.Project], error) {
	if err := p.roomForImport(len(c.Rooms)); err != nil {
		return Decision[hub.Project]{}, err
	}
	project := c.Project
	project.Slug, project.Name = p.freeNames(project.Slug, project.Name)
	origin := *project.Imported
	origin.GivenName = project.Name
	project.Imported = &origin
	f := &ProjectImported{Gap: c.Gap, Project: project, Rooms: c.Rooms, Vacant: c.Vacant}
	return answering(project, f), nil
}

// FreeNames returns the slug and the name that an imported project would get now. Error:
// limit_reached if there is no room for it.
func (a *ProjectIndex) FreeNames(slug, name string, rooms int) (string, string, error) {
	p := Projects{index: a}
	if err := p.roomForImport(rooms); err != nil {
		return "", "", err
	}
	slug, name = p.freeNames(slug, name)
	return slug, name, nil
}

func (p *Projects) roomForImport(rooms int) error {
	switch {
	case len(p.index.projects) >= hub.MaxKeptProjects:
		return errKept(hub.ClearProjects, "projects", hub.MaxKeptProjects)
	case rooms > hub.MaxProjectRooms:
		return hub.Errorf(hub.CodeLimitReached, "the project has %d rooms, and %d is the most that one brings", rooms, hub.MaxProjectRooms).
			With("limit", hub.MaxProjectRooms).With("what", "rooms of a project").WithFix("export fewer rooms")
	case p.index.Len()+rooms > hub.MaxKeptRooms:
		return errKept(hub.ClearRooms, "rooms", hub.MaxKeptRooms)
	case p.index.bytes >= hub.MaxKeptRoomBytes: // one import brings little beside it
		return errKept(hub.ClearRooms, "bytes of rooms", hub.MaxKeptRoomBytes)
	}
	return nil
}

// freeNames returns a slug and a name that lead to no project yet.
func (p *Projects) freeNames(slug, name string) (freeSlugName, freeName string) {
	freeSlugName = freeSlug(slug, func(s string) bool {
		_, taken := p.index.slugs[s]
		return taken || p.index.named(s) != nil
	})
	freeName = name
	for n := 2; p.index.called(freeName) != nil; n++ {
		end := fmt.Sprintf(" (%d)", n)
		cut := name
		for utf8.RuneCountInString(cut)+len(end) > hub.MaxNameChars {
			_, size := utf8.DecodeLastRuneInString(cut)
			cut = cut[:len(cut)-size]
		}
		freeName = cut + end
	}
	return freeSlugName, freeName
}

// importProject applies the fact at a position.
func (p *Projects) importProject(f *ProjectImported, at Position, rows RowSink) {
	p.index.PutProject(f.Project)
	rows.Put(TableProject, []byte(f.Project.ProjectID), mustJSON(f.Project))
	for _, room := range f.Rooms {
		p.putRoom(StoredRoom{Room: room, Folders: []Folder{}}, rows)
	}
	rows.Put(TableImport, ImportKey(f.Gap.FromSeq), mustJSON(Import{
		Gap: f.Gap, Revealed: at.Seq, ProjectID: f.Project.ProjectID,
		CapsuleID: f.Project.Imported.CapsuleID, ContentDigest: f.Project.Imported.ContentDigest,
		Vacant: f.Vacant,
	}))
}
