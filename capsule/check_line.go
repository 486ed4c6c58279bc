package capsule

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"hubcli/hub"
	"hubcli/internal/strictjson"
)

// The checks of single lines. They are those of requests to the hub, but for texts: their
// references may take more space in a capsule, so a text may be twice as long as in the
// hub, and metadata, where a number may become a string, four times.
const (
	textGrowth     = 2
	metadataGrowth = 4
)

// Limits that package api has for requests.
const (
	maxLanguageChars    = 64
	maxDescriptionChars = 4096
	maxRevisionChars    = 200
	maxContentTypeChars = 200
)

// faults collects the first fault of a line.
type faults struct{ err error }

func (f *faults) add(format string, args ...any) {
	if f.err == nil {
		f.err = fault(fmt.Sprintf(format, args...))
	}
}

// is refuses a value that is not allowed.
func (f *faults) is(allowed bool, member string) {
	if !allowed {
		f.add("the member %s has a value that is not allowed", member)
	}
}

// hub takes an error of a check of package hub.
func (f *faults) hub(err error) {
	if err != nil {
		f.add("%v", err)
	}
}

// text refuses a text that is too long. limit counts characters in the hub.
func (f *faults) text(member, text string, limit int) {
	limit *= textGrowth
	if len(text) > limit && utf8.RuneCountInString(text) > limit {
		f.add("%s is longer than %d characters", member, limit)
	}
}

// name is text for one that is not empty and has no control characters.
func (f *faults) name(member, name string, limit int) {
	f.hub(hub.CheckName(member, name, limit*textGrowth))
}

// given is name for what may be absent.
func (f *faults) given(member, name string, limit int) {
	if name != "" {
		f.name(member, name, limit)
	}
}

// thread refuses what is no id of a thread. Empty is absent.
func (f *faults) thread(id hub.ThreadID) {
	if id != "" {
		f.hub(hub.CheckThread("thread", id))
	}
}

// agent refuses what is no id of an agent. Empty is absent.
func (f *faults) agent(member string, id hub.AgentID) {
	if id != "" {
		f.hub(hub.CheckAgentID(member, id))
	}
}

// ref refuses what is no reference of this letter.
func (f *faults) ref(member string, r Ref, letter byte) {
	if _, ok := r.number(letter); !ok {
		f.add("the member %s is no reference such as %c1", member, letter)
	}
}

// optional is ref for one that may be absent.
func (f *faults) optional(member string, r Ref, letter byte) {
	if r != "" {
		f.ref(member, r, letter)
	}
}

// before refuses a number that is not from 1 to below of. 0 is absent.
func (f *faults) before(member string, n, of Number) {
	if n < 0 || n >= of {
		f.add("the member %s is not the number of an earlier line", member)
	}
}

// object refuses metadata that are no object, too long or too deep.
func (f *faults) object(raw json.RawMessage, depth int) {
	switch {
	case len(raw) == 0 || raw[0] != '{':
		f.add("metadata is no object")
	case len(raw) > metadataGrowth*hub.MaxMetadataBytes:
		f.add("metadata is longer than %d bytes", metadataGrowth*hub.MaxMetadataBytes)
	case strictjson.Depth(raw) > depth:
		f.add("metadata nests deeper than %d levels", depth)
	}
}

func (p *Project) check(*Limits) error {
	var f faults
	f.hub(hub.CheckSlug("slug", p.Slug))
	f.name("name", p.Name, hub.MaxNameChars)
	f.hub(hub.CheckVisible("name", p.Name))
	return f.err
}

func (r *Room) check(*Limits) error {
	var f faults
	f.ref("id", r.ID, 'r')
	f.hub(hub.CheckSlug("slug", r.Slug))
	f.name("name", r.Name, hub.MaxNameChars)
	f.hub(hub.CheckVisible("name", r.Name))
	f.text("topic", r.Topic, hub.MaxTopicChars)
	f.text("force_reason", r.ForceReason, hub.MaxReasonChars)
	f.agent("created_by", r.CreatedBy)
	f.is(slices.Contains(hub.LockPolicies(), r.Locks), "locks")
	f.is(r.Archived || !r.WithProject, "archived_with_project")
	if h := r.GuardHops; h != nil {
		f.is(*h == 0 || *h >= hub.MinGuardHops && *h <= hub.MaxGuardHops, "guard_hops")
	}
	return f.err
}

func (a *Agent) check(*Limits) error {
	var f faults
	f.hub(hub.CheckAgentID("id", a.ID))
	f.is(!a.ID.Reserved(), "id")
	f.given("display_name", a.DisplayName, hub.MaxDisplayNameChars)
	return f.err
}

func (d *Decision) check(*Limits) error {
	var f faults
	f.ref("id", d.ID, 'd')
	f.ref("room", d.Room, 'r')
	f.name("title", d.Title, hub.MaxTitleChars)
	f.text("note", d.Note, hub.MaxNoteChars)
	f.agent("by", d.By)
	f.object(d.Metadata, hub.MaxDecisionDepth)
	return f.err
}

func (a *Artifact) check(*Limits) error {
	var f faults
	f.ref("id", a.ID, 'a')
	f.ref("room", a.Room, 'r')
	f.name("title", a.Title, hub.MaxTitleChars)
	f.name("kind", a.Kind, hub.MaxNameChars)
	f.agent("by", a.By)
	f.is(a.Version > 0, "version")
	f.name("content_type", a.ContentType, maxContentTypeChars)
	f.given("left_out", a.LeftOut, hub.MaxNameChars)
	if a.LeftOut != "" {
		f.is(a.Bytes == 0, "bytes")
		f.is(a.SHA256 == "", "sha256")
	} else {
		f.is(a.Bytes >= 0 && a.Bytes <= hub.MaxArtifactBytes, "bytes")
		f.is(isHash(a.SHA256), "sha256")
	}
	return f.err
}

func (m *Memory) check(*Limits) error {
	var f faults
	f.ref("id", m.ID, 'k')
	f.optional("room", m.Room, 'r')
	f.is(m.Scope == hub.ScopeRoom && m.Room != "" || m.Scope == hub.ScopeProject && m.Room == "", "scope")
	f.given("key", m.Key, hub.MaxNameChars)
	f.text("text", m.Text, hub.MaxMemoryChars)
	f.agent("by", m.By)
	f.is(m.Text != "" || m.Replaces != "", "text")
	f.is(m.Text != "" || m.ReplacedAt != nil, "replaced_at")
	f.is(m.Key != "" || m.Replaces == "" && m.ReplacedAt == nil, "key")
	if m.Replaces != "" {
		id, _ := m.ID.number('k')
		earlier, ok := m.Replaces.number('k')
		f.is(ok && earlier < id, "replaces")
	}
	f.is(len(m.Tags) <= hub.MaxMemoryTags, "tags")
	for _, tag := range m.Tags {
		f.name("tags", tag, hub.MaxNameChars)
	}
	return f.err
}

func (r *Run) check(*Limits) error {
	var f faults
	f.ref("id", r.ID, 'u')
	f.ref("room", r.Room, 'r')
	f.name("title", r.Title, hub.MaxTitleChars)
	f.agent("created_by", r.CreatedBy)
	f.is(slices.Contains(hub.RunStatuses(), r.Status), "status")
	return f.err
}

func (t *Task) check(l *Limits) error {
	var f faults
	f.is(t.ID > 0 && t.ID <= Number(l.Messages), "id")
	f.ref("room", t.Room, 'r')
	f.before("parent", t.Parent, t.ID)
	f.optional("run", t.Run, 'u')
	f.thread(t.Thread)
	f.text("title", t.Title, hub.MaxTitleChars)
	f.is(slices.Contains(hub.TaskStatuses(), t.Status), "status")
	f.agent("assignee", t.Assignee)
	f.is(t.CreatedBy != "", "created_by")
	f.agent("created_by", t.CreatedBy)
	f.agent("asked", t.Asked)
	f.is(t.Direct || t.Asked == "", "asked")
	f.is(t.Version > 0, "version")
	f.is(t.Result == 0 || t.Result > t.ID, "result")
	f.text("outcome", t.Outcome, l.Texts.MaxBodyChars)
	f.is(len(t.BlockedBy) <= hub.MaxBlockedBy, "blocked_by")
	for i, n := range t.BlockedBy {
		f.is(n > 0 && n != t.ID && n <= Number(l.Messages) && (i == 0 || n > t.BlockedBy[i-1]), "blocked_by")
	}
	return f.err
}

func (m *Message) check(l *Limits) error {
	var f faults
	f.is(m.ID > 0 && m.ID <= Number(l.Messages), "id")
	f.is(m.From != "", "from")
	f.agent("from", m.From)
	f.agent("to", m.To)
	f.is(m.To != "" || m.Channel == "", "channel")
	f.given("channel", string(m.Channel), hub.MaxNameChars)
	kind, err := hub.ParseKind(string(m.Kind))
	f.is(err == nil && kind == m.Kind, "kind")
	f.text("body", m.Body, l.Texts.MaxBodyChars)
	f.before("reply_to", m.ReplyTo, m.ID)
	f.before("parent_task", m.ParentTask, m.ID)
	f.thread(m.Thread)
	if len(m.Metadata) > 0 {
		f.object(m.Metadata, hub.MaxMetadataDepth)
	}
	switch m.Authority {
	case hub.AuthorityAgent, hub.AuthorityOperator, hub.AuthoritySystem:
	default:
		f.is(false, "authority")
	}
	switch m.Assurance {
	case hub.AssuranceAsserted, hub.AssuranceSession, hub.AssuranceOperator, hub.AssuranceRelay:
	default:
		f.is(false, "assurance")
	}
	f.is(len(m.Attachments) <= l.Texts.MaxAttachments, "attachments")
	for i := range m.Attachments {
		f.attachment(&m.Attachments[i], l.Texts.MaxAttachmentChars)
	}
	return f.err
}

// attachment refuses one that the hub would not take, or that has members of another type.
func (f *faults) attachment(a *hub.Attachment, limit int) {
	content := string(a.Content)
	switch a.Type {
	case hub.AttachmentText, hub.AttachmentCode:
		f.is(strings.HasPrefix(content, `"`), "content")
	case hub.AttachmentJSON:
		f.is(content != "" && content != "null", "content")
	case hub.AttachmentFileRef, hub.AttachmentDiffRef:
		f.is(content == "", "content")
		f.name("path", a.Path, hub.MaxFilePathChars)
	default:
		f.is(false, "type")
	}
	f.text("content", content, limit)
	f.is(a.Language == "" || a.Type == hub.AttachmentCode, "language")
	f.given("language", a.Language, maxLanguageChars)
	refers := a.Type == hub.AttachmentFileRef || a.Type == hub.AttachmentDiffRef
	f.is(refers || a.Path == "" && a.Description == "" && a.StartLine == 0 && a.EndLine == 0 && a.Base == "" && a.Head == "", "type")
	f.text("description", a.Description, maxDescriptionChars)
	f.given("base", a.Base, maxRevisionChars)
	f.given("head", a.Head, maxRevisionChars)
	f.is(a.StartLine >= 0 && a.EndLine >= 0 && a.EndLine <= math.MaxInt32 && a.StartLine <= math.MaxInt32, "start_line")
	f.is(a.EndLine == 0 || a.EndLine >= a.StartLine, "end_line")
}
