package capsules_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"hubcli/actors/capsules"
	"hubcli/actors/core"
	"hubcli/capsule"
	"hubcli/hub"
	"hubcli/internal/require"
	"hubcli/internal/testhub"
	"hubcli/supervisor"
)

// canary stands in every text of the project, for tests of what a capsule says.
const canary = "canary"

// A shop is a project that has everything, in a hub that has other things beside it.
type shop struct {
	*testhub.Hub
	operator context.Context
	project  hub.Project
	rooms    []hub.Room
	binary   hub.ArtifactID
	first    hub.MessageID // of the first room
	task     hub.TaskID    // with a result
	direct   hub.TaskID
}

// newShop makes the project.
func newShop(t testing.TB) *shop {
	t.Helper()
	s := &shop{Hub: testhub.Start(t, testhub.With(func(c *supervisor.Config) { c.WithoutSearch = true }))}
	s.operator = hub.WithCaller(t.Context(), &hub.Caller{Operator: true})
	s.others(t)
	p, err := s.Hub.Hub.CreateProject(s.operator, hub.ProjectInput{Name: "The canary shop", Slug: "canary-shop"})
	require.NoError(t, err)
	s.project = p.Row
	for _, id := range []hub.AgentID{"ann-canary", "bob", "cy"} {
		_, err := s.Hub.Hub.Register(s.operator, hub.RegisterInput{AgentID: id, DisplayName: "Agent canary " + string(id)})
		require.NoError(t, err)
	}
	s.room(t, hub.RoomInput{Name: "Front canary", Topic: "Topic canary", CreatedBy: "ann-canary"})
	s.room(t, hub.RoomInput{Name: "Front canary", Topic: "Twin", CreatedBy: "bob", Force: true, ForceReason: "Reason canary"})
	s.room(t, hub.RoomInput{Name: "Empty room"})
	s.records(t)
	s.messages(t)
	s.work(t)
	return s
}

// others makes things that belong to no capsule of the shop.
func (s *shop) others(t testing.TB) {
	t.Helper()
	p, err := s.Hub.Hub.CreateProject(s.operator, hub.ProjectInput{Name: "Elsewhere"})
	require.NoError(t, err)
	r, err := s.Hub.Hub.CreateRoom(s.operator, hub.RoomInput{Project: p.Row.Slug, Name: "Elsewhere"})
	require.NoError(t, err)
	s.post(t, hub.PostInput{FromAgent: "eve", Channel: r.Row.Channel, Body: "elsewhere"})
	s.post(t, hub.PostInput{FromAgent: "eve", Body: "elsewhere, in general"})
	s.post(t, hub.PostInput{FromAgent: "eve", ToAgent: "bob", Body: "elsewhere, direct"})
}

func (s *shop) room(t testing.TB, in hub.RoomInput) {
	t.Helper()
	in.Project = s.project.Slug
	r, err := s.Hub.Hub.CreateRoom(s.operator, in)
	require.NoError(t, err)
	s.rooms = append(s.rooms, r.Row)
}

// post posts as an agent.
func (s *shop) post(t testing.TB, in hub.PostInput) hub.MessageID {
	t.Helper()
	if in.Kind == "" {
		in.Kind = hub.KindChat
	}
	if in.Channel == "" {
		in.Channel = hub.DefaultChannel
		if in.ToAgent != "" {
			in.Channel = hub.DirectChannel
		}
	}
	posted, err := s.Hub.Hub.Post(hub.WithCaller(t.Context(), &hub.Caller{}), in)
	require.NoError(t, err)
	row, err := posted.Row.Decode()
	require.NoError(t, err)
	return row.ID
}

// records adds decisions, artifacts and memories.
func (s *shop) records(t testing.TB) {
	t.Helper()
	h, room := s.Hub.Hub, s.rooms[0].RoomID
	_, err := h.AddDecision(s.operator, hub.DecisionInput{
		RoomID: room, Title: "Use canary", Note: "Because canary of " + string(room), By: "ann-canary", Metadata: []byte(`{"z":1.50,"canary":["canary"]}`),
	})
	require.NoError(t, err)
	text, twice, bin := "Read canary, see "+string(room), "A second canary", "AAEC/w=="
	for _, in := range []hub.ArtifactInput{
		{Title: "Guide canary", Kind: "doc-canary", By: "bob", Body: &text, ContentType: "text/markdown"},
		{Title: "Guide canary", Kind: "doc-canary", By: "bob", Body: &twice, ContentType: "text/plain; note=canary"},
		{Title: "Picture", Kind: "image", ContentBase64: &bin, ContentType: "image/png"},
	} {
		in.RoomID = room
		a, err := h.AddArtifact(s.operator, in)
		require.NoError(t, err)
		s.binary = a.Row.ArtifactID
	}
	for _, in := range []hub.MemoryInput{
		{Text: "Remember canary", Key: "key-canary", Tags: []string{"tag-canary"}, By: "ann-canary"},
		{Text: "Remember another", Key: "key-canary", Tags: []string{}},
		{Key: "key-canary"},
		{Text: "Shared canary", Scope: hub.ScopeProject},
	} {
		in.RoomID = room
		if in.Scope == "" {
			in.Scope = hub.ScopeRoom
		}
		_, err := h.Remember(s.operator, in)
		require.NoError(t, err)
	}
}

// messages adds messages of every form, public and direct.
func (s *shop) messages(t testing.TB) {
	t.Helper()
	channel := s.rooms[0].Channel
	s.first = s.post(t, hub.PostInput{
		FromAgent: "ann-canary", Channel: channel, Body: "Hello canary in " + string(channel), ThreadID: "thread-canary",
		Metadata: []byte(`{"b":2,"canary":"canary","a":{"canary":1e3}}`),
		Attachments: []hub.Attachment{
			{Type: hub.AttachmentText, Content: []byte(`"text canary"`)},
			{Type: hub.AttachmentJSON, Content: []byte(`{"canary":["canary"]}`)},
			{Type: hub.AttachmentCode, Content: []byte(`"code canary"`), Language: "canary"},
			{Type: hub.AttachmentFileRef, Path: "/home/canary/x", Description: "file canary", StartLine: 1, EndLine: 2},
			{Type: hub.AttachmentDiffRef, Path: "diff-canary", Base: "base-canary", Head: "head-canary"},
		},
	})
	s.post(t, hub.PostInput{FromAgent: "bob", Channel: channel, Body: "An answer to #" + number(s.first) + ", not to #1", ReplyTo: s.first})
	s.post(t, hub.PostInput{FromAgent: "bob", ToAgent: "ann-canary", Channel: channel, Body: "Between us: canary"})
	s.post(t, hub.PostInput{FromAgent: "bob", Channel: s.rooms[1].Channel, Body: "In the twin"})
}

// work adds tasks and a run.
func (s *shop) work(t testing.TB) {
	t.Helper()
	h, channel := s.Hub.Hub, s.rooms[0].Channel
	s.task = s.post(t, hub.PostInput{FromAgent: "ann-canary", Channel: channel, Kind: hub.KindTask, Body: "Do canary", ThreadID: "thread-canary"})
	child := s.post(t, hub.PostInput{FromAgent: "ann-canary", Channel: channel, Kind: hub.KindTask, Body: "A child", ParentTaskID: s.task})
	s.post(t, hub.PostInput{FromAgent: "bob", Channel: channel, Kind: hub.KindTaskResult, Body: "Done canary", ReplyTo: child})
	blocker := s.post(t, hub.PostInput{FromAgent: "ann-canary", Channel: channel, Kind: hub.KindTask, Body: "Wait for me"})
	s.direct = s.post(t, hub.PostInput{FromAgent: "bob", ToAgent: "cy", Channel: channel, Kind: hub.KindTaskRequest, Body: "Secret canary"})
	waits := s.post(t, hub.PostInput{FromAgent: "ann-canary", Channel: s.rooms[1].Channel, Kind: hub.KindTask, Body: "I wait", BlockedBy: []hub.TaskID{blocker}})
	_, err := h.CreateRun(s.operator, hub.RunInput{Title: "Run canary", RoomID: s.rooms[0].RoomID, TaskIDs: []hub.TaskID{waits}, CreatedBy: "ann-canary"})
	require.NoError(t, err)
}

func number(id hub.MessageID) string {
	b, _ := json.Marshal(id)
	return string(b)
}

// request is what the operator asks for.
func (s *shop) request(scope capsule.Scope, privacy capsule.Privacy) capsules.Request {
	req := capsules.Request{Project: s.project.ProjectID, Scope: scope, Privacy: privacy, Operator: true}
	if scope == capsule.ScopeSelectedRooms {
		req.Rooms = []hub.RoomID{s.rooms[0].RoomID}
	}
	return req
}

// export writes a capsule and returns its entries.
func (s *shop) export(t testing.TB, req capsules.Request) (map[string]string, capsules.Result) {
	t.Helper()
	view, err := s.Store.Snapshot()
	require.NoError(t, err)
	defer view.Close()
	return s.exportFrom(t, view, req)
}

// exportFrom does so from a view of another instant.
func (s *shop) exportFrom(t testing.TB, view core.Snapshot, req capsules.Request) (map[string]string, capsules.Result) {
	t.Helper()
	var red capsules.Redactor
	if req.Privacy == capsule.ShareSafe {
		red = &fakeRedactor{}
	}
	var b bytes.Buffer
	id := capsules.Identity{CapsuleID: strings.Repeat("0a", 16), Version: "test", CreatedAt: 7}
	result, err := capsules.Export(t.Context(), view, &b, req, id, red, nil)
	require.NoError(t, err)
	r, err := capsule.Open(bytes.NewReader(b.Bytes()), int64(b.Len()), capsule.DefaultLimits())
	require.NoError(t, err)
	require.NoError(t, r.Verify(t.Context(), nil)) // whatever a hub writes, a reader takes
	return entriesOf(t, b.Bytes()), result
}

// entriesOf returns the entries of a capsule by their names.
func entriesOf(t testing.TB, data []byte) map[string]string {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	require.NoError(t, err)
	entries := map[string]string{}
	for _, f := range z.File {
		r, err := f.Open()
		require.NoError(t, err)
		data, err := io.ReadAll(r)
		require.NoError(t, err)
		entries[f.Name] = string(data)
	}
	return entries
}

// changed says whether a capsule would hold something else now.
func (s *shop) changed(t testing.TB, req capsules.Request, was *capsules.Result) bool {
	t.Helper()
	view, err := s.Store.Snapshot()
	require.NoError(t, err)
	defer view.Close()
	changed, err := capsules.Changed(t.Context(), view, req, was)
	require.NoError(t, err)
	return changed
}

// fakeRedactor replaces the canary, so that what it has not seen shows.
type fakeRedactor struct{ places int }

func (r *fakeRedactor) Text(text string) string {
	r.places += strings.Count(text, canary)
	return strings.ReplaceAll(text, canary, "[gone]")
}

func (r *fakeRedactor) JSON(raw []byte) ([]byte, error) { return []byte(r.Text(string(raw))), nil }

func (r *fakeRedactor) Counts() map[string]int { return map[string]int{"bird": r.places} }

// rows decodes the lines of an entry.
func rows[T any](t testing.TB, entries map[string]string, name string) []T {
	t.Helper()
	text, ok := entries[name]
	if !ok {
		t.Fatalf("the capsule has no %s", name)
	}
	var all []T
	for line := range strings.Lines(text) {
		var row T
		require.NoError(t, json.Unmarshal([]byte(line), &row))
		all = append(all, row)
	}
	return all
}
