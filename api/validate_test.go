package api_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"hubcli/api"
	"hubcli/hub"
	"hubcli/internal/require"
)

// smallLimits make limits easy to reach.
var smallLimits = hub.Limits{MaxBodyChars: 10, MaxAttachmentChars: 8, MaxAttachments: 2}

// wantError checks code and named field; an empty code wants success.
func wantError(t *testing.T, err error, code hub.Code, field string) *hub.Error {
	t.Helper()
	if code == "" {
		if err != nil {
			t.Fatalf("refused: %v", err)
		}
		return nil
	}
	var e *hub.Error
	if !errors.As(err, &e) || e.Code != code {
		t.Fatalf("got %#v, want %s", err, code)
	}
	if got, _ := e.Detail["field"].(string); field != "" && got != field {
		t.Errorf("the error names %q, want %q", got, field)
	}
	return e
}

func metadata(body string) json.RawMessage { return json.RawMessage(body) }

func objects(depth int) json.RawMessage {
	return json.RawMessage(strings.Repeat(`{"a":`, depth-1) + "{}" + strings.Repeat("}", depth-1))
}

func TestValidatePost(t *testing.T) {
	for _, c := range []struct {
		name     string
		in       hub.PostInput
		operator bool
		code     hub.Code
		field    string
	}{
		{"a message", hub.PostInput{FromAgent: "a", Body: "x"}, false, "", ""},
		{"no sender", hub.PostInput{Body: "x"}, false, hub.CodeInvalid, "from_agent"},
		{"a sender with a slash", hub.PostInput{FromAgent: "a/b", Body: "x"}, false, hub.CodeInvalidAgentID, "from_agent"},
		{"a sender that is too long", hub.PostInput{FromAgent: hub.AgentID(strings.Repeat("a", 65)), Body: "x"}, false, hub.CodeInvalidAgentID, "from_agent"},
		{"a reserved sender", hub.PostInput{FromAgent: "system", Body: "x"}, false, hub.CodeReservedAgent, ""},
		{"the operator without proof", hub.PostInput{FromAgent: "operator", Body: "x"}, false, hub.CodeReservedAgent, ""},
		{"the operator in capitals", hub.PostInput{FromAgent: "Operator", Body: "x"}, false, hub.CodeReservedAgent, ""},
		{"the operator", hub.PostInput{FromAgent: "operator", Body: "x"}, true, "", ""},
		{"the operator, not named", hub.PostInput{Body: "x"}, true, "", ""},
		{"the system by the operator", hub.PostInput{FromAgent: "system", Body: "x"}, true, hub.CodeReservedAgent, ""},
		{"a reserved recipient", hub.PostInput{FromAgent: "a", ToAgent: "operator", Body: "x"}, false, "", ""},
		{"a bad recipient", hub.PostInput{FromAgent: "a", ToAgent: "a b", Body: "x"}, false, hub.CodeInvalidAgentID, "to_agent"},
		{"an unknown kind", hub.PostInput{FromAgent: "a", Kind: "shout", Body: "x"}, false, hub.CodeUnknownKind, "kind"},
		{"no body", hub.PostInput{FromAgent: "a"}, false, hub.CodeInvalid, "body"},
		{"an attachment alone", hub.PostInput{FromAgent: "a", Attachments: []hub.Attachment{{Type: "json", Content: metadata("1")}}}, false, "", ""},
		{"a body at the limit, in characters", hub.PostInput{FromAgent: "a", Body: strings.Repeat("é", 10)}, false, "", ""},
		{"a body beyond the limit", hub.PostInput{FromAgent: "a", Body: strings.Repeat("é", 11)}, false, hub.CodeBodyTooLarge, "body"},
		{"a channel name that is too long", hub.PostInput{FromAgent: "a", Channel: hub.ChannelName(strings.Repeat("c", 201)), Body: "x"}, false, hub.CodeInvalid, "channel"},
		{"a channel name of 200 characters", hub.PostInput{FromAgent: "a", Channel: hub.ChannelName(strings.Repeat("é", 200)), Body: "x"}, false, "", ""},
		{"a channel name with a newline", hub.PostInput{FromAgent: "a", Channel: "a\nb", Body: "x"}, false, hub.CodeInvalid, "channel"},
		{"a thread id that is too long", hub.PostInput{FromAgent: "a", ThreadID: hub.ThreadID(strings.Repeat("c", 201)), Body: "x"}, false, hub.CodeInvalid, "thread_id"},
		{"a negative reply_to", hub.PostInput{FromAgent: "a", ReplyTo: -1, Body: "x"}, false, hub.CodeInvalid, "reply_to"},
		{"a reply_to beyond all ids", hub.PostInput{FromAgent: "a", ReplyTo: 1 << 53, Body: "x"}, false, hub.CodeInvalid, "reply_to"},
		{"a negative parent", hub.PostInput{FromAgent: "a", ParentTaskID: -1, Body: "x"}, false, hub.CodeInvalid, "parent_task_id"},
		{"a result without reply_to", hub.PostInput{FromAgent: "a", Kind: "Task_Result", Body: "x"}, false, hub.CodeReplyRequired, "reply_to"},
		{"a result", hub.PostInput{FromAgent: "a", Kind: "task_result", ReplyTo: 1, Body: "x"}, false, "", ""},
		{"metadata that is a list", hub.PostInput{FromAgent: "a", Metadata: metadata("[]"), Body: "x"}, false, hub.CodeInvalid, "metadata"},
		{"metadata at the greatest depth", hub.PostInput{FromAgent: "a", Metadata: objects(32), Body: "x"}, false, "", ""},
		{"metadata too deep", hub.PostInput{FromAgent: "a", Metadata: objects(33), Body: "x"}, false, hub.CodeMetadataTooDeep, "metadata"},
		{"metadata too large", hub.PostInput{FromAgent: "a", Metadata: metadata(`{"a":"` + strings.Repeat("x", 64<<10) + `"}`), Body: "x"}, false, hub.CodeMetadataTooLarge, "metadata"},
		{"metadata with brackets in strings", hub.PostInput{FromAgent: "a", Metadata: metadata(`{"a":"` + strings.Repeat("[\\\"{", 40) + `"}`), Body: "x"}, false, "", ""},
		{"a wake notice", hub.PostInput{FromAgent: "a", Metadata: metadata(`{"a":1,"wake":{}}`), Body: "x"}, false, hub.CodeReservedMetadata, "metadata.wake"},
		{"a completion", hub.PostInput{FromAgent: "a", Metadata: metadata(`{"task_completed":1}`), Body: "x"}, false, hub.CodeReservedMetadata, "metadata.task_completed"},
		{"wake as a value", hub.PostInput{FromAgent: "a", Metadata: metadata(`{"a":"wake","b":["wake"]}`), Body: "x"}, false, "", ""},
		{"wake in a nested object", hub.PostInput{FromAgent: "a", Metadata: metadata(`{"a":{"wake":1}}`), Body: "x"}, false, "", ""},
		{"too many attachments", hub.PostInput{FromAgent: "a", Attachments: make([]hub.Attachment, 3)}, false, hub.CodeTooManyAttachments, "attachments"},
		{"a large second attachment", hub.PostInput{FromAgent: "a", Attachments: []hub.Attachment{
			{Type: "text", Content: metadata(`"123456"`)}, {Type: "json", Content: metadata(`[1,2,3,45]`)},
		}}, false, hub.CodeAttachmentTooLarge, "attachments[1].content"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := wantError(t, api.ValidatePost(&c.in, smallLimits, c.operator), c.code, c.field)
			tellsSize := []hub.Code{
				hub.CodeBodyTooLarge, hub.CodeTooManyAttachments, hub.CodeAttachmentTooLarge,
				hub.CodeMetadataTooLarge, hub.CodeMetadataTooDeep,
			}
			if slices.Contains(tellsSize, c.code) {
				limit, _ := e.Detail["limit"].(int)
				size, _ := e.Detail["size"].(int)
				if limit == 0 || size <= limit {
					t.Errorf("limit and size are %v and %v", e.Detail["limit"], e.Detail["size"])
				}
			}
		})
	}
}

func TestValidatePostFillsIn(t *testing.T) {
	public := hub.PostInput{FromAgent: "a", Kind: "TASK", Body: "x"}
	direct := hub.PostInput{FromAgent: "a", ToAgent: "b", Body: "x"}
	labeled := hub.PostInput{FromAgent: "a", ToAgent: "b", Channel: "side", Body: "x"}
	operator := hub.PostInput{Body: "x"}
	for _, in := range []*hub.PostInput{&public, &direct, &labeled, &operator} {
		require.NoError(t, api.ValidatePost(in, hub.DefaultLimits(), in == &operator))
	}
	if public.Channel != hub.DefaultChannel || public.Kind != hub.KindTask {
		t.Errorf("public: %+v", public)
	}
	if direct.Channel != hub.DirectChannel || direct.Kind != hub.KindChat {
		t.Errorf("direct: %+v", direct)
	}
	if labeled.Channel != "side" {
		t.Errorf("labeled: %+v", labeled)
	}
	if operator.FromAgent != hub.AgentOperator {
		t.Errorf("operator: %+v", operator)
	}
}

func TestValidateAttachment(t *testing.T) {
	for _, c := range []struct {
		name  string
		in    hub.Attachment
		kept  *hub.Attachment // nil: as it was
		field string          // of the refusal
	}{
		{"text", hub.Attachment{Type: "text", Content: metadata(`"x"`)}, nil, ""},
		{"text without content", hub.Attachment{Type: "text"}, nil, "content"},
		{"text that is a number", hub.Attachment{Type: "text", Content: metadata(`1`)}, nil, "content"},
		{"json of any kind", hub.Attachment{Type: "json", Content: metadata(`false`)}, nil, ""},
		{"json without content", hub.Attachment{Type: "json"}, nil, "content"},
		{"code", hub.Attachment{Type: "code", Content: metadata(`"x"`), Language: "go"}, nil, ""},
		{"code that is an object", hub.Attachment{Type: "code", Content: metadata(`{}`)}, nil, "content"},
		{"code in a language that is too long", hub.Attachment{Type: "code", Content: metadata(`"x"`), Language: strings.Repeat("x", 65)}, nil, "language"},
		{"a file", hub.Attachment{Type: "file_ref", Path: "a/b.go", Description: "x\ny", StartLine: 3, EndLine: 3}, nil, ""},
		{"a file without a path", hub.Attachment{Type: "file_ref"}, nil, "path"},
		{"a path with NUL", hub.Attachment{Type: "file_ref", Path: "a\x00b"}, nil, "path"},
		{"a path that is too long", hub.Attachment{Type: "file_ref", Path: strings.Repeat("p", 1025)}, nil, "path"},
		{"lines backwards", hub.Attachment{Type: "file_ref", Path: "a", StartLine: 3, EndLine: 2}, nil, "end_line"},
		{"a negative line", hub.Attachment{Type: "file_ref", Path: "a", StartLine: -3}, nil, "start_line"},
		{"a long description", hub.Attachment{Type: "file_ref", Path: "a", Description: strings.Repeat("x", 4097)}, nil, "description"},
		{"a diff", hub.Attachment{Type: "diff_ref", Path: "a", Base: "main", Head: "topic"}, nil, ""},
		{"no type", hub.Attachment{Path: "a"}, nil, "type"},
		{"an unknown type", hub.Attachment{Type: "image", Path: "a"}, nil, "type"},
		{"a type in capitals", hub.Attachment{Type: "TEXT", Content: metadata(`"x"`)}, nil, "type"},
		{"text with members of other types", hub.Attachment{Type: "text", Content: metadata(`"x"`), Path: "p", StartLine: 1, Language: "go"}, &hub.Attachment{Type: "text", Content: metadata(`"x"`)}, ""},
		{"a file with members of other types", hub.Attachment{Type: "file_ref", Path: "p", Content: metadata(`"x"`), Language: "go"}, &hub.Attachment{Type: "file_ref", Path: "p"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := hub.PostInput{FromAgent: "a", Attachments: []hub.Attachment{c.in}}
			err := api.ValidatePost(&in, hub.DefaultLimits(), false)
			if c.field != "" {
				wantError(t, err, hub.CodeInvalid, "attachments[0]."+c.field)
				return
			}
			require.NoError(t, err)
			want := c.in
			if c.kept != nil {
				want = *c.kept
			}
			if !reflect.DeepEqual(in.Attachments[0], want) {
				t.Errorf("got %+v, want %+v", in.Attachments[0], want)
			}
		})
	}
}

// TestAttachmentLimitIgnoresEscapes: the limit counts characters, not how a
// client escaped them.
func TestAttachmentLimitIgnoresEscapes(t *testing.T) {
	body := `{"from_agent":"a","attachments":[{"type":"text","content": "\u00e9\u00e9\ud83d\ude00\u0041\u0042\u0043"}]}`
	var in hub.PostInput
	require.NoError(t, api.Decode([]byte(body), &in))
	wantError(t, api.ValidatePost(&in, smallLimits, false), "", "") // 6 characters and 2 quotes
}

func TestValidateOthers(t *testing.T) {
	manyWords := make([]string, 65)
	manyTasks := make([]hub.TaskID, 101)
	for i := range manyTasks {
		manyTasks[i] = 1
	}
	register := func(in hub.RegisterInput) error { return api.ValidateRegister(&in) }
	channel := func(in hub.ChannelInput) error { return api.ValidateChannel(&in, false) }
	claim := func(in hub.ClaimInput) error { return api.ValidateClaim(&in) }
	hold := func(in hub.ClaimHoldInput) error { return api.ValidateClaimHold(&in) }
	lock := func(in hub.LockInput) error { return api.ValidateLock(&in) }
	lockHold := func(in hub.LockHoldInput) error { return api.ValidateLockHold(&in) }
	update := func(in hub.TaskUpdateInput) error { return api.ValidateTaskUpdate(&in, false) }
	complete := func(in hub.CompleteInput) error { return api.ValidateComplete(&in, smallLimits, false) }
	shutdown := func(in hub.ShutdownInput) error { return api.ValidateShutdown(&in) }
	for _, c := range []struct {
		name  string
		err   error
		code  hub.Code
		field string
	}{
		{"register", register(hub.RegisterInput{AgentID: "a", DisplayName: "A", Capabilities: []string{"go"}, Metadata: metadata("{}")}), "", ""},
		{"register a watcher", register(hub.RegisterInput{AgentID: "a.watch"}), "", ""},
		{"register without an id", register(hub.RegisterInput{}), hub.CodeInvalid, "agent_id"},
		{"register hub", register(hub.RegisterInput{AgentID: "hub"}), hub.CodeReservedAgent, ""},
		{"register Hub", register(hub.RegisterInput{AgentID: "Hub"}), hub.CodeReservedAgent, ""},
		{"register OPERATOR", register(hub.RegisterInput{AgentID: "OPERATOR"}), hub.CodeReservedAgent, ""},
		{"register with a long name", register(hub.RegisterInput{AgentID: "a", DisplayName: strings.Repeat("n", 65)}), hub.CodeInvalid, "display_name"},
		{"register with many capabilities", register(hub.RegisterInput{AgentID: "a", Capabilities: manyWords}), hub.CodeInvalid, "capabilities"},
		{"register with an empty capability", register(hub.RegisterInput{AgentID: "a", Capabilities: []string{""}}), hub.CodeInvalid, "capabilities"},
		{"register with deep metadata", register(hub.RegisterInput{AgentID: "a", Metadata: objects(33)}), hub.CodeMetadataTooDeep, "metadata"},
		{"resume", api.ValidateResume(&hub.ResumeInput{PriorSessionID: "s", ResumeKey: "k"}), "", ""},
		{"resume nothing", api.ValidateResume(&hub.ResumeInput{ResumeKey: "k"}), hub.CodeInvalid, "prior_session_id"},
		{"resume without a key", api.ValidateResume(&hub.ResumeInput{PriorSessionID: "s"}), hub.CodeInvalid, "resume_key"},
		{"rename", api.ValidateRename(&hub.RenameInput{DisplayName: "n"}), "", ""},
		{"rename to nothing", api.ValidateRename(&hub.RenameInput{}), hub.CodeInvalid, "display_name"},
		{"rename to a long name", api.ValidateRename(&hub.RenameInput{DisplayName: strings.Repeat("n", 65)}), hub.CodeInvalid, "display_name"},
		{"channel", channel(hub.ChannelInput{Name: "c", CreatedBy: "a"}), "", ""},
		{"channel without a name", channel(hub.ChannelInput{}), hub.CodeInvalid, "name"},
		{"channel of a room", channel(hub.ChannelInput{Name: "room-1"}), hub.CodeReservedName, "name"},
		{"channel that begins like a room's", channel(hub.ChannelInput{Name: "roomy"}), "", ""},
		{"channel of the system", channel(hub.ChannelInput{Name: "c", CreatedBy: "system"}), hub.CodeReservedAgent, ""},
		{"claim", claim(hub.ClaimInput{OwnerAgentID: "a", ClaimKey: "k"}), "", ""},
		{"claim of a task", claim(hub.ClaimInput{OwnerAgentID: "a", TaskMessageID: 7}), "", ""},
		{"claim of nothing", claim(hub.ClaimInput{OwnerAgentID: "a"}), hub.CodeInvalid, "claim_key"},
		{"claim of a negative task", claim(hub.ClaimInput{OwnerAgentID: "a", TaskMessageID: -7}), hub.CodeInvalid, "task_message_id"},
		{"claim for a day", claim(hub.ClaimInput{OwnerAgentID: "a", ClaimKey: "k", TTLSec: 86_400}), "", ""},
		{"claim for more than a day", claim(hub.ClaimInput{OwnerAgentID: "a", ClaimKey: "k", TTLSec: 86_401}), hub.CodeInvalid, "ttl_sec"},
		{"claim with a negative ttl", claim(hub.ClaimInput{OwnerAgentID: "a", ClaimKey: "k", TTLSec: -1}), hub.CodeInvalid, "ttl_sec"},
		{"claim with the longest wait", claim(hub.ClaimInput{OwnerAgentID: "a", ClaimKey: "k", WaitSec: 60}), "", ""},
		{"claim with a longer wait", claim(hub.ClaimInput{OwnerAgentID: "a", ClaimKey: "k", WaitSec: 60.1}), hub.CodeInvalid, "wait_sec"},
		{"claim with a negative wait", claim(hub.ClaimInput{OwnerAgentID: "a", ClaimKey: "k", WaitSec: -0.1}), hub.CodeInvalid, "wait_sec"},
		{"claim by operator", claim(hub.ClaimInput{OwnerAgentID: "operator", ClaimKey: "k"}), hub.CodeReservedAgent, ""},
		{"hold by agent_id", hold(hub.ClaimHoldInput{AgentID: "a", ClaimKey: "k"}), "", ""},
		{"hold by two agents", hold(hub.ClaimHoldInput{AgentID: "a", OwnerAgentID: "b", ClaimKey: "k"}), hub.CodeInvalid, "agent_id"},
		{"hold by one agent twice", hold(hub.ClaimHoldInput{AgentID: "a", OwnerAgentID: "a", ClaimKey: "k"}), "", ""},
		{"hold without an agent", hold(hub.ClaimHoldInput{ClaimKey: "k"}), hub.CodeInvalid, "owner_agent_id"},
		{"hold of nothing", hold(hub.ClaimHoldInput{AgentID: "a"}), hub.CodeInvalid, "claim_key"},
		{"hold with a negative fence", hold(hub.ClaimHoldInput{AgentID: "a", ClaimKey: "k", Fence: -1}), hub.CodeInvalid, "fence"},
		{"lock", lock(hub.LockInput{AgentID: "a", FilePath: "/x/é"}), "", ""},
		{"lock of nothing", lock(hub.LockInput{AgentID: "a"}), hub.CodeInvalid, "file_path"},
		{"lock of a long path", lock(hub.LockInput{AgentID: "a", FilePath: strings.Repeat("p", 1025)}), hub.CodeInvalid, "file_path"},
		{"lock without an agent", lock(hub.LockInput{FilePath: "p"}), hub.CodeInvalid, "agent_id"},
		{"lock hold", lockHold(hub.LockHoldInput{AgentID: "a", FilePath: "p", Fence: 3}), "", ""},
		{"lock hold for too long", lockHold(hub.LockHoldInput{AgentID: "a", FilePath: "p", TTLSec: 1 << 40}), hub.CodeInvalid, "ttl_sec"},
		{"update of nothing", update(hub.TaskUpdateInput{AgentID: "a"}), hub.CodeInvalid, "status"},
		{"update of the status", update(hub.TaskUpdateInput{Status: ptr(hub.TaskWorking)}), "", ""},
		{"update to another name of a status", update(hub.TaskUpdateInput{Status: ptr(hub.TaskStatus("in_progress"))}), "", ""},
		{"end with release", update(hub.TaskUpdateInput{Status: ptr(hub.TaskStatus("completed")), Release: true}), "", ""},
		{"release without an end", update(hub.TaskUpdateInput{Status: ptr(hub.TaskWorking), Release: true}), hub.CodeInvalid, "release"},
		{"update to an unknown status", update(hub.TaskUpdateInput{Status: ptr(hub.TaskStatus("paused"))}), hub.CodeInvalid, "status"},
		{"update of the assignee", update(hub.TaskUpdateInput{Assignee: ptr(hub.AgentID(""))}), "", ""},
		{"update to a bad assignee", update(hub.TaskUpdateInput{Assignee: ptr(hub.AgentID("a b"))}), hub.CodeInvalidAgentID, "assignee"},
		{"update with a negative version", update(hub.TaskUpdateInput{Status: ptr(hub.TaskDone), ExpectedVersion: -1}), hub.CodeInvalid, "expected_version"},
		{"update to wait for too many tasks", update(hub.TaskUpdateInput{BlockedBy: &manyTasks}), hub.CodeInvalid, "blocked_by"},
		{"update to wait for nothing", update(hub.TaskUpdateInput{BlockedBy: &[]hub.TaskID{}}), "", ""},
		{"update to wait for id 0", update(hub.TaskUpdateInput{BlockedBy: &[]hub.TaskID{0}}), hub.CodeInvalid, "blocked_by"},
		{"complete", complete(hub.CompleteInput{}), "", ""},
		{"complete as system", complete(hub.CompleteInput{AgentID: "system"}), hub.CodeReservedAgent, ""},
		{"complete with a long note", complete(hub.CompleteInput{Note: strings.Repeat("n", 11)}), hub.CodeInvalid, "note"},
		{"shutdown", shutdown(hub.ShutdownInput{}), "", ""},
		{"shutdown at once", shutdown(hub.ShutdownInput{DelaySec: ptr(0.0)}), "", ""},
		{"shutdown in the past", shutdown(hub.ShutdownInput{DelaySec: ptr(-1.0)}), hub.CodeInvalid, "delay_sec"},
		{"shutdown tomorrow", shutdown(hub.ShutdownInput{DelaySec: ptr(86_400.0)}), hub.CodeInvalid, "delay_sec"},
	} {
		t.Run(c.name, func(t *testing.T) { wantError(t, c.err, c.code, c.field) })
	}
}

func TestValidateFillsIn(t *testing.T) {
	claim := hub.ClaimInput{OwnerAgentID: "a", TaskMessageID: 7}
	if err := api.ValidateClaim(&claim); err != nil || claim.ClaimKey != "task-7" || claim.TTLSec != hub.DefaultTTLSec {
		t.Errorf("claim: %+v, %v", claim, err)
	}
	hold := hub.ClaimHoldInput{AgentID: "a", ClaimKey: "k"}
	if err := api.ValidateClaimHold(&hold); err != nil || hold.OwnerAgentID != "a" || hold.TTLSec != hub.DefaultTTLSec {
		t.Errorf("hold: %+v, %v", hold, err)
	}
	var stop hub.ShutdownInput
	if err := api.ValidateShutdown(&stop); err != nil || stop.DelaySec == nil || *stop.DelaySec != 60 {
		t.Errorf("shutdown: %+v, %v", stop, err)
	}
}

// TestBodyCap: the largest message fits, even with the longest escapes.
func TestBodyCap(t *testing.T) {
	lim := hub.Limits{MaxBodyChars: 1000, MaxAttachmentChars: 500, MaxAttachments: 3}
	wide := func(n int) string { return strings.Repeat(`\ud83d\ude00`, n) }
	var b strings.Builder
	b.WriteString(`{"from_agent":"a","body":"` + wide(lim.MaxBodyChars) + `","metadata":{"m":"` + strings.Repeat(`\u0041`, 60_000) + `"},"attachments":[`)
	for i := range lim.MaxAttachments {
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString(`{"type":"text","content":"` + wide(lim.MaxAttachmentChars-2) + `"}`)
	}
	b.WriteString(`]}`)
	var in hub.PostInput
	require.NoError(t, api.Decode([]byte(b.String()), &in))
	require.NoError(t, api.ValidatePost(&in, lim, false))
	if int64(b.Len()) > api.BodyCap(lim) {
		t.Errorf("a message of %d bytes does not fit into %d", b.Len(), api.BodyCap(lim))
	}
}

// TestWatchesWriteNothing: a name that ends as those of watches do writes no message and gets none.
func TestWatchesWriteNothing(t *testing.T) {
	for _, in := range []hub.PostInput{{FromAgent: "night.watch", Body: "x"}, {FromAgent: "a", ToAgent: "night.watch", Body: "x"}} {
		var e *hub.Error
		if err := api.ValidatePost(&in, smallLimits, false); !errors.As(err, &e) || e.Code != hub.CodeReservedAgent || !strings.Contains(e.Fix, "such as night") {
			t.Errorf("%+v: %v", in, err)
		}
	}
}
