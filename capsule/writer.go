package capsule

import (
	"archive/zip"
	"bufio"
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"io/fs"
	"slices"
	"strings"

	"hubcli/hub"
)

// deflateLevel is how hard lines are compressed. BenchmarkWrite, messages of 350 bytes on
// one core: level 1 writes 280,000 messages/s of 51 bytes each, level 3 220,000 of 38
// bytes, level 6 157,000 of 28 bytes. Texts of people gain less by level 6.
const deflateLevel = 3

// A Writer writes one capsule. After an error every method returns this error, and what has
// been written is no capsule. Its memory grows with the entries alone: about 400 bytes for
// each room and blob.
type Writer struct {
	out      counted
	zip      *zip.Writer
	buffer   *bufio.Writer // of the open section
	hash     hash.Hash     // of the open section
	open     *Entry        // the section that is open; nil: none
	line     bytes.Buffer
	encoder  *json.Encoder
	deflater *flate.Writer // of entries that are compressed while they are written
	packer   *flate.Writer // of blobs: the entry before may still need the other one
	packed   bytes.Buffer
	blobs    map[string]bool
	begun    map[string]bool
	expanded int64
	limits   Limits
	manifest Manifest
	err      error
}

// NewWriter returns a Writer that writes to w, which need not be buffered. Of m it takes
// the version of the product, the time, the id, scope, privacy and redaction; the Writer
// finds out the rest.
func NewWriter(w io.Writer, m Manifest) *Writer { return newWriter(w, m, deflateLevel) }

func newWriter(w io.Writer, m Manifest, level int) *Writer {
	c := &Writer{
		out: counted{w: bufio.NewWriterSize(w, 256<<10)}, hash: sha256.New(), blobs: map[string]bool{}, begun: map[string]bool{},
		limits: DefaultLimits(), manifest: m,
	}
	c.manifest.Format, c.manifest.Schema = Format, Schema{Major: Major, Minor: Minor}
	c.manifest.Counts, c.manifest.Entries = Counts{}, nil
	c.zip = zip.NewWriter(&c.out)
	c.zip.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return reuse(&c.deflater, w, level) })
	c.encoder = json.NewEncoder(&c.line)
	c.encoder.SetEscapeHTML(false)
	c.stored(nameMimetype, []byte(Mimetype))
	return c
}

// reuse returns a compressor that writes to w. It takes more than half a megabyte, so an
// old one is used again.
func reuse(old **flate.Writer, w io.Writer, level int) (io.WriteCloser, error) {
	if *old != nil {
		(*old).Reset(w)
		return *old, nil
	}
	var err error
	*old, err = flate.NewWriter(w, level)
	return *old, err
}

// header returns that of an entry: a plain file of 1980-01-01, mode 0644.
func header(path string, method uint16) *zip.FileHeader {
	const firstDay = 1<<5 | 1 // 1980-01-01 as MS-DOS counts
	//lint:ignore SA1019 Modified would add an extra field.
	h := &zip.FileHeader{Name: path, Method: method, ModifiedDate: firstDay}
	h.SetMode(fs.FileMode(0o644))
	return h
}

// Section ends the section before and begins the entry of this name: one of those with
// lines, or messages/ with the room.
func (c *Writer) Section(path string) error {
	if c.endSection(); c.err != nil {
		return c.err
	}
	if err := checkName(path); err != nil || !lines(path) {
		return c.fail(fmt.Errorf("capsule: %q is no entry with lines", path))
	}
	if _, ok := messagesOf(path); ok && c.manifest.Scope == ScopeKnowledge {
		return c.fail(fmt.Errorf("capsule: the scope knowledge has no %s", path))
	}
	return c.begin(path)
}

// begin opens an entry that is compressed while it is written.
func (c *Writer) begin(path string) error {
	if c.err != nil {
		return c.err
	}
	if c.begun[path] {
		return c.fail(fmt.Errorf("capsule: %s was written already", path))
	}
	c.begun[path] = true
	w, err := c.zip.CreateHeader(header(path, zip.Deflate))
	if err != nil {
		return c.fail(err)
	}
	c.hash.Reset()
	if c.buffer == nil {
		c.buffer = bufio.NewWriterSize(nil, 64<<10)
	}
	c.buffer.Reset(io.MultiWriter(c.hash, w))
	c.open = &Entry{Path: path}
	return nil
}

// endSection closes the open entry, if there is one.
func (c *Writer) endSection() {
	if c.open == nil || c.err != nil {
		return
	}
	if err := c.buffer.Flush(); err != nil {
		c.keep(err)
		return
	}
	c.open.SHA256 = hex.EncodeToString(c.hash.Sum(nil))
	c.add(*c.open)
	c.open = nil
}

// add lists an entry in the manifest.
func (c *Writer) add(e Entry) {
	c.manifest.Entries = append(c.manifest.Entries, e)
	c.expanded += e.Bytes
}

// Line adds a line to the open section. v is a Room, Agent, Decision, Artifact, Memory, Run,
// Task or Message, or points to one, as the section wants.
func (c *Writer) Line(v any) error {
	if c.err != nil {
		return c.err
	}
	if c.open == nil {
		return c.fail(fmt.Errorf("capsule: a line needs a section"))
	}
	path, line := c.count(v)
	if room, ok := messagesOf(c.open.Path); ok {
		path = strings.Replace(path, messagesFolder, MessagesPath(room), 1)
	}
	if path != c.open.Path {
		return c.fail(fmt.Errorf("capsule: %s holds no %T", c.open.Path, v))
	}
	c.open.Rows++
	return c.write(line)
}

// write adds the JSON of v and a line feed to the open entry.
func (c *Writer) write(v any) error {
	c.line.Reset()
	if err := c.encoder.Encode(v); err != nil {
		return c.fail(err)
	}
	c.open.Bytes += int64(c.line.Len())
	if _, err := c.buffer.Write(c.line.Bytes()); err != nil {
		return c.fail(err)
	}
	if c.out.n > c.limits.FileBytes || c.open.Bytes > c.limits.EntryBytes {
		return c.fail(tooLarge("the project is larger than one capsule holds", c.limits.FileBytes, max(c.out.n, c.open.Bytes)))
	}
	return nil
}

// Project writes project.json.
func (c *Writer) Project(p Project) error {
	if c.endSection(); c.err != nil {
		return c.err
	}
	c.manifest.Project = ManifestNames{Slug: p.Slug, Name: p.Name}
	if c.begin(nameProject) == nil && c.write(p) == nil {
		c.endSection()
	}
	return c.err
}

// Blob writes the bytes of an artifact, unless the capsule has them already, and returns
// their hash. No section may be open: the call ends the one before.
func (c *Writer) Blob(data []byte) (sha string, err error) {
	if c.endSection(); c.err != nil {
		return "", c.err
	}
	if err := hub.CheckArtifactSize(int64(len(data))); err != nil {
		return "", c.fail(err)
	}
	sum := sha256.Sum256(data)
	sha = hex.EncodeToString(sum[:])
	if c.blobs[sha] {
		return sha, nil
	}
	c.blobs[sha] = true
	path := BlobPath(sha)
	c.manifest.Counts.Blobs++
	c.manifest.Counts.BlobBytes += int64(len(data))
	c.add(Entry{Path: path, SHA256: sha, Bytes: int64(len(data))})
	if c.packs(data) {
		return sha, c.raw(header(path, zip.Deflate), data, c.packed.Bytes())
	}
	c.stored(path, data)
	return sha, c.err
}

// packs compresses data, and reports whether that is worth it. What shrinks to nearly
// nothing is stored as it is: otherwise a few such files would look like a trap that
// expands to more than a reader has space for.
func (c *Writer) packs(data []byte) bool {
	const suspicious = 100
	c.packed.Reset()
	w, err := reuse(&c.packer, &c.packed, deflateLevel)
	if err == nil {
		_, err = w.Write(data)
	}
	if err == nil {
		err = w.Close()
	}
	n := c.packed.Len()
	return err == nil && n < len(data) && len(data)/n < suspicious
}

func (c *Writer) stored(path string, data []byte) { _ = c.raw(header(path, zip.Store), data, data) }

// raw writes an entry whose compressed form is known.
func (c *Writer) raw(h *zip.FileHeader, data, packed []byte) error {
	h.CRC32 = crc32.ChecksumIEEE(data)
	h.UncompressedSize64, h.CompressedSize64 = uint64(len(data)), uint64(len(packed))
	w, err := c.zip.CreateRaw(h)
	if err == nil {
		_, err = w.Write(packed)
	}
	if err != nil {
		return c.fail(err)
	}
	return nil
}

// Close writes the sections that are missing, empty, README.md and the manifest, and
// returns the manifest. It does not close the file.
func (c *Writer) Close() (Manifest, error) {
	c.endSection()
	if !c.begun[nameProject] {
		c.keep(fmt.Errorf("capsule: there is no project"))
	}
	for _, path := range c.missing() {
		if c.begin(path) == nil {
			c.endSection()
		}
	}
	if c.err != nil {
		return Manifest{}, c.err
	}
	c.add(Entry{Path: nameReadme, SHA256: hashOf(readme), Bytes: int64(len(readme))})
	c.stored(nameReadme, readme)
	slices.SortFunc(c.manifest.Entries, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
	c.manifest.ContentDigest = Digest(c.manifest.Entries)
	c.writeManifest()
	if c.err == nil {
		c.keep(c.zip.Close())
	}
	if c.err == nil {
		c.keep(c.out.w.Flush())
	}
	if c.err == nil {
		c.keep(c.limits.checkSizes(c.out.n, c.expanded, len(c.manifest.Entries)+2))
	}
	if c.err != nil {
		return Manifest{}, c.err
	}
	return c.manifest, nil
}

// missing returns the sections that nobody has begun.
func (c *Writer) missing() []string {
	all := slices.Clone(sections)
	if c.manifest.Scope != ScopeKnowledge {
		for n := int64(1); n <= c.manifest.Counts.Rooms; n++ {
			all = append(all, MessagesPath(refOf('r', n)))
		}
	}
	return slices.DeleteFunc(all, func(path string) bool { return c.begun[path] })
}

func (c *Writer) writeManifest() {
	c.manifest.Redaction = c.manifest.Redaction.whole()
	raw, err := json.MarshalIndent(&c.manifest, "", "  ")
	if err != nil {
		c.keep(err)
		return
	}
	if n := int64(len(raw)); n > c.limits.ManifestBytes {
		c.keep(tooLarge("the list of the entries is larger than a capsule may have", c.limits.ManifestBytes, n))
		return
	}
	w, err := c.zip.CreateHeader(header(nameManifest, zip.Deflate))
	if err == nil {
		_, err = w.Write(append(raw, '\n'))
	}
	c.keep(err)
}

// keep keeps the first error.
func (c *Writer) keep(err error) {
	if c.err == nil {
		c.err = err
	}
}

// fail keeps the first error and returns it.
func (c *Writer) fail(err error) error {
	c.keep(err)
	return c.err
}

// counted counts what is written to w.
type counted struct {
	w *bufio.Writer
	n int64
}

func (c *counted) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}
