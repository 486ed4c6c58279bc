package readable

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hubcli/capsule"
	"hubcli/hub"
	"hubcli/internal/require"
)

// files is a Sink in memory.
type files map[string][]byte

func (f files) Append(name string, data []byte) error {
	f[name] = append(f[name], data...)
	return nil
}

const someDay hub.Time = 1_795_550_400_000 // 2026-11-24T20:00:00Z

func at(n int) hub.Time { return someDay + hub.Time(n)*60_000 }

func timeAt(n int) *hub.Time { t := at(n); return &t }

// project is what tests put into a capsule.
type project struct {
	manifest  capsule.Manifest
	project   capsule.Project
	rooms     []capsule.Room
	agents    []capsule.Agent
	decisions []capsule.Decision
	artifacts []capsule.Artifact
	memories  []capsule.Memory
	runs      []capsule.Run
	tasks     []capsule.Task
	messages  map[capsule.Ref][]capsule.Message
	blobs     [][]byte
}

func section[T any](t require.TB, w *capsule.Writer, path string, all []T) {
	t.Helper()
	require.NoError(t, w.Section(path))
	for i := range all {
		require.NoError(t, w.Line(&all[i]))
	}
}

// reader writes the capsule and opens it, checked.
func (p *project) reader(t require.TB) *capsule.Reader {
	t.Helper()
	var out bytes.Buffer
	w := capsule.NewWriter(&out, p.manifest)
	require.NoError(t, w.Project(p.project))
	section(t, w, "rooms.ndjson", p.rooms)
	section(t, w, "agents.ndjson", p.agents)
	section(t, w, "decisions.ndjson", p.decisions)
	for _, data := range p.blobs {
		_, err := w.Blob(data)
		require.NoError(t, err)
	}
	section(t, w, "artifacts.ndjson", p.artifacts)
	section(t, w, "memories.ndjson", p.memories)
	section(t, w, "runs.ndjson", p.runs)
	section(t, w, "tasks.ndjson", p.tasks)
	if p.manifest.Scope != capsule.ScopeKnowledge {
		for _, room := range p.rooms {
			section(t, w, capsule.MessagesPath(room.ID), p.messages[room.ID])
		}
	}
	_, err := w.Close()
	require.NoError(t, err)
	r, err := capsule.Open(bytes.NewReader(out.Bytes()), int64(out.Len()), capsule.DefaultLimits())
	require.NoError(t, err)
	require.NoError(t, r.Verify(context.Background(), nil))
	return r
}

func render(t require.TB, src Source, form Form) files {
	t.Helper()
	out := files{}
	require.NoError(t, Render(context.Background(), src, out, form, nil))
	return out
}

func shop() *project {
	first, second, picture := []byte("# The plan\n"), []byte("# The plan\n\nNow with tests.\n"), []byte{0x89, 'P', 'N', 'G', 0}
	artifact := func(id, room capsule.Ref, title string, version int64, data []byte, media string) capsule.Artifact {
		return capsule.Artifact{
			ID: id, Room: room, Title: title, Kind: "doc", By: "ann", Version: version, Bytes: int64(len(data)),
			SHA256: sum(data), ContentType: media, CreatedAt: at(30),
		}
	}
	say := func(id capsule.Number, from hub.AgentID, kind hub.Kind, body string) capsule.Message {
		return capsule.Message{ID: id, TS: at(int(id)), From: from, Kind: kind, Body: body, Authority: hub.AuthorityAgent, Assurance: hub.AssuranceSession}
	}
	reply := say(4, "bob", hub.KindTaskResult, "Done.\n\n```go\nx := 1\n```\n")
	reply.ReplyTo, reply.Thread, reply.TS = 2, "parser", at(300)
	reply.Attachments = []hub.Attachment{
		{Type: hub.AttachmentFileRef, Path: "parser.go", StartLine: 3, EndLine: 9, Description: "the loop"},
		{Type: hub.AttachmentCode, Content: json.RawMessage(`"y := 2"`), Language: "go"},
		{Type: hub.AttachmentJSON, Content: json.RawMessage(`{"a":1}`)},
		{Type: hub.AttachmentText, Content: json.RawMessage(`"*not* bold"`)},
	}
	direct := say(3, "ann", hub.KindChat, "between us")
	direct.To = "bob"
	operator := say(5, "operator", hub.KindNotice, "ship it")
	operator.TS, operator.Authority = at(301), hub.AuthorityOperator
	return &project{
		manifest: capsule.Manifest{
			ProductVersion: "1.2.3", CreatedAt: at(999), CapsuleID: strings.Repeat("a7", 16), Scope: capsule.ScopeComplete, Privacy: capsule.FullHistory,
			Redaction: capsule.Redaction{Replaced: map[string]int{"aws-key": 2}, LeftOut: map[string]int{"tasks_elsewhere": 1}},
		},
		project: capsule.Project{Slug: "web-shop", Name: "Web <shop>", CreatedAt: at(0)},
		rooms: []capsule.Room{
			{ID: "r1", Slug: "api", Name: "API", Topic: "the <wire> & more", CreatedBy: "ann", CreatedAt: at(1), Locks: hub.LocksWarn},
			{ID: "r2", Slug: "web", Name: "Web", CreatedAt: at(2), ForceReason: "beside #r1", Locks: hub.LocksWarn, Archived: true},
		},
		agents: []capsule.Agent{{ID: "ann", DisplayName: "Ann"}, {ID: "bob"}},
		decisions: []capsule.Decision{
			{ID: "d1", Room: "r1", Title: "Use JSON", Note: "It is *known*.", By: "bob", Metadata: json.RawMessage(`{"why":["a"]}`), CreatedAt: at(20)},
			{ID: "d2", Room: "r2", Title: "Wait: \"for\" it", CreatedAt: at(21)},
		},
		artifacts: []capsule.Artifact{
			artifact("a1", "r1", "plan.md", 1, first, "text/markdown"), artifact("a2", "r1", "logo", 1, picture, "image/png"),
			artifact("a3", "r1", "plan.md", 2, second, "text/markdown"),
			{ID: "a4", Room: "r2", Title: "Plan.md", Kind: "doc", Version: 1, ContentType: "application/octet-stream", CreatedAt: at(31), LeftOut: "binary"},
		},
		memories: []capsule.Memory{
			{ID: "k1", Room: "r1", Scope: hub.ScopeRoom, Key: "port", Text: "6969", Tags: []string{"net"}, By: "ann", CreatedAt: at(40), ReplacedAt: timeAt(41)},
			{ID: "k2", Room: "r1", Scope: hub.ScopeRoom, Key: "port", Text: "6970", CreatedAt: at(41), Replaces: "k1"},
			{ID: "k3", Scope: hub.ScopeProject, Text: "Be kind.", By: "bob", CreatedAt: at(42)},
		},
		runs: []capsule.Run{{ID: "u1", Room: "r1", Title: "Release", CreatedBy: "ann", Status: hub.RunRunning, StartedAt: at(9)}},
		tasks: []capsule.Task{
			{ID: 2, Room: "r1", Title: "Write the parser", Status: hub.TaskDone, Assignee: "bob", Run: "u1", BlockedBy: []capsule.Number{6}, Version: 3, CreatedBy: "ann", CreatedAt: at(10), UpdatedAt: at(12), CompletedAt: timeAt(12), Result: 4, Thread: "parser"},
			{ID: 6, Room: "r1", Parent: 2, Title: "Test it", Status: hub.TaskOpen, Version: 1, CreatedBy: "bob", CreatedAt: at(13), UpdatedAt: at(13)},
		},
		messages: map[capsule.Ref][]capsule.Message{"r1": {
			say(1, "ann", hub.KindChat, "Hello <all>,\nsee #m2.\n\n# Not a heading"), say(2, "ann", hub.KindTask, "Write the parser"), direct, reply, operator,
			func() capsule.Message {
				m := say(6, "bob", hub.KindTaskRequest, "Test it")
				m.ParentTask, m.TS = 2, at(302)
				return m
			}(),
		}},
		blobs: [][]byte{first, second, picture},
	}
}

// Each file of a small project, as it stands in docs/capsule.md.
func TestBundle(t *testing.T) {
	out := render(t, shop().reader(t), Bundle)
	names := slices.Sorted(maps.Keys(out))
	want := strings.Fields(`README.md artifacts/INDEX.md artifacts/api/logo.png artifacts/api/plan-v1.md artifacts/api/plan.md
		data/agents.ndjson data/artifacts.ndjson data/decisions.ndjson data/memories.ndjson data/messages/r1.ndjson data/messages/r2.ndjson
		data/project.json data/rooms.ndjson data/runs.ndjson data/tasks.ndjson
		decisions/0001-use-json.md decisions/0002-wait-for-it.md memory.md replays/api.html replays/web.html rooms/api.md rooms/web.md tasks.md`)
	if !slices.Equal(names, want) {
		t.Fatalf("files\n%q, want\n%q", names, want)
	}
	golden(t, "bundle.txt", out)
	checkLinks(t, out)
}

func TestMirror(t *testing.T) {
	p := shop()
	p.artifacts[2].Title = "plan.md"
	p.memories[2].Text = "the key is [redacted:aws-key:0a1b2c3d] of redacted-user-0a1b2c3d"
	out := render(t, p.reader(t), Mirror)
	golden(t, "mirror.txt", out)
	checkLinks(t, out)
	p.memories[2].Text = "the key is [redacted:aws-key:ffffffff] of redacted-user-ffffffff"
	p.manifest.CapsuleID, p.manifest.CreatedAt = strings.Repeat("b8", 16), at(5000)
	p.manifest.ProductVersion = "9.9.9"
	again := render(t, p.reader(t), Mirror)
	if !maps.EqualFunc(out, again, bytes.Equal) {
		t.Error("another export of the same project gives another mirror")
	}
}

func TestKnowledgeHasNoMessages(t *testing.T) {
	p := shop()
	p.manifest.Scope = capsule.ScopeKnowledge
	p.messages = nil
	p.tasks[0].ID, p.tasks[1].ID, p.tasks[1].Parent, p.tasks[0].BlockedBy = 1, 2, 1, nil
	p.tasks[0].Result, p.tasks[0].Outcome = 0, "It works.\n1. really"
	out := render(t, p.reader(t), Bundle)
	page := string(out["rooms/api.md"])
	if strings.Contains(page, "Messages") || !strings.Contains(page, "> It works.\\\n> 1\\. really\n") {
		t.Errorf("the page of a room is\n%s", page)
	}
	if out["data/messages/r1.ndjson"] != nil || strings.Contains(string(out["README.md"]), "message") && strings.Contains(string(out["README.md"]), "0 messages") {
		t.Error("a bundle without messages counts them")
	}
}

// A long room continues on pages that name each other, and no page is beyond its size.
func TestPages(t *testing.T) {
	p := shop()
	p.rooms = append(p.rooms, capsule.Room{ID: "r3", Slug: "api-2", Name: "Second", CreatedAt: at(3), Locks: hub.LocksWarn})
	body := strings.Repeat("word ", 2_000)
	p.messages["r1"], p.tasks = nil, nil
	p.decisions, p.artifacts, p.blobs = nil, nil, nil
	for n := capsule.Number(1); n <= 120; n++ {
		p.messages["r1"] = append(p.messages["r1"], capsule.Message{ID: n, TS: at(int(n)), From: "ann", Kind: hub.KindChat, Body: body, Authority: hub.AuthorityAgent, Assurance: hub.AssuranceSession})
	}
	out := render(t, p.reader(t), Bundle)
	for _, name := range []string{"rooms/api.md", "rooms/api-2-2.md", "rooms/api-3.md"} {
		if len(out[name]) == 0 || len(out[name]) > pageBytes+100 {
			t.Errorf("%s has %d bytes", name, len(out[name]))
		}
	}
	all := string(out["rooms/api.md"]) + string(out["rooms/api-2-2.md"]) + string(out["rooms/api-3.md"])
	for n := 1; n <= 120; n++ {
		if strings.Count(all, fmt.Sprintf("**#m%d** ", n)) != 1 {
			t.Errorf("message %d is not on just one page", n)
		}
	}
	if !strings.Contains(string(out["rooms/api.md"]), "Continued in [api-2-2.md](api-2-2.md).\n") {
		t.Error("the first page does not name the second")
	}
	second := string(out["rooms/api-2-2.md"])
	if !strings.HasPrefix(second, "# API\n\nPage 2, continued from [api.md](api.md).\n\n## Messages of 2026-11-24\n") {
		t.Errorf("the second page begins with %q", second[:200])
	}
	if !strings.HasPrefix(string(out["rooms/api-2.md"]), "# Second\n") {
		t.Error("a page has taken the name of another room")
	}
}

var link = regexp.MustCompile(`(?:^|[^\\])\]\(([^)]*)\)`)

// checkLinks finds links that lead to no file of the rendering.
func checkLinks(t *testing.T, out files) {
	t.Helper()
	for name, data := range out {
		if !strings.HasSuffix(name, ".md") || strings.HasPrefix(name, "artifacts/") && !strings.HasSuffix(name, "INDEX.md") {
			continue
		}
		for line := range strings.SplitSeq(string(data), "\n") {
			if strings.HasPrefix(line, ">") {
				continue // quotes have none, see TestQuote
			}
			for _, m := range link.FindAllStringSubmatch(line, -1) {
				if out[path.Join(path.Dir(name), m[1])] == nil {
					t.Errorf("%s: %q leads nowhere", name, m[0])
				}
			}
		}
	}
}

// Neither form passes on what an agent wrote as Markdown, HTML or a control character, and
// no name of a file is what an agent wanted it to be.
func TestHostileTexts(t *testing.T) {
	const evil = "</details><script>alert(1)</script>\n![x](http://e/x.png) [go](javascript:x)\n# H\n- li\n> q\n```\n```mermaid\n---\n\u202e\x1b[31m\n|a|b|\n{{ x }} \\"
	p := shop()
	p.project.Name = "<b>x</b>](x) #"
	p.rooms[0].Name, p.rooms[0].Topic, p.rooms[1].Name = "[a](http://e) <i>", evil, "*x*"
	p.rooms[0].Slug, p.rooms[1].Slug = "con", "agents"
	p.decisions[0].Title, p.decisions[0].Note = "\"x\": [a](b) <i> ../../up", evil
	p.artifacts[0].Title, p.artifacts[2].Title, p.artifacts[1].Title = "../../etc/passwd", "../../etc/passwd", "CLAUDE.md"
	p.memories[1].Text, p.memories[0].Key, p.memories[1].Key, p.tasks[0].Title, p.runs[0].Title = evil, "<k>", "<k>", "<t> [x](y)", "<u>"
	p.messages["r1"][0].Body, p.messages["r1"][3].Thread = evil, "<thread> [x](y)"
	p.tasks[0].Thread = "<thread> [x](y)"
	for _, form := range []Form{Bundle, Mirror} {
		out := render(t, p.reader(t), form)
		for name, data := range out {
			if !strings.HasSuffix(name, ".md") || strings.HasPrefix(name, "artifacts/x-con/") {
				continue
			}
			for _, wrong := range []string{"<script", "<i>", "<b>", "<k>", "<t>", "<u>", "\u202e", "\x1b", "\n# H"} {
				if bytes.Contains(data, []byte(wrong)) {
					t.Errorf("%s has %q:\n%s", name, wrong, data)
				}
			}
		}
		checkLinks(t, out)
		if out["rooms/x-con.md"] == nil || out["rooms/x-agents.md"] == nil {
			t.Errorf("rooms are named %q", slices.Sorted(maps.Keys(out)))
		}
		if form == Bundle && (out["artifacts/x-con/etc-passwd.md"] == nil || out["artifacts/x-con/x-CLAUDE.md"] == nil) {
			t.Errorf("artifacts are named %q", slices.Sorted(maps.Keys(out)))
		}
	}
}

func TestRenderFails(t *testing.T) {
	src := shop().reader(t)
	ctx, cancel := context.WithCancelCause(context.Background())
	gone := errors.New("gone")
	cancel(gone)
	big := shop()
	for n := capsule.Number(7); n < 3000; n++ {
		big.messages["r2"] = append(big.messages["r2"], capsule.Message{ID: n, TS: at(1), From: "ann", Kind: hub.KindChat, Body: "x", Authority: hub.AuthorityAgent, Assurance: hub.AssuranceSession})
	}
	told := int64(0)
	if err := Render(ctx, big.reader(t), files{}, Bundle, func(n int64) { told = n }); !errors.Is(err, gone) || told != checkEvery {
		t.Errorf("a rendering that was cancelled: %v after %d lines", err, told)
	}
	if err := Render(context.Background(), src, full{}, Bundle, nil); !errors.Is(err, errFull) {
		t.Errorf("a sink that fails: %v", err)
	}
}

var errFull = errors.New("full")

type full struct{}

func (full) Append(string, []byte) error { return errFull }
