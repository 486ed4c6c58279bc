package capsule

import (
	"encoding/json"
	"errors"
	"io"

	"hubcli/hub"
	"hubcli/internal/strictjson"
)

// ErrStop ends the reading of a section early, without an error, if the function that gets
// the lines returns it.
var ErrStop = errors.New("capsule: no more lines are wanted")

// A Reader reads one capsule. Open checks how the archive is built and what the manifest
// says; Verify checks everything. The other methods check each line, and at the end of an
// entry whether its bytes are those that the manifest lists, so that a file that is changed
// meanwhile is noticed. Memory grows with the entries alone, not with their lines.
//
// A function that gets lines may keep them, and may call other methods of the Reader.
type Reader struct {
	r        io.ReaderAt
	limits   Limits
	files    map[string]*file
	entries  map[string]*Entry
	manifest Manifest
	newer    bool // a later minor version has written it
	between  func()
}

// Between has fn called before each line that is read from now on, so that a caller who reads
// much can let others go first.
func (c *Reader) Between(fn func()) { c.between = fn }

// Open reads the directory and the manifest of a capsule of size bytes, and no other data.
// Errors: capsule_invalid, capsule_too_new, capsule_too_large, and those of r.
func Open(r io.ReaderAt, size int64, l Limits) (*Reader, error) {
	files, err := readDirectory(r, size, &l)
	if err != nil {
		return nil, err
	}
	c := &Reader{r: r, limits: l, files: make(map[string]*file, len(files)), entries: map[string]*Entry{}}
	for i := range files {
		c.files[files[i].name] = &files[i]
	}
	if err := c.checkEnds(files); err != nil {
		return nil, err
	}
	raw, err := c.small(nameManifest, min(l.ManifestBytes, manifestHead+int64(len(files))*manifestEntry))
	if err != nil {
		return nil, err
	}
	if err := c.readManifest(raw); err != nil {
		return nil, err
	}
	return c, c.checkManifest()
}

// The bytes of a manifest but for its entries, and those of an entry, at most. The archive
// says how many entries there are, so a manifest cannot claim more than it costs.
const (
	manifestHead  = 1 << 20
	manifestEntry = 512
)

// checkEnds looks at the first and the last entry.
func (c *Reader) checkEnds(files []file) error {
	if len(files) == 0 || files[0].name != nameMimetype || files[0].method != methodStored || files[0].size != int64(len(Mimetype)) {
		return invalid("", "the archive does not begin with the entry mimetype of a project capsule").
			WithFix("name a file that hubcli capsule export has written; its name ends with .hubpack")
	}
	kind, err := c.small(nameMimetype, int64(len(Mimetype)))
	if err != nil {
		return err
	}
	if string(kind) != Mimetype {
		return invalid(nameMimetype, "it is the type of another kind of file").
			WithFix("name a file that hubcli capsule export has written; its name ends with .hubpack")
	}
	if files[len(files)-1].name != nameManifest {
		return invalid("", "manifest.json is not the last entry")
	}
	return nil
}

// small reads an entry of at most limit bytes whole.
func (c *Reader) small(path string, limit int64) ([]byte, error) {
	f := c.files[path]
	if f == nil {
		return nil, invalid(path, "the entry is missing")
	}
	if f.size > limit {
		return nil, tooLarge("an entry of the capsule is too large", limit, f.size).With("entry", path)
	}
	s := c.stream(f)
	defer s.close()
	data := make([]byte, f.size)
	if _, err := io.ReadFull(s, data); err != nil {
		return nil, s.problem(err)
	}
	return data, s.end(c.entries[path])
}

// readManifest decodes the manifest. The version comes first: a later one may have changed
// the rest.
func (c *Reader) readManifest(raw []byte) error {
	if err := readJSON(raw, (*strictjson.Scanner).Pass); err != nil {
		return invalid(nameManifest, "%v", err)
	}
	var begin struct {
		Format string `json:"format"`
		Schema Schema `json:"schema"`
	}
	if json.Unmarshal(raw, &begin) != nil || begin.Format != Format || begin.Schema.Major < 1 || begin.Schema.Minor < 0 {
		return invalid(nameManifest, "it does not say which version of the format %s it has", Format)
	}
	if begin.Schema.Major > Major {
		return hub.Errorf(hub.CodeCapsuleTooNew, "the capsule has version %d of its format, and this hub reads version %d", begin.Schema.Major, Major).
			With("major", begin.Schema.Major).With("limit", Major).
			WithFix("read it with a later version of the hub")
	}
	c.newer = begin.Schema.Minor > Minor
	if err := decode(raw, &c.manifest, c.newer); err != nil {
		return invalid(nameManifest, "%v", err)
	}
	return nil
}

// Manifest returns the manifest. It must not be changed.
func (c *Reader) Manifest() *Manifest { return &c.manifest }

// Project returns project.json.
func (c *Reader) Project() (Project, error) {
	var p Project
	raw, err := c.small(nameProject, maxSmall)
	if err != nil {
		return p, err
	}
	if err := decode(raw, &p, c.newer); err != nil {
		return p, invalid(nameProject, "%v", err)
	}
	if err := p.check(&c.limits); err != nil {
		return p, invalid(nameProject, "%v", err)
	}
	return p, nil
}

// Rooms calls fn for each room, in order. This method and the others like it return the
// error of fn, nil for ErrStop, and else capsule_invalid or an error of the file.
func (c *Reader) Rooms(fn func(*Room) error) error { return each(c, nameRooms, fn) }

// Agents calls fn for each agent, by id.
func (c *Reader) Agents(fn func(*Agent) error) error { return each(c, nameAgents, fn) }

// Decisions calls fn for each decision, in order.
func (c *Reader) Decisions(fn func(*Decision) error) error { return each(c, nameDecisions, fn) }

// Artifacts calls fn for each artifact, in order.
func (c *Reader) Artifacts(fn func(*Artifact) error) error { return each(c, nameArtifacts, fn) }

// Memories calls fn for each memory, in order.
func (c *Reader) Memories(fn func(*Memory) error) error { return each(c, nameMemories, fn) }

// Runs calls fn for each run, in order.
func (c *Reader) Runs(fn func(*Run) error) error { return each(c, nameRuns, fn) }

// Tasks calls fn for each task, by number.
func (c *Reader) Tasks(fn func(*Task) error) error { return each(c, nameTasks, fn) }

// Messages calls fn for each message of the room, by number. Without messages in the scope
// there are none.
func (c *Reader) Messages(room Ref, fn func(*Message) error) error {
	path := MessagesPath(room)
	if _, ok := messagesOf(path); ok && c.manifest.Scope == ScopeKnowledge {
		return nil
	}
	return each(c, path, fn)
}

// Blob returns the bytes of this hash, at most hub.MaxArtifactBytes.
func (c *Reader) Blob(sha string) ([]byte, error) {
	return c.small(BlobPath(sha), hub.MaxArtifactBytes)
}

// checked is a line that can say what is wrong with it.
type checked[T any] interface {
	*T
	check(l *Limits) error
}

// each reads the lines of an entry.
func each[T any, P checked[T]](c *Reader, path string, fn func(P) error) error {
	return eachLine(c, path, func(_ int64, v P) error { return fn(v) })
}

// eachLine is each with the number of the line. A fault that fn returns becomes the refusal
// of the line.
func eachLine[T any, P checked[T]](c *Reader, path string, fn func(n int64, v P) error) error {
	entry := c.entries[path]
	if entry == nil {
		return invalid(path, "the entry is missing")
	}
	s := c.stream(c.files[path])
	defer s.close()
	for n := int64(1); ; n++ {
		if c.between != nil {
			c.between()
		}
		raw, err := s.line(c.limits.lineBytes())
		if errors.Is(err, io.EOF) {
			if n-1 != entry.Rows {
				return invalid(path, "it has %d lines, and the manifest says %d", n-1, entry.Rows)
			}
			return s.end(entry)
		}
		if err == nil {
			v := P(new(T))
			if err = decode(raw, v, c.newer); err == nil {
				err = v.check(&c.limits)
			}
			if err == nil {
				err = fn(n, v)
			} else {
				err = fault(err.Error())
			}
		}
		var wrong fault
		switch {
		case err == nil:
		case errors.As(err, &wrong):
			return invalidLine(path, n, "%s", wrong)
		case errors.Is(err, ErrStop):
			return nil
		default:
			return err
		}
	}
}
