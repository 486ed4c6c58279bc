package readable

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"hubcli/capsule"
	"hubcli/hub"
	"hubcli/internal/lazy"
)

// A Source is what a rendering reads: a capsule that has passed its checks. It is satisfied
// by *capsule.Reader, which gives every line in its order, and may be asked again.
type Source interface {
	Manifest() *capsule.Manifest
	Project() (capsule.Project, error)
	Rooms(fn func(*capsule.Room) error) error
	Agents(fn func(*capsule.Agent) error) error
	Decisions(fn func(*capsule.Decision) error) error
	Artifacts(fn func(*capsule.Artifact) error) error
	Memories(fn func(*capsule.Memory) error) error
	Runs(fn func(*capsule.Run) error) error
	Tasks(fn func(*capsule.Task) error) error
	Messages(room capsule.Ref, fn func(*capsule.Message) error) error
	Blob(sha string) ([]byte, error)
}

// A Form says what a rendering is for.
type Form int

const (
	// Bundle is a folder for itself: with the artifacts as files, with the lines for
	// programs in data/, with a page for each room that a browser replays, and with what the
	// capsule says of its making.
	Bundle Form = iota
	// Mirror stands in a Git work tree and is written again and again. It has the Markdown
	// alone, and nothing that is different each time although the project is the same: no
	// time of its making, and no last part of a redaction's tag.
	Mirror
)

// Render writes the files of a capsule to out. progress is called now and then with how
// many lines are done; nil: nobody asks. The order in which files grow is not told, their
// content is always the same. Errors: those of src and out, and the cause of ctx.
func Render(ctx context.Context, src Source, out Sink, form Form, progress func(lines int64)) error {
	r := &renderer{ctx: ctx, src: src, form: form, tell: progress, spool: &spool{sink: out}, byRef: map[capsule.Ref]*room{}}
	r.encoder = json.NewEncoder(&r.line)
	r.encoder.SetEscapeHTML(false)
	for _, step := range []func() error{
		r.rooms, r.agents, r.decisions, r.tasks, r.messages, r.artifacts, r.memories, r.readme, r.spool.flush,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// A renderer is one rendering.
type renderer struct {
	ctx     context.Context //nolint:containedctx // it lives as long as one rendering
	src     Source
	form    Form
	tell    func(int64)
	done    int64
	spool   *spool
	top     folder // the names of the files at the top
	all     []*room
	byRef   map[capsule.Ref]*room
	line    bytes.Buffer
	encoder *json.Encoder
}

// A room is what is known of a room while the others are written.
type room struct {
	capsule.Room
	book                       *book
	first                      string // the path of its first page
	replay                     string // the path of the page that replays it; empty: there is none
	decisions, tasks, messages int64
}

// checkEvery is after how many lines the caller is told and asked.
const checkEvery = 1 << 10

// step counts a line.
func (r *renderer) step() error {
	if r.done++; r.done%checkEvery != 0 {
		return nil
	}
	if r.tell != nil {
		r.tell(r.done)
	}
	return context.Cause(r.ctx)
}

// datum writes a line for programs, as the capsule has it.
func (r *renderer) datum(name string, v any) error {
	if r.form != Bundle {
		return nil
	}
	r.line.Reset()
	if err := r.encoder.Encode(v); err != nil {
		return err
	}
	return r.spool.add("data/"+name, r.line.String())
}

// begin makes sure that there is a file for lines of a kind, also if there are no lines.
func (r *renderer) begin(name string) error {
	if r.form != Bundle {
		return nil
	}
	return r.spool.add("data/"+name, "")
}

// saltedTag finds the tags of a redaction, also where they became part of a name. Their
// last part is new with each export.
var saltedTag = lazy.Regexp{Pattern: `(?i)(redacted[:-][a-z0-9-]+?)[:-][0-9a-f]{8}`}

// clean is a text as this form shows it, before it is escaped.
func (r *renderer) clean(text string) string {
	if r.form == Mirror && len(text) >= len("redacted:") {
		return saltedTag.ReplaceAllString(text, "$1")
	}
	return text
}

// text is a text on one line.
func (r *renderer) text(text string) string { return oneLine(r.clean(text)) }

// by is the name of an agent; somebody if it is not known.
func (r *renderer) by(id hub.AgentID) string {
	if id == "" {
		return "somebody"
	}
	return r.text(string(id))
}

func (r *renderer) quote(b *strings.Builder, text string) { quote(b, r.clean(text)) }

// day is the day of a time, and clock the time of that day, in UTC.
func day(t hub.Time) string   { return t.Std().Format("2006-01-02") }
func clock(t hub.Time) string { return t.Std().Format("15:04:05") }
