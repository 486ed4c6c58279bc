package capsule

import (
	"bytes"
	"compress/flate"
	"context"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"slices"
	"strings"
	"sync"
	"testing"

	"hubcli/internal/require"
)

// draft is a capsule whose every part a test can change.
type draft struct {
	manifest  Manifest
	entries   []*draftEntry
	lie       func(*Manifest)     // changes the manifest after it was made to fit
	raw       func(string) string // changes the text of the manifest
	central   func(d *draft)      // changes the entries after manifest.json was added
	end       func([]byte) []byte // changes the end of the directory
	file      func([]byte) []byte // changes the whole file
	unsettled bool                // the manifest stays as it is
}

// draftEntry is one entry of the archive: what its two headers say, and its bytes.
type draftEntry struct {
	name, localName  string
	data             string // expanded
	packed           []byte // nil: data is deflated, or stored
	method           uint16
	flags            uint16
	crc              *uint32
	size, packedSize *uint32
	attributes       uint32
	version          uint16
	extra, comment   string
	localExtra       string
	before, after    string // bytes around the entry
	disk             uint16
	offset           *uint32
}

// newDraft takes the sample apart.
func newDraft(testing.TB) *draft {
	whole := sampleDraft()
	d := &draft{manifest: whole.manifest}
	for _, e := range whole.entries {
		one := *e
		d.entries = append(d.entries, &one)
	}
	return d
}

var sampleDraft = sync.OnceValue(func() *draft { return draftOf(noTest, newSample(), someManifest) })

func draftOf(t testing.TB, s *sample, m Manifest) *draft {
	t.Helper()
	raw, manifest := s.write(t, m, deflateLevel)
	d := &draft{manifest: manifest}
	files, err := readDirectory(bytes.NewReader(raw), int64(len(raw)), new(DefaultLimits()))
	require.NoError(t, err)
	for _, f := range files {
		if f.name != nameManifest {
			d.add(f.name, entry(t, raw, f.name))
		}
	}
	return d
}

func (d *draft) add(name, data string) *draftEntry {
	e := &draftEntry{name: name, localName: name, data: data, method: methodDeflated, attributes: 0o100644 << 16, version: versionNeeded}
	if name == nameMimetype {
		e.method = methodStored
	}
	d.entries = append(d.entries, e)
	return e
}

// of returns an entry.
func (d *draft) of(name string) *draftEntry {
	for _, e := range d.entries {
		if e.name == name {
			return e
		}
	}
	panic("there is no entry " + name)
}

func (d *draft) drop(name string) {
	d.entries = slices.DeleteFunc(d.entries, func(e *draftEntry) bool { return e.name == name })
}

// change replaces a text of an entry, which must be there.
func (d *draft) change(name, old, by string) {
	e := d.of(name)
	if !strings.Contains(e.data, old) {
		panic(name + " does not have " + old)
	}
	e.data = strings.Replace(e.data, old, by, 1)
}

// settle makes the manifest fit the entries.
func (d *draft) settle() {
	m := &d.manifest
	m.Entries = nil
	direct := m.Counts.Direct
	m.Counts = Counts{Direct: direct}
	rows := map[string]*int64{
		nameRooms: &m.Counts.Rooms, nameAgents: &m.Counts.Agents, nameDecisions: &m.Counts.Decisions, nameArtifacts: &m.Counts.Artifacts,
		nameMemories: &m.Counts.Memories, nameRuns: &m.Counts.Runs, nameTasks: &m.Counts.Tasks,
	}
	for _, e := range d.entries {
		if e.name == nameMimetype || e.name == nameManifest {
			continue
		}
		one := Entry{Path: e.name, SHA256: hashOf([]byte(e.data)), Bytes: int64(len(e.data))}
		if lines(e.name) {
			one.Rows = int64(strings.Count(e.data, "\n"))
		}
		if n := rows[e.name]; n != nil {
			*n = one.Rows
		}
		if _, ok := messagesOf(e.name); ok {
			m.Counts.Messages += one.Rows
		}
		if strings.HasPrefix(e.name, blobsFolder) {
			m.Counts.Blobs++
			m.Counts.BlobBytes += one.Bytes
		}
		m.Entries = append(m.Entries, one)
	}
	d.digest()
}

func (d *draft) digest() {
	slices.SortFunc(d.manifest.Entries, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
	d.manifest.ContentDigest = Digest(d.manifest.Entries)
}

// build writes the archive.
func (d *draft) build(t testing.TB) []byte {
	t.Helper()
	if !d.unsettled {
		d.settle()
	}
	if d.lie != nil {
		d.lie(&d.manifest)
	}
	text := mustJSON(t, d.manifest)
	if d.raw != nil {
		text = d.raw(text)
	}
	d.add(nameManifest, text)
	if d.central != nil {
		d.central(d)
	}
	var file, directory []byte
	for _, e := range d.entries {
		file, directory = e.write(t, file, directory)
	}
	le := binary.LittleEndian
	end := le.AppendUint32(nil, endSignature)
	end = le.AppendUint32(end, 0)
	end = le.AppendUint16(le.AppendUint16(end, uint16(len(d.entries))), uint16(len(d.entries)))
	end = le.AppendUint32(le.AppendUint32(end, uint32(len(directory))), uint32(len(file)))
	end = le.AppendUint16(end, 0)
	if d.end != nil {
		end = d.end(end)
	}
	file = append(append(file, directory...), end...)
	if d.file != nil {
		file = d.file(file)
	}
	return file
}

// write appends the entry to the file, and its header to the directory.
func (e *draftEntry) write(t testing.TB, file, directory []byte) ([]byte, []byte) {
	packed := e.packed
	if packed == nil {
		packed = []byte(e.data)
		if e.method == methodDeflated {
			packed = deflated(t, e.data)
		}
	}
	or := func(given *uint32, n uint32) uint32 {
		if given != nil {
			return *given
		}
		return n
	}
	crc, size := or(e.crc, crc32.ChecksumIEEE([]byte(e.data))), or(e.size, uint32(len(e.data)))
	packedSize := or(e.packedSize, uint32(len(packed)))
	le := binary.LittleEndian
	file = append(file, e.before...)
	offset := or(e.offset, uint32(len(file)))
	file = le.AppendUint32(file, localSignature)
	for _, n := range []uint16{e.version, e.flags, e.method, 0, 33} {
		file = le.AppendUint16(file, n)
	}
	for _, n := range []uint32{crc, packedSize, size} {
		file = le.AppendUint32(file, n)
	}
	file = le.AppendUint16(le.AppendUint16(file, uint16(len(e.localName))), uint16(len(e.localExtra)))
	file = append(append(append(append(file, e.localName...), e.localExtra...), packed...), e.after...)

	directory = le.AppendUint32(directory, centralSignature)
	for _, n := range []uint16{3<<8 | 20, e.version, e.flags, e.method, 0, 33} {
		directory = le.AppendUint16(directory, n)
	}
	for _, n := range []uint32{crc, packedSize, size} {
		directory = le.AppendUint32(directory, n)
	}
	for _, n := range []uint16{uint16(len(e.name)), uint16(len(e.extra)), uint16(len(e.comment)), e.disk, 0} {
		directory = le.AppendUint16(directory, n)
	}
	directory = le.AppendUint32(le.AppendUint32(directory, e.attributes), offset)
	return file, append(append(append(directory, e.name...), e.extra...), e.comment...)
}

// deflated compresses as fast as it can: most tests do it for nearly every entry anew.
func deflated(t testing.TB, data string) []byte {
	t.Helper()
	if packed, ok := deflatedBefore.Load(data); ok {
		return packed.([]byte)
	}
	var out bytes.Buffer
	w := deflaters.Get().(*flate.Writer)
	defer deflaters.Put(w)
	w.Reset(&out)
	_, err := w.Write([]byte(data))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	if len(data) < 4<<10 {
		deflatedBefore.Store(data, slices.Clip(out.Bytes()))
	}
	return out.Bytes()
}

// deflatedBefore keeps short texts, most of which come in every case.
var deflatedBefore sync.Map

var deflaters = sync.Pool{New: func() any {
	w, err := flate.NewWriter(nil, flate.BestSpeed)
	if err != nil {
		panic(err)
	}
	return w
}}

// readAll opens and verifies a capsule.
func readAll(raw []byte, l Limits) error {
	r, err := Open(bytes.NewReader(raw), int64(len(raw)), l)
	if err != nil {
		return err
	}
	return r.Verify(context.Background(), nil)
}

func TestADraftWithoutAChangeIsGood(t *testing.T) {
	require.NoError(t, readAll(newDraft(t).build(t), DefaultLimits()))
}

// object is a JSON object whose members keep their order.
type object []memberText

type memberText struct{ name, value string }

// parseObject reads a line.
func parseObject(t testing.TB, line string) object {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(line))
	_, err := d.Token()
	require.NoError(t, err)
	var o object
	for d.More() {
		name, err := d.Token()
		require.NoError(t, err)
		var value json.RawMessage
		require.NoError(t, d.Decode(&value))
		o = append(o, memberText{name.(string), string(value)})
	}
	return o
}

func (o object) String() string {
	var b strings.Builder
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"` + m.name + `":` + m.value)
	}
	return "{" + b.String() + "}"
}
