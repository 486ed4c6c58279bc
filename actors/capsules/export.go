package capsules

import (
	"context"
	"crypto/sha256"
	"io"
	"maps"

	"hubcli/actors/core"
	"hubcli/capsule"
	"hubcli/hub"
)

// Result says what an export wrote.
type Result struct {
	Manifest capsule.Manifest
	Head     core.Head // of the state that the capsule shows
	State    State     // of what can change without a new message
	// LeftOut are the first artifacts that were left out as binary.
	LeftOut []hub.CapsuleLeftOut
}

// An exporter writes one capsule.
type exporter struct {
	*survey
	texts   *texts
	threads *threadNames
	out     *capsule.Writer
	blobs   []blob // of each artifact
	changed capsule.Redaction
	done    int64
	tell    func(done, total int64)
	omitted []hub.CapsuleLeftOut
}

// blob is what the capsule has of an artifact's content.
type blob struct {
	sha     [sha256.Size]byte
	bytes   int64
	media   string
	leftOut string
}

// Export writes the capsule of one project, as it is in a snapshot, to w. red redacts its
// texts; nil redacts nothing, and share_safe refuses that. progress is called now and then
// with how many of how many rows are written; nil: nobody asks.
// Errors: project_not_found, room_not_found, invalid, corrupt_record, the cause of ctx, and
// the error of w. What w has after an error is no capsule.
func Export(ctx context.Context, rows core.Snapshot, w io.Writer, req Request, id Identity, red Redactor, progress func(done, total int64)) (Result, error) {
	if req.Privacy == capsule.ShareSafe && red == nil {
		return Result{}, hub.NewError(hub.CodeInternal, "a share_safe capsule needs a redaction")
	}
	head := rows.Head()
	s, err := newSurvey(ctx, rows, req, 0, head.Message)
	if err != nil {
		return Result{}, err
	}
	if progress == nil {
		progress = func(int64, int64) {}
	}
	e := &exporter{survey: s, texts: &texts{survey: s, redactor: red}, tell: progress}
	e.changed = capsule.Redaction{Replaced: map[string]int{}, LeftOut: map[string]int{}}
	e.threads = &threadNames{texts: e.texts}
	e.texts.nameAgents()
	names := e.projectNames()
	e.out = capsule.NewWriter(w, capsule.Manifest{
		ProductVersion: id.Version, CreatedAt: id.CreatedAt, CapsuleID: id.CapsuleID, Scope: req.Scope, Privacy: req.Privacy, Project: names,
		Redaction: e.changed, // whose maps are filled at the end
	})
	e.tell(0, e.total())
	if err := e.writeAll(names); err != nil {
		return Result{}, err
	}
	maps.Copy(e.changed.LeftOut, e.leftOut)
	if red != nil {
		maps.Copy(e.changed.Replaced, red.Counts())
	}
	m, err := e.out.Close()
	e.tell(e.total(), e.total())
	return Result{Manifest: m, Head: head, State: s.state(), LeftOut: e.omitted}, err
}

// Resting returns a snapshot that calls rest before each message that it shows, so that an
// export of many messages lets others go first.
func Resting(s core.Snapshot, rest func()) core.Snapshot { return &resting{s, rest} }

type resting struct {
	core.Snapshot
	rest func()
}

// Messages implements core.Rows.
func (r *resting) Messages(scope core.Scope, after, upto hub.MessageID, backward bool, fn func(*core.StoredMessage) bool) error {
	return r.Snapshot.Messages(scope, after, upto, backward, func(m *core.StoredMessage) bool {
		r.rest()
		return fn(m)
	})
}

// writeAll writes the entries, one after the other.
func (e *exporter) writeAll(names capsule.ManifestNames) error {
	err := e.out.Project(capsule.Project{Slug: names.Slug, Name: names.Name, CreatedAt: e.row.CreatedAt, Archived: e.row.Archived})
	for _, step := range []func() error{e.roomLines, e.agentLines, e.decisionLines, e.contents, e.artifactLines, e.memoryLines, e.runLines, e.taskLines} {
		if err == nil {
			err = step()
		}
	}
	if err != nil || !e.req.messages() {
		return err
	}
	for i := range e.chosen {
		if err := e.messageLines(i); err != nil {
			return err
		}
	}
	return nil
}

// projectNames returns the names that the project had in its first hub, unless it was
// renamed since.
func (e *exporter) projectNames() capsule.ManifestNames {
	slug, name := e.row.Slug, e.row.Name
	if from := e.row.Imported; from != nil {
		slug = from.Slug
		if name == from.GivenName {
			name = from.Name
		}
	}
	return capsule.ManifestNames{Slug: e.texts.slugBeside(slug, name), Name: e.texts.safe(name, hub.MaxNameChars)}
}

// line writes a line, and counts it.
func (e *exporter) line(v any) error {
	if e.done++; e.done%checkEvery == 0 {
		e.tell(e.done, e.total())
		if err := context.Cause(e.ctx); err != nil {
			return err
		}
	}
	return e.out.Line(v)
}
