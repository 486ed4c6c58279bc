package capsule

import (
	"archive/zip"
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"hubcli/hub"
	"hubcli/internal/require"
)

func discard() *bufio.Writer { return bufio.NewWriter(io.Discard) }

// entry returns the bytes of an entry as package zip reads it.
func entry(t testing.TB, raw []byte, name string) string {
	t.Helper()
	r, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	require.NoError(t, err)
	f, err := r.Open(name)
	require.NoError(t, err)
	data, err := io.ReadAll(f)
	require.NoError(t, err)
	return string(data)
}

func TestArchiveIsPlain(t *testing.T) {
	raw, m := newSample().write(t, someManifest, deflateLevel)
	if !bytes.HasPrefix(raw[30:], []byte("mimetype"+Mimetype)) {
		t.Errorf("the file begins with %q", raw[:100])
	}
	r, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	require.NoError(t, err)
	var names []string
	for _, f := range r.File {
		names = append(names, f.Name)
		if len(f.Extra) > 0 || f.Comment != "" || f.Mode() != 0o644 || f.Modified.Format("2006-01-02 15:04:05") != "1980-01-01 00:00:00" {
			t.Errorf("%s: extra %x, mode %v, modified %v", f.Name, f.Extra, f.Mode(), f.Modified)
		}
	}
	want := []string{
		"mimetype", "project.json", "rooms.ndjson", "agents.ndjson", "decisions.ndjson",
		BlobPath(m.Entries[3].SHA256), BlobPath(m.Entries[4].SHA256), "artifacts.ndjson",
		"memories.ndjson", "runs.ndjson", "tasks.ndjson", "messages/r1.ndjson", "messages/r2.ndjson", "README.md", "manifest.json",
	}
	slices.Sort(want[5:7])
	slices.Sort(names[5:7])
	if !slices.Equal(names, want) {
		t.Errorf("the entries are %q, want %q", names, want)
	}
}

func TestManifestSaysWhatIsThere(t *testing.T) {
	raw, m := newSample().write(t, someManifest, deflateLevel)
	var read Manifest
	require.NoError(t, json.Unmarshal([]byte(entry(t, raw, "manifest.json")), &read))
	if a, b := mustJSON(t, m), mustJSON(t, read); a != b {
		t.Errorf("Close answers %s, the file says %s", a, b)
	}
	want := Counts{Rooms: 2, Agents: 3, Decisions: 2, Artifacts: 3, Memories: 5, Runs: 1, Tasks: 3, Messages: 7, Direct: 2, Blobs: 2, BlobBytes: 38}
	if read.Counts != want {
		t.Errorf("the counts are %+v, want %+v", read.Counts, want)
	}
	if read.Format != "hubpack" || read.Schema != (Schema{Major: 1}) || read.Project != (ManifestNames{Slug: "web-shop", Name: "Web shop"}) {
		t.Errorf("the manifest is %+v", read)
	}
	sums := ""
	for _, e := range read.Entries {
		data := entry(t, raw, e.Path)
		sums += e.SHA256 + "  " + e.Path + "\n"
		if e.SHA256 != hashOf([]byte(data)) || e.Bytes != int64(len(data)) || lines(e.Path) && e.Rows != int64(strings.Count(data, "\n")) {
			t.Errorf("%+v does not fit %q", e, data)
		}
	}
	if len(read.Entries) != 13 || read.ContentDigest != "sha256:"+hashOf([]byte(sums)) {
		t.Errorf("%d entries, digest %s", len(read.Entries), read.ContentDigest)
	}
}

func mustJSON(t testing.TB, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	require.NoError(t, err)
	return string(raw)
}

func TestLinesHaveOneForm(t *testing.T) {
	raw, _ := newSample().write(t, someManifest, deflateLevel)
	for name, want := range map[string]string{
		"project.json":       `{"slug":"web-shop","name":"Web shop","created_at":"2026-09-21T14:13:20.000Z"}`,
		"rooms.ndjson":       `{"id":"r1","slug":"api","name":"API","topic":"the <wire> & more","created_by":"ann","created_at":"2026-09-21T14:13:21.000Z","locks":"warn"}`,
		"decisions.ndjson":   `{"id":"d2","room":"r2","title":"Wait","note":"","by":"","metadata":{},"created_at":"2026-09-21T14:13:41.000Z"}`,
		"memories.ndjson":    `{"id":"k3","scope":"project","text":"Be kind.","tags":[],"by":"","created_at":"2026-09-21T14:14:02.000Z"}`,
		"tasks.ndjson":       `{"id":5,"room":"r1","parent":2,"thread":"parser","title":"Test it","status":"open","blocked_by":[],"version":1,"created_by":"bob","created_at":"2026-09-21T14:13:33.000Z","updated_at":"2026-09-21T14:13:33.000Z"}`,
		"messages/r1.ndjson": `{"id":1,"ts":"2026-09-21T14:13:30.000Z","from":"ann","kind":"chat","body":"Hello <all> & everyone \u2028 \u0000 ☕","authority":"agent","assurance":"asserted"}`,
	} {
		if data := entry(t, raw, name); !strings.Contains("\n"+data, "\n"+want+"\n") {
			t.Errorf("%s has no line %s:\n%s", name, want, data)
		}
	}
}

func TestDigestDependsOnTheContentAlone(t *testing.T) {
	s := newSample()
	_, first := s.write(t, someManifest, deflateLevel)
	other := someManifest
	other.CapsuleID, other.CreatedAt, other.ProductVersion = strings.Repeat("1", 32), at(900), "2.0.0"
	slices.Reverse(s.blobs)
	if _, m := s.write(t, other, 9); m.ContentDigest != first.ContentDigest {
		t.Error("the digest depends on the compression, the order of entries or the manifest")
	}
	s.rooms[0].Topic = "another"
	if _, m := s.write(t, other, 9); m.ContentDigest == first.ContentDigest {
		t.Error("the digest does not depend on a topic")
	}
}

func TestEveryScopeHasItsSections(t *testing.T) {
	for scope, want := range map[Scope]int{ScopeKnowledge: 11, ScopeComplete: 13, ScopeSelectedRooms: 13} {
		m := someManifest
		m.Scope = scope
		var out bytes.Buffer
		w := NewWriter(&out, m)
		require.NoError(t, w.Project(newSample().project))
		section(t, w, nameRooms, newSample().rooms)
		got, err := w.Close()
		require.NoError(t, err)
		if n := len(got.Entries) + 2; n != want {
			t.Errorf("%s has %d entries, want %d", scope, n, want)
		}
	}
}

func TestWriterRefusesWhatIsNoCapsule(t *testing.T) {
	project := newSample().project
	for what, do := range map[string]func(*Writer) error{
		"a line without a section":    func(w *Writer) error { return w.Line(Room{}) },
		"a line of another section":   func(w *Writer) error { return errors.Join(w.Section(nameRooms), w.Line(&Task{})) },
		"a message among rooms":       func(w *Writer) error { return errors.Join(w.Section(nameRooms), w.Line(&Message{})) },
		"a value that is no line":     func(w *Writer) error { return errors.Join(w.Section(nameRooms), w.Line(7)) },
		"a section that no one knows": func(w *Writer) error { return w.Section("secrets.ndjson") },
		"a section without lines":     func(w *Writer) error { return w.Section(nameManifest) },
		"a section outside":           func(w *Writer) error { return w.Section("messages/../r1.ndjson") },
		"a section twice": func(w *Writer) error {
			return errors.Join(w.Section(nameRooms), w.Section(nameRuns), w.Section(nameRooms))
		},
		"a project twice":       func(w *Writer) error { return errors.Join(w.Project(project), w.Project(project)) },
		"no project":            func(w *Writer) error { _, err := w.Close(); return err },
		"messages of knowledge": func(w *Writer) error { return w.Section(MessagesPath("r1")) },
		"an artifact that is too large": func(w *Writer) error {
			_, err := w.Blob(make([]byte, hub.MaxArtifactBytes+1))
			return err
		},
	} {
		m := someManifest
		m.Scope = ScopeKnowledge
		w := NewWriter(io.Discard, m)
		err := do(w)
		if err == nil {
			t.Errorf("%s is taken", what)
		}
		if _, again := w.Close(); again == nil {
			t.Errorf("after %s the capsule ends well", what)
		}
	}
}

// failing fails from the n-th write on.
type failing struct{ n int }

var errDisk = errors.New("the disk is full")

func (f *failing) Write(b []byte) (int, error) {
	if f.n--; f.n < 0 {
		return 0, errDisk
	}
	return len(b), nil
}

func TestAnErrorOfTheDiskStays(t *testing.T) {
	for n := range 3 {
		w := NewWriter(&failing{n}, someManifest)
		_ = w.Project(newSample().project)
		for i := range 8 {
			noise := make([]byte, 200_000)
			for j := range noise {
				noise[j] = byte(j * j >> (i + 3) * 2654435761 >> 7)
			}
			_, _ = w.Blob(noise)
		}
		if _, err := w.Close(); !errors.Is(err, errDisk) {
			t.Errorf("after %d writes: %v", n, err)
		}
	}
}

func TestBlobsStandOnce(t *testing.T) {
	var out bytes.Buffer
	w := NewWriter(&out, someManifest)
	require.NoError(t, w.Project(newSample().project))
	zeros := make([]byte, 1<<20)
	for range 2 {
		sha, err := w.Blob(zeros)
		if err != nil || sha != hashOf(zeros) {
			t.Fatal(sha, err)
		}
	}
	m, err := w.Close()
	require.NoError(t, err)
	if m.Counts.Blobs != 1 || m.Counts.BlobBytes != 1<<20 || out.Len() < 1<<20 {
		t.Errorf("%+v in %d bytes: what shrinks to nearly nothing is stored as it is", m.Counts, out.Len())
	}
	if got := entry(t, out.Bytes(), BlobPath(hashOf(zeros))); got != string(zeros) {
		t.Error("the blob is another")
	}
}
