package hook

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf16"

	"hubcli/hub"
	"hubcli/internal/identity"
)

// MaxPayload is the largest part of a payload that is read, in bytes. A payload
// may hold other fields than those below, such as a whole answer of a model.
const MaxPayload = 1 << 20

// Limits of the values read from a payload.
const (
	maxPathBytes   = 4096
	maxFolders     = 8
	maxBackground  = 64
	maxEdited      = 64
	maxSessionText = 512
)

// Payload holds the fields of a harness's input on stdin that hooks need,
// whatever the harness calls them. A field that is absent or of a wrong type is
// empty.
type Payload struct {
	// Harness is the harness that the payload's marks indicate; empty if it has
	// none.
	Harness hub.Harness
	// SessionID is the harness's own name for the session.
	SessionID string
	// Transcript is the path of the session's transcript.
	Transcript string
	// Folders are absolute paths in which the agent works, the likeliest first.
	Folders []string
	// Source says why a session begins: startup, resume, clear, compact, fork.
	Source string
	// Reason says why a session ends, such as clear, resume or other.
	Reason string
	// SubAgent: the event is from a helper that the agent started.
	SubAgent bool
	// SubName is the harness's name for that helper, or the digest of a long one; may be
	// empty.
	SubName string
	// Under is the session of the agent that started that helper, where SessionID is the
	// helper's own; else empty.
	Under string
	// Active: the turn already continues because a hook held it.
	Active bool
	// Aborted: the user or an error ended the turn.
	Aborted bool
	// Names is the latest message that a prompt names which was made of what a watch has printed, or that
	// the plugin of the harness says to have shown; 0: there is none.
	Names hub.MessageID
	// Background are the commands of processes that run for the agent.
	Background []string
	// Tool is the name of the tool that the event is about.
	Tool string
	// Call is the harness's id of the call of that tool.
	Call string
	// Input is what the tool is called with, in the harness's form.
	Input json.RawMessage
	// Failed: the tool has ended with an error, as Gemini CLI says it.
	Failed bool
	// Files are the files that a tool is about to change, as the harness names
	// them.
	Files []string
	// Elsewhere: the event is a notification, and not about a tool that the user is
	// asked for.
	Elsewhere bool
	// Error is the kind of error that the event is about, where it is a plain word.
	Error string
	// Task is the task of the harness's own list that the event is about.
	Task OwnTask
	// Meta is the _meta of the call of that tool, as far as the harness has set it.
	Meta json.RawMessage
	// Damaged: the input is not a JSON object or ended early. The other fields
	// hold what could be read.
	Damaged bool
}

// Parse reads a payload. It never fails: an empty one has no fields, and of a
// damaged one the fields before the damage are read. A byte order mark and
// UTF-16 are taken.
func Parse(b []byte) Payload {
	b = bytes.TrimSpace(decodeText(b))
	if len(b) == 0 {
		return Payload{}
	}
	f, whole := members(b)
	p := Payload{
		Damaged:    !whole,
		SessionID:  clip(f.text("session_id", "sessionId", "conversation_id"), maxSessionText),
		Transcript: clip(f.text("transcript_path", "transcriptPath"), maxPathBytes),
		Source:     strings.ToLower(clip(f.text("source"), 32)),
		Reason:     strings.ToLower(clip(f.text("reason"), 32)),
		Active:     f.truth("stop_hook_active", "stopHookActive") || f.number("loop_count", "loopCount") > 0,
		Folders:    f.folders(),
		Background: f.background(),
		Names:      f.names(),
		Tool:       clip(f.tool(), hub.MaxNameChars),
		Call:       clip(f.text("tool_use_id", "toolCallId"), maxSessionText),
		SubName:    nameOf(f.text("agent_id", "agentId"), maxSessionText),
		Input:      f.input(),
		Meta:       f["_meta"],
		Task:       f.ownTask(),
		Files:      f.files(),
	}
	if why := f.text("errorContext", "error"); hub.PlainWord(why) {
		p.Error = why
	}
	event := strings.ToLower(f.text("hook_event_name", "hookEventName", "event"))
	p.Harness = f.harness(event)
	response, _ := members(f["tool_response"])
	p.Failed = response.has("error")
	if event == "notification" {
		p.Elsewhere = !slices.Contains(aboutTools, f.text("notification_type"))
		p.Tool = clip(f.toolOfNotification(), hub.MaxNameChars)
	}
	if p.SubName == mainAgent {
		p.SubName = ""
	}
	// Only the id is proof: a main session with a role also sends agent_type.
	p.SubAgent = p.SubName != "" || strings.HasPrefix(event, "subagent")
	if p.SubAgent && f.text("agentId") == p.SessionID {
		p.Under = clip(f.text("parentAgentId"), maxSessionText)
	}
	p.Aborted = f.truth("is_interrupt") || event == "interrupt" || event == "sessionend" ||
		ended()[strings.ToLower(f.text("status"))] || ended()[strings.ToLower(f.text("stopReason", "stop_reason"))]
	return p
}

// mainAgent is the id by which Kimi Code names the agent that is no helper.
const mainAgent = "main"

// ended holds the reasons with which a user or an error ends a turn.
var ended = sync.OnceValue(func() map[string]bool {
	return map[string]bool{
		"aborted": true, "abort": true, "cancelled": true, "canceled": true, "interrupted": true, "error": true,
	}
})

// decodeText strips a byte order mark and turns UTF-16, which some shells of
// Windows pipe, into UTF-8.
func decodeText(b []byte) []byte {
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(b, []byte("\xef\xbb\xbf")):
		return b[3:]
	case bytes.HasPrefix(b, []byte("\xff\xfe")):
		b, order = b[2:], binary.LittleEndian
	case bytes.HasPrefix(b, []byte("\xfe\xff")):
		b, order = b[2:], binary.BigEndian
	case bytes.HasPrefix(b, []byte("{\x00")):
		order = binary.LittleEndian
	case bytes.HasPrefix(b, []byte("\x00{")):
		order = binary.BigEndian
	default:
		return b
	}
	units := make([]uint16, len(b)/2)
	for i := range units {
		units[i] = order.Uint16(b[2*i:])
	}
	return []byte(string(utf16.Decode(units)))
}

// fields are the members of a payload.
type fields map[string]json.RawMessage

// members reads an object member by member, so that it returns the first
// members of an object that was cut off. whole says that the object was
// complete.
func members(b []byte) (f fields, whole bool) {
	f = fields{}
	dec := json.NewDecoder(bytes.NewReader(b))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return f, false
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return f, false
		}
		name, ok := key.(string)
		var value json.RawMessage
		if !ok || dec.Decode(&value) != nil {
			return f, false
		}
		f[name] = value
	}
	_, err := dec.Token()
	return f, err == nil
}

// has reports whether one of the names is there and not null.
func (f fields) has(names ...string) bool {
	for _, name := range names {
		if v, ok := f[name]; ok && string(v) != "null" {
			return true
		}
	}
	return false
}

// text returns the first of the names that is a string and not empty.
func (f fields) text(names ...string) string {
	for _, name := range names {
		var s string
		if json.Unmarshal(f[name], &s) == nil && s != "" {
			return s
		}
	}
	return ""
}

func (f fields) truth(names ...string) bool {
	for _, name := range names {
		var b bool
		if json.Unmarshal(f[name], &b) == nil && b {
			return true
		}
	}
	return false
}

func (f fields) number(names ...string) float64 {
	for _, name := range names {
		var n float64
		if f.has(name) && json.Unmarshal(f[name], &n) == nil {
			return n
		}
	}
	return 0
}

// names returns the latest message that a prompt names as News does, or that the plugin of a harness
// says to have shown.
func (f fields) names() (latest hub.MessageID) {
	if shown := f.number("hub_told_id"); shown >= 1 && shown <= hub.MaxMessageID {
		latest = hub.MessageID(shown)
	}
	prompt := f.text("prompt")
	for _, part := range strings.Split(prompt, "#")[1:] {
		digits, _, ok := strings.Cut(part, " from ")
		if id, err := strconv.ParseInt(digits, 10, 64); ok && err == nil && id <= hub.MaxMessageID {
			latest = max(latest, hub.MessageID(id))
		}
	}
	return latest
}

// harness recognizes a harness by marks that only it puts into its payloads.
func (f fields) harness(event string) hub.Harness {
	var at float64
	numeric := f.has("timestamp") && json.Unmarshal(f["timestamp"], &at) == nil
	switch {
	case f.has("cursor_version", "conversation_id"):
		return hub.HarnessCursor
	case event == "beforeagent", event == "beforetool", event == "aftertool", event == "afteragent":
		return hub.HarnessGeminiCLI
	case f.has("turn_id"):
		return hub.HarnessCodex
	case f.has("sessionId") && f.has("hookEventName"):
		return hub.HarnessVSCode
	case f.has("sessionId") && numeric:
		return hub.HarnessCopilotCLI
	case f.has("event") && f.has("session_id"):
		return hub.HarnessGoose
	case f.has("background_tasks", "session_crons", "prompt_id"):
		return hub.HarnessClaudeCode
	}
	return ""
}

// tool returns the name of the tool. Where the server of it is named apart, the name is made as
// Copilot CLI makes it for its model.
func (f fields) tool() string {
	tool := f.text("tool_name", "toolName")
	if server := f.text("serverName"); server != "" && tool != "" {
		return server + "-" + tool
	}
	return tool
}

// folders lists the folders in which the agent works.
func (f fields) folders() []string {
	named := []string{f.text("cwd"), f.text("working_dir")}
	var roots []json.RawMessage
	_ = json.Unmarshal(f["workspace_roots"], &roots) // not there, or not a list: none
	for _, raw := range roots[:min(len(roots), maxFolders)] {
		named = append(named, fields{"root": raw}.text("root"))
	}
	var list []string
	for _, dir := range named {
		if filepath.IsAbs(dir) && len(dir) <= maxPathBytes && !strings.ContainsRune(dir, 0) {
			list = append(list, dir)
		}
	}
	return list
}

// background lists the commands that still run for the agent.
func (f fields) background() []string {
	var tasks []json.RawMessage
	_ = json.Unmarshal(f["background_tasks"], &tasks) // not there, or not a list: none
	var list []string
	for _, raw := range tasks[:min(len(tasks), maxBackground)] {
		task, _ := members(raw)
		switch status := strings.ToLower(task.text("status")); status {
		case "", "running", "pending":
			if command := task.text("command"); command != "" {
				list = append(list, command)
			}
		}
	}
	return list
}

// nameOf returns a digest for a text that is longer than max: a sub-agent with a long name is
// a sub-agent still.
func nameOf(s string, max int) string {
	if len(s) > max {
		return identity.Key(s)
	}
	return s
}

// clip returns "" for a text that is longer than max.
func clip(s string, max int) string {
	if len(s) > max {
		return ""
	}
	return s
}
