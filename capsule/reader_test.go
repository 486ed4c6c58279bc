package capsule

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hubcli/hub"
	"hubcli/internal/require"
)

// open returns a Reader of a capsule that was verified.
func open(t require.TB, raw []byte) *Reader {
	t.Helper()
	r, err := Open(bytes.NewReader(raw), int64(len(raw)), DefaultLimits())
	require.NoError(t, err)
	require.NoError(t, r.Verify(context.Background(), nil))
	return r
}

// collect returns the lines that a method of a Reader gives.
func collect[T any](t require.TB, read func(func(*T) error) error) []T {
	t.Helper()
	var all []T
	require.NoError(t, read(func(v *T) error { all = append(all, *v); return nil }))
	return all
}

// read returns what a capsule holds.
func read(t require.TB, r *Reader) *sample {
	t.Helper()
	p, err := r.Project()
	require.NoError(t, err)
	s := &sample{
		project: p, rooms: collect(t, r.Rooms), agents: collect(t, r.Agents), decisions: collect(t, r.Decisions),
		artifacts: collect(t, r.Artifacts), memories: collect(t, r.Memories), runs: collect(t, r.Runs), tasks: collect(t, r.Tasks),
		messages: map[Ref][]Message{},
	}
	for _, room := range s.rooms {
		s.messages[room.ID] = collect(t, func(fn func(*Message) error) error { return r.Messages(room.ID, fn) })
	}
	for _, e := range r.Manifest().Entries {
		if sha, ok := blobOf(e.Path); ok {
			data, err := r.Blob(sha)
			require.NoError(t, err)
			s.blobs = append(s.blobs, data)
		}
	}
	return s
}

func TestWhatWasWrittenIsRead(t *testing.T) {
	s := newSample()
	raw, manifest := s.write(t, someManifest, deflateLevel)
	r := open(t, raw)
	if !reflect.DeepEqual(*r.Manifest(), manifest) {
		t.Errorf("the manifest is %+v, want %+v", r.Manifest(), manifest)
	}
	got := read(t, r)
	if got.blobs[0], got.blobs[1] = got.blobs[1], got.blobs[0]; bytes.Equal(got.blobs[1], s.blobs[0]) {
		got.blobs[0], got.blobs[1] = got.blobs[1], got.blobs[0]
	}
	s.decisions[1].Metadata = json.RawMessage("{}")
	for i := range s.memories {
		s.memories[i] = *s.memories[i].whole()
	}
	for i := range s.tasks {
		s.tasks[i] = *s.tasks[i].whole()
	}
	if !reflect.DeepEqual(got, s) {
		t.Errorf("got  %+v\nwant %+v", got, s)
	}
	again, second := got.write(t, someManifest, 9)
	if second.ContentDigest != manifest.ContentDigest {
		t.Error("what was read gives another digest when it is written")
	}
	open(t, again)
}

func TestKnowledgeHasNoMessages(t *testing.T) {
	s, m := newSample(), someManifest
	m.Scope, m.Privacy = ScopeKnowledge, ShareSafe
	s.tasks = []Task{{ID: 1, Room: "r1", Title: "x", Status: hub.TaskDone, Version: 1, CreatedBy: "ann", Outcome: "it works"}}
	raw, _ := s.write(t, m, deflateLevel)
	r := open(t, raw)
	if got := collect(t, func(fn func(*Message) error) error { return r.Messages("r1", fn) }); got != nil {
		t.Errorf("got %v", got)
	}
}

func TestReadingStopsWhereTheCallerWants(t *testing.T) {
	raw, _ := newSample().write(t, someManifest, deflateLevel)
	r := open(t, raw)
	for _, want := range []error{ErrStop, errDisk} {
		lines := 0
		err := r.Agents(func(*Agent) error { lines++; return want })
		if lines != 1 || errors.Is(want, ErrStop) && err != nil || errors.Is(want, errDisk) && !errors.Is(err, errDisk) {
			t.Errorf("after %d lines: %v", lines, err)
		}
	}
	if err := r.Messages("r9", nil); !errors.Is(err, &hub.Error{Code: hub.CodeCapsuleInvalid}) {
		t.Errorf("messages of a room that is not there: %v", err)
	}
	if _, err := r.Blob(strings.Repeat("0", 64)); !errors.Is(err, &hub.Error{Code: hub.CodeCapsuleInvalid}) {
		t.Errorf("bytes that are not there: %v", err)
	}
}

func TestVerifyTellsItsProgressAndEnds(t *testing.T) {
	s := newSample()
	for n := 8; n < 5_000; n++ {
		m := ordinaryMessage(n)
		m.From = "ann"
		s.messages["r1"] = append(s.messages["r1"], m)
	}
	raw, m := s.write(t, someManifest, deflateLevel)
	r, err := Open(bytes.NewReader(raw), int64(len(raw)), DefaultLimits())
	require.NoError(t, err)
	var size, last int64
	for _, e := range m.Entries {
		size += e.Bytes
	}
	calls := 0
	require.NoError(t, r.Verify(t.Context(), func(done, total int64) {
		if calls++; done < last || total != size {
			t.Errorf("%d of %d after %d", done, total, last)
		}
		last = done
	}))
	if last != size || calls < 15 {
		t.Errorf("%d calls, %d of %d bytes", calls, last, size)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	err = r.Verify(ctx, func(done, total int64) {
		if done > total/2 {
			cancel(errDisk)
		}
	})
	if !errors.Is(err, errDisk) {
		t.Errorf("after the context has ended: %v", err)
	}
}

// What is changed between Verify and reading is noticed.
func TestAFileThatChangesIsNoticed(t *testing.T) {
	raw, _ := newSample().write(t, someManifest, flateNone)
	r := open(t, raw)
	at := bytes.Index(raw, []byte("Write the parser"))
	copy(raw[at:], "Burn  the parser")
	if err := r.Tasks(func(*Task) error { return nil }); !errors.Is(err, &hub.Error{Code: hub.CodeCapsuleInvalid}) {
		t.Errorf("a changed line: %v", err)
	}
	blob := bytes.Index(raw, []byte("# The plan"))
	raw[blob] = '%'
	if _, err := r.Blob(hashOf(newSample().blobs[0])); !errors.Is(err, &hub.Error{Code: hub.CodeCapsuleInvalid}) {
		t.Errorf("a changed artifact: %v", err)
	}
}

// flateNone is the level that compresses nothing.
const flateNone = 0

// anySample draws a project.
var anySample = rapid.Custom(func(t *rapid.T) *sample {
	text := rapid.Map(rapid.OneOf(referring, rapid.String()), func(s string) string { return strings.ToValidUTF8(s, "?") })
	title := rapid.Map(text, func(s string) string {
		return "t" + strings.Map(func(r rune) rune {
			if r < 0x20 || r == 0x7f {
				return '.'
			}
			return r
		}, s)
	})
	s := newSample()
	agent := func() hub.AgentID { return rapid.SampledFrom(s.agents).Draw(t, "agent").ID }
	room := func() Ref { return rapid.SampledFrom(s.rooms).Draw(t, "room").ID }
	for n := range rapid.IntRange(0, 5).Draw(t, "decisions") {
		s.decisions = append(s.decisions, Decision{ID: refOf('d', int64(n)+3), Room: room(), Title: title.Draw(t, "title"), Note: text.Draw(t, "note"), By: agent(), CreatedAt: at(n)})
	}
	for n := range rapid.IntRange(0, 20).Draw(t, "messages") {
		m := Message{
			ID: Number(n + 8), TS: at(rapid.IntRange(-1e9, 1e9).Draw(t, "time")), From: agent(), Kind: rapid.SampledFrom(hub.Kinds()).Draw(t, "kind"), Body: text.Draw(t, "body"),
			Authority: hub.AuthorityAgent, Assurance: hub.AssuranceSession,
		}
		if rapid.Bool().Draw(t, "direct") {
			m.To = agent()
		}
		if rapid.Bool().Draw(t, "metadata") {
			m.Metadata = json.RawMessage(fmt.Sprintf(`{"n":%d}`, n))
		}
		if rapid.Bool().Draw(t, "attachment") {
			quoted, _ := json.Marshal(text.Draw(t, "content"))
			m.Attachments = []hub.Attachment{{Type: hub.AttachmentText, Content: quoted}}
		}
		at := room()
		s.messages[at] = append(s.messages[at], m)
	}
	return s
})

func TestEveryProjectComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := anySample.Draw(t, "project")
		raw, first := s.write(t, someManifest, rapid.IntRange(0, 9).Draw(t, "level"))
		_, second := read(t, open(t, raw)).write(t, someManifest, deflateLevel)
		if first.ContentDigest != second.ContentDigest {
			t.Fatalf("the digest is %s, after reading it is %s", first.ContentDigest, second.ContentDigest)
		}
	})
}

func BenchmarkVerify(b *testing.B) {
	const messages = 100_000
	s := &sample{project: newSample().project, rooms: newSample().rooms[:1], messages: map[Ref][]Message{}}
	s.rooms[0].CreatedBy = ""
	for n := 1; n <= messages; n++ {
		m := ordinaryMessage(n)
		s.messages["r1"] = append(s.messages["r1"], m)
	}
	for _, name := range []hub.AgentID{"agent-bridge", "agent-claim", "agent-client", "agent-cursor", "agent-harness", "agent-index", "agent-journal", "agent-lease", "agent-parser", "agent-relay", "agent-schema"} {
		s.agents = append(s.agents, Agent{ID: name})
	}
	raw, _ := s.write(b, someManifest, deflateLevel)
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		open(b, raw)
		n += messages
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "messages/s")
}
