package capsules_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"hubcli/actors/capsules"
	"hubcli/capsule"
	"hubcli/hub"
	"hubcli/internal/require"
)

var (
	scopes    = []capsule.Scope{capsule.ScopeKnowledge, capsule.ScopeComplete}
	privacies = []capsule.Privacy{capsule.ShareSafe, capsule.FullHistory}
)

// found says what an export of the shop has of each row of the table in docs/capsule.md. It
// looks for texts that only such things have.
func (s *shop) found(t *testing.T, req capsules.Request) map[string]string {
	t.Helper()
	entries, _ := s.export(t, req)
	var all strings.Builder
	for name, text := range entries {
		all.WriteString(name + "\n" + text + "\n")
	}
	has := func(text string) bool {
		return strings.Contains(all.String(), text) || strings.Contains(all.String(), strings.ReplaceAll(text, canary, "[gone]"))
	}
	yes := func(texts ...string) string {
		missing := slices.DeleteFunc(slices.Clone(texts), has)
		switch {
		case len(missing) == len(texts):
			return "no"
		case len(missing) > 0:
			return fmt.Sprintf("all but %q", missing)
		case strings.Contains(all.String(), canary):
			return "yes"
		}
		return "yes, redacted"
	}
	binary := "those that were named"
	if has("\x00\x01\x02\xff") {
		binary = "yes"
	}
	outcome := yes(`"outcome":"Done canary"`)
	switch {
	case outcome == "no" && has(`"result":`) && !has(`"outcome"`):
		outcome = "as a message"
	case outcome != "no":
		outcome = "the text of the result" + strings.TrimPrefix(outcome, "yes")
	}
	direct := yes("Between us: canary")
	if direct == "no" && yes("Secret canary") != "no" {
		direct = "the tasks"
	}
	return map[string]string{
		"the project, its rooms and the names of the agents": yes("The canary shop", "Front canary", "Topic canary", "Reason canary", "Agent canary bob"),
		"decisions":                                yes("Use canary", "Because canary of #r1"),
		"artifacts that are texts":                 yes("Read canary, see r_", "A second canary", "Guide canary"),
		"artifacts that are binary":                binary,
		"memories of the rooms and of the project": yes("Remember canary", "Remember another", "Shared canary"),
		"runs and tasks":                           yes("Run canary", `"title":"Do canary"`, `"title":"I wait"`),
		"what came out of tasks":                   outcome,
		"messages of the rooms":                    yes("Hello canary in room-#r1", "An answer to #m", "In the twin"),
		"direct messages of the rooms, and the tasks that they opened":   direct,
		"sessions, tokens, keys, invites, seats, claims, locks, folders": yes(s.secrets(t)...),
	}
}

// TestTableOfScopes compares the table of the document with what comes out.
func TestTableOfScopes(t *testing.T) {
	page, err := os.ReadFile("../../docs/capsule.md")
	require.NoError(t, err)
	table := map[string][]string{}
	for line := range strings.Lines(string(page)) {
		if cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|"); len(cells) == 5 {
			for i := range cells {
				cells[i] = strings.TrimSpace(cells[i])
			}
			table[cells[0]] = cells[1:]
		}
	}
	s, column := newShop(t), 0
	for _, scope := range scopes {
		for _, privacy := range privacies {
			if got, want := table[""][column], fmt.Sprintf("%s, %s", scope, privacy); got != want {
				t.Fatalf("column %d is %q, want %q", column, got, want)
			}
			found := s.found(t, s.request(scope, privacy))
			for row, got := range found {
				if table[row] == nil || table[row][column] != got {
					t.Errorf("%s, %s, %s: the capsule has %q, the table says %q", row, scope, privacy, got, table[row])
				}
			}
			if len(found) != len(table)-2 { // the heading and the line below it
				t.Errorf("the table has %d rows, and %d are compared", len(table)-2, len(found))
			}
			column++
		}
	}
}

// secrets are texts that belong to no capsule: each has been given to an agent or stands in
// a row beside the project.
func (s *shop) secrets(t *testing.T) []string {
	t.Helper()
	h := s.Hub.Hub
	session, err := h.Register(s.operator, hub.RegisterInput{AgentID: "spy", DisplayName: "x", Capabilities: []string{"capability-of-spy"}})
	require.NoError(t, err)
	invite, err := h.CreateInvite(s.operator, hub.InviteInput{Project: s.project.Slug, Room: string(s.rooms[0].RoomID), Role: "role-of-invite", TTLSec: 60, MaxUses: 1})
	require.NoError(t, err)
	_, err = h.Claim(s.operator, hub.ClaimInput{ClaimKey: "claim-of-shop", OwnerAgentID: "bob", TTLSec: 60})
	require.NoError(t, err)
	_, err = h.Lock(s.operator, hub.LockInput{FilePath: "/lock-of-shop", AgentID: "bob", TTLSec: 60})
	require.NoError(t, err)
	return []string{
		string(session.Row.SessionID), session.Row.ResumeKey, "capability-of-spy", "session_id", "resume_key", invite.Row.Code, "role-of-invite",
		"claim-of-shop", "lock-of-shop", s.Store.OperatorToken(), s.Dir, "seat_id", "bindings", "fence", "elsewhere",
	}
}

// Every text of every kind passes the redaction.
func TestEveryTextIsRedacted(t *testing.T) {
	s := newShop(t)
	for _, scope := range []capsule.Scope{capsule.ScopeKnowledge, capsule.ScopeComplete, capsule.ScopeSelectedRooms} {
		plain, _ := s.export(t, s.request(scope, capsule.FullHistory))
		for _, name := range []string{"project.json", "rooms.ndjson", "agents.ndjson", "decisions.ndjson", "artifacts.ndjson", "memories.ndjson", "runs.ndjson", "tasks.ndjson", "manifest.json"} {
			if !strings.Contains(plain[name], canary) && name != "runs.ndjson" {
				t.Errorf("%s of %s has no canary, so this test proves nothing of it", name, scope)
			}
		}
		safe, result := s.export(t, s.request(scope, capsule.ShareSafe))
		for name, text := range safe {
			if at := strings.Index(text, canary); at >= 0 {
				t.Errorf("%s of %s says %.80q", name, scope, text[max(0, at-40):])
			}
		}
		if result.Manifest.Redaction.Replaced["bird"] == 0 {
			t.Errorf("the manifest does not count what was replaced: %+v", result.Manifest.Redaction)
		}
	}
}

// Only the operator gets direct messages, and only in full_history.
func TestDirectMessagesNeedTheOperator(t *testing.T) {
	s := newShop(t)
	req := s.request(capsule.ScopeComplete, capsule.FullHistory)
	entries, result := s.export(t, req)
	if result.Manifest.Counts.Direct != 2 || !strings.Contains(entries["messages/r1.ndjson"], "Between us") {
		t.Errorf("the operator gets %+v", result.Manifest.Counts)
	}
	req.Operator = false
	for _, privacy := range privacies {
		req.Privacy = privacy
		entries, result = s.export(t, req)
		left := result.Manifest.Redaction.LeftOut
		if result.Manifest.Counts.Direct != 0 || left["direct_messages"] != 2 || left["direct_tasks"] != 1 {
			t.Errorf("%s: counts %+v, left out %v", privacy, result.Manifest.Counts, left)
		}
		for name, text := range entries {
			for _, secret := range []string{"Between us", "Secret", `"cy"`, `"direct":`} {
				if strings.Contains(text, secret) && name != "manifest.json" {
					t.Errorf("%s: %s has %q", privacy, name, secret)
				}
			}
		}
	}
}

// Binary artifacts are left out of share_safe unless they are named.
func TestBinaryArtifactsAreNamed(t *testing.T) {
	s := newShop(t)
	req := s.request(capsule.ScopeKnowledge, capsule.ShareSafe)
	entries, result := s.export(t, req)
	all := rows[capsule.Artifact](t, entries, "artifacts.ndjson")
	if a := all[2]; a.LeftOut != "binary" || a.SHA256 != "" || a.Bytes != 0 || result.Manifest.Counts.Blobs != 2 {
		t.Errorf("artifact %+v, counts %+v", a, result.Manifest.Counts)
	}
	req.Binary = []hub.ArtifactID{s.binary}
	entries, result = s.export(t, req)
	all = rows[capsule.Artifact](t, entries, "artifacts.ndjson")
	if a := all[2]; a.LeftOut != "" || entries["blobs/sha256/"+a.SHA256] != "\x00\x01\x02\xff" || result.Manifest.Redaction.LeftOut["binary_artifacts"] != 0 {
		t.Errorf("artifact %+v, left out %v", a, result.Manifest.Redaction.LeftOut)
	}
}

// A capsule shows one instant: what comes later is not in it, and makes it outdated.
func TestOneInstant(t *testing.T) {
	s := newShop(t)
	req := s.request(capsule.ScopeComplete, capsule.FullHistory)
	view, err := s.Store.Snapshot()
	require.NoError(t, err)
	defer view.Close()
	before, result := s.export(t, req)
	if changed := s.changed(t, req, &result); changed {
		t.Error("nothing happened, and the capsule is outdated")
	}
	s.post(t, hub.PostInput{FromAgent: "eve", Body: "elsewhere"})
	if s.changed(t, req, &result) {
		t.Error("a message elsewhere makes the capsule outdated")
	}
	changes := []func(){
		func() { s.post(t, hub.PostInput{FromAgent: "bob", Channel: s.rooms[2].Channel, Body: "later"}) },
		func() {
			s.post(t, hub.PostInput{FromAgent: "bob", ToAgent: "cy", Channel: s.rooms[2].Channel, Body: "later"})
		},
		func() {
			_, err := s.Hub.Hub.Remember(s.operator, hub.MemoryInput{RoomID: s.rooms[2].RoomID, Text: "later", Scope: hub.ScopeRoom})
			require.NoError(t, err)
		},
		func() {
			working := hub.TaskWorking
			_, err := s.Hub.Hub.UpdateTask(s.operator, s.direct, hub.TaskUpdateInput{AgentID: "cy", Status: &working})
			require.NoError(t, err)
		},
		func() {
			_, err := s.Hub.Hub.RenameRoom(s.operator, s.rooms[2].RoomID, hub.RenamedInput{Name: "Later"})
			require.NoError(t, err)
		},
		func() {
			_, err := s.Hub.Hub.ArchiveProject(s.operator, s.project.Slug, hub.ArchiveInput{Archived: true})
			require.NoError(t, err)
		},
	}
	for i, change := range changes {
		_, result := s.export(t, req)
		if change(); !s.changed(t, req, &result) {
			t.Errorf("change %d does not make the capsule outdated", i)
		}
	}
	again, _ := s.exportFrom(t, view, req)
	for name, text := range before {
		if name != "manifest.json" && again[name] != text {
			t.Errorf("%s shows what came later", name)
		}
	}
}

// An export ends with its caller, and refuses what it cannot write.
func TestExportEnds(t *testing.T) {
	s := newShop(t)
	view, err := s.Store.Snapshot()
	require.NoError(t, err)
	defer view.Close()
	export := func(ctx context.Context, req capsules.Request, red capsules.Redactor) error {
		_, err := capsules.Export(ctx, view, io.Discard, req, capsules.Identity{}, red, nil)
		return err
	}
	req := s.request(capsule.ScopeComplete, capsule.FullHistory)
	gone, cancel := context.WithCancelCause(t.Context())
	left := errors.New("the caller has left")
	cancel(left)
	if err := export(gone, req, nil); !errors.Is(err, left) {
		t.Errorf("after the caller has left: %v", err)
	}
	unknown, room, safe := req, s.request(capsule.ScopeSelectedRooms, capsule.FullHistory), req
	unknown.Project, room.Rooms, safe.Privacy = "p_zz", []hub.RoomID{"r_zz"}, capsule.ShareSafe
	for code, err := range map[hub.Code]error{
		hub.CodeProjectNotFound: export(t.Context(), unknown, nil),
		hub.CodeRoomNotFound:    export(t.Context(), room, nil),
		hub.CodeInternal:        export(t.Context(), safe, nil), // without a redaction
	} {
		if !errors.Is(err, &hub.Error{Code: code}) {
			t.Errorf("error %v, want %s", err, code)
		}
	}
}
