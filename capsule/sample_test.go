package capsule

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"hubcli/hub"
	"hubcli/internal/require"
)

const someDay = hub.Time(1_790_000_000_000)

// sample is a project that has something of everything.
type sample struct {
	project   Project
	rooms     []Room
	agents    []Agent
	decisions []Decision
	artifacts []Artifact
	memories  []Memory
	runs      []Run
	tasks     []Task
	messages  map[Ref][]Message
	blobs     [][]byte
}

func at(n int) hub.Time { return someDay + hub.Time(n)*1000 }

func timeAt(n int) *hub.Time { t := at(n); return &t }

// newSample returns a small project, complete and with its full history.
func newSample() *sample {
	text, binary := []byte("# The plan\n\nFirst #m1, then #r1.\n"), []byte{0, 1, 2, 0xff, 0xfe}
	hops := 20
	artifact := func(id Ref, version int64, data []byte, kind string) Artifact {
		return Artifact{
			ID: id, Room: "r1", Title: "plan.md", Kind: kind, By: "ann", Version: version, Bytes: int64(len(data)),
			SHA256: hashOf(data), ContentType: "text/markdown", CreatedAt: at(30),
		}
	}
	return &sample{
		project: Project{Slug: "web-shop", Name: "Web shop", CreatedAt: at(0)},
		rooms: []Room{
			{ID: "r1", Slug: "api", Name: "API", Topic: "the <wire> & more", CreatedBy: "ann", CreatedAt: at(1), Locks: hub.LocksWarn},
			{ID: "r2", Slug: "web", Name: "Web ☕", Topic: "", CreatedAt: at(2), ForceReason: "beside #r1", Locks: hub.LocksRefuse, Archived: true, WithProject: true, GuardHops: &hops},
		},
		agents: []Agent{{ID: "ann", DisplayName: "Ann"}, {ID: "bob"}, {ID: "cy.7"}},
		decisions: []Decision{
			{ID: "d1", Room: "r1", Title: "Use JSON", Note: "see #m2", By: "bob", Metadata: json.RawMessage(`{"why":["a",1.50]}`), CreatedAt: at(20)},
			{ID: "d2", Room: "r2", Title: "Wait", Note: "", CreatedAt: at(21)},
		},
		artifacts: []Artifact{
			artifact("a1", 1, text, "doc"), artifact("a2", 2, binary, "image"), artifact("a3", 3, text, "doc"),
		},
		memories: []Memory{
			{ID: "k1", Room: "r1", Scope: hub.ScopeRoom, Key: "port", Text: "6969", Tags: []string{"net"}, By: "ann", CreatedAt: at(40), ReplacedAt: timeAt(41)},
			{ID: "k2", Room: "r1", Scope: hub.ScopeRoom, Key: "port", Text: "6970", CreatedAt: at(41), ReplacedAt: timeAt(43), Replaces: "k1"},
			{ID: "k3", Scope: hub.ScopeProject, Text: "Be kind.", CreatedAt: at(42)},
			{ID: "k4", Room: "r1", Scope: hub.ScopeRoom, Key: "port", CreatedAt: at(43), ReplacedAt: timeAt(43), Replaces: "k2"},
			{ID: "k5", Scope: hub.ScopeProject, Key: "port", Text: "80", CreatedAt: at(44)},
		},
		runs: []Run{{ID: "u1", Room: "r1", Title: "Release", CreatedBy: "ann", Status: hub.RunRunning, StartedAt: at(9)}},
		tasks: []Task{
			{ID: 2, Room: "r1", Title: "Write the parser", Status: hub.TaskDone, Assignee: "bob", Run: "u1", BlockedBy: []Number{5}, Version: 3, CreatedBy: "ann", CreatedAt: at(10), UpdatedAt: at(12), CompletedAt: timeAt(12), Result: 4},
			{ID: 5, Room: "r1", Parent: 2, Title: "Test it", Status: hub.TaskOpen, Version: 1, CreatedBy: "bob", CreatedAt: at(13), UpdatedAt: at(13), Thread: "parser"},
			{ID: 7, Room: "r2", Title: "A private task", Status: hub.TaskWorking, Version: 2, CreatedBy: "ann", CreatedAt: at(14), UpdatedAt: at(15), Direct: true, Asked: "cy.7"},
		},
		messages: map[Ref][]Message{
			"r1": {
				{ID: 1, TS: at(10), From: "ann", Kind: hub.KindChat, Body: "Hello <all> & everyone \u2028 \x00 ☕", Authority: hub.AuthorityAgent, Assurance: hub.AssuranceAsserted},
				{ID: 2, TS: at(10), From: "ann", Kind: hub.KindTask, Body: "Write the parser", Thread: "parser", Authority: hub.AuthorityAgent, Assurance: hub.AssuranceSession},
				{
					ID: 4, TS: at(12), From: "bob", Kind: hub.KindTaskResult, Body: "done", ReplyTo: 2, Metadata: json.RawMessage(`{"task_completed":"#m2"}`), Authority: hub.AuthorityAgent, Assurance: hub.AssuranceSession,
					Attachments: []hub.Attachment{
						{Type: hub.AttachmentCode, Content: json.RawMessage(`"x := 1"`), Language: "go"},
						{Type: hub.AttachmentJSON, Content: json.RawMessage(`{"a":[1,2,{"b":null}]}`)},
						{Type: hub.AttachmentFileRef, Path: "parser.go", StartLine: 3, EndLine: 9, Description: "the loop"},
					},
				},
				{ID: 5, TS: at(13), From: "bob", Kind: hub.KindTaskRequest, Body: "Test it", ParentTask: 2, Authority: hub.AuthorityAgent, Assurance: hub.AssuranceRelay},
			},
			"r2": {
				{ID: 3, TS: at(11), From: "system", Kind: hub.KindNotice, Body: "A notice", Authority: hub.AuthoritySystem, Assurance: hub.AssuranceSession},
				{ID: 6, TS: at(13), From: "ann", To: "cy.7", Channel: "direct", Kind: hub.KindChat, Body: "between us", Authority: hub.AuthorityAgent, Assurance: hub.AssuranceSession},
				{ID: 7, TS: at(14), From: "ann", To: "cy.7", Channel: "room-#r2", Kind: hub.KindTask, Body: "A private task", Authority: hub.AuthorityAgent, Assurance: hub.AssuranceSession},
			},
		},
		blobs: [][]byte{text, binary},
	}
}

var someManifest = Manifest{
	ProductVersion: "1.2.3", CreatedAt: someDay, CapsuleID: "00112233445566778899aabbccddeeff", Scope: ScopeComplete, Privacy: FullHistory,
	Redaction: Redaction{LeftOut: map[string]int{"tasks": 1}},
}

// section writes one section.
func section[T any](t require.TB, w *Writer, path string, all []T) {
	t.Helper()
	require.NoError(t, w.Section(path))
	for i := range all {
		require.NoError(t, w.Line(&all[i]))
	}
}

// write returns the archive and its manifest.
func (s *sample) write(t require.TB, m Manifest, level int) ([]byte, Manifest) {
	t.Helper()
	var out bytes.Buffer
	w := newWriter(&out, m, level)
	require.NoError(t, w.Project(s.project))
	section(t, w, nameRooms, s.rooms)
	section(t, w, nameAgents, s.agents)
	section(t, w, nameDecisions, s.decisions)
	for _, data := range s.blobs {
		_, err := w.Blob(data)
		require.NoError(t, err)
	}
	section(t, w, nameArtifacts, s.artifacts)
	section(t, w, nameMemories, s.memories)
	section(t, w, nameRuns, s.runs)
	section(t, w, nameTasks, s.tasks)
	if m.Scope != ScopeKnowledge {
		for _, room := range s.rooms {
			section(t, w, MessagesPath(room.ID), s.messages[room.ID])
		}
	}
	manifest, err := w.Close()
	require.NoError(t, err)
	return out.Bytes(), manifest
}

// ordinaryMessage is a message of usual length; n also varies its text.
func ordinaryMessage(n int) Message {
	words := [...]string{"parser", "index", "journal", "schema", "client", "relay", "bridge", "cursor", "lease", "claim", "harness"}
	word := func(k int) string { return words[(n*k+n/7)%len(words)] }
	return Message{
		ID: Number(n), TS: at(n), From: hub.AgentID("agent-" + word(3)), Kind: hub.KindChat, Thread: hub.ThreadID(word(5) + "-work"),
		Body: fmt.Sprintf("I looked at the %s and found that %s %d does not agree with the %s of %x, see #m%d. The next step is to change the %s, then the %s.",
			word(1), word(2), n%977, word(4), n*2654435761%1_000_003, max(1, n-3), word(6), word(8)),
		Metadata:  json.RawMessage(fmt.Sprintf(`{"step":%d,"tool":"%s"}`, n%50, word(9))),
		Authority: hub.AuthorityAgent, Assurance: hub.AssuranceSession,
	}
}

func BenchmarkWrite(b *testing.B) {
	for _, level := range []int{1, deflateLevel, 6} {
		b.Run(fmt.Sprintf("level=%d", level), func(b *testing.B) {
			out := counted{w: discard()}
			w := newWriter(&out, someManifest, level)
			require.NoError(b, w.Project(newSample().project))
			section(b, w, nameRooms, newSample().rooms[:1])
			require.NoError(b, w.Section(MessagesPath("r1")))
			n := 0
			b.ReportAllocs()
			for b.Loop() {
				n++
				m := ordinaryMessage(n)
				require.NoError(b, w.Line(&m))
			}
			w.endSection()
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "messages/s")
			b.ReportMetric(float64(out.n)/float64(n), "bytes/message")
			b.SetBytes(w.expanded / int64(n))
		})
	}
}
