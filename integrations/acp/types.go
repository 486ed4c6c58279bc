package acp

import (
	"encoding/json"
	"fmt"
)

// The protocol's version, which both sides must speak.
const protocolVersion = 1

// Info is what a harness says about itself.
type Info struct {
	Name, Title, Version string
	LoadsSessions        bool     // it takes LoadSession
	Logins               []string // names of the ways to log in
}

// Server is an MCP server that a session gets.
type Server struct {
	Name    string     `json:"name"`
	Command string     `json:"command"`
	Args    []string   `json:"args"`
	Env     []Variable `json:"env"`
}

// Variable is one variable of an environment.
type Variable struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// StopReason says why a turn has ended.
type StopReason string

// The reasons that this client tells apart.
const (
	EndOfTurn StopReason = "end_turn"
	Cancelled StopReason = "cancelled"
	Refusal   StopReason = "refusal"
)

// UpdateKind is the kind of an Update.
type UpdateKind string

// The kinds that this client knows. A harness may send others.
const (
	UserText   UpdateKind = "user_message_chunk"
	AgentText  UpdateKind = "agent_message_chunk"
	Thought    UpdateKind = "agent_thought_chunk"
	ToolBegins UpdateKind = "tool_call"
	ToolGoesOn UpdateKind = "tool_call_update"
	PlanIs     UpdateKind = "plan"
)

// Update is what a harness tells of its turn.
type Update struct {
	Session string
	Kind    UpdateKind
	Text    string // of a chunk, if it is text
	Tool    Tool   // of a tool call
	Plan    []string
}

// Tool is a call of a tool. Members that the harness leaves out are empty.
type Tool struct {
	ID     string
	Title  string
	Kind   string // read, edit, delete, move, search, execute, think, fetch, other
	Status string // pending, in_progress, completed, failed
	Paths  []string
	Diffs  []Diff
	Input  json.RawMessage
}

// Diff is a change of a file that a tool makes or wants to make.
type Diff struct{ Path, Old, New string }

// Question asks the user whether a tool may run.
type Question struct {
	Session string
	Tool    Tool
	Options []Option
}

// OptionKind says what an option means.
type OptionKind string

// The kinds of options.
const (
	AllowOnce    OptionKind = "allow_once"
	AllowAlways  OptionKind = "allow_always"
	RejectOnce   OptionKind = "reject_once"
	RejectAlways OptionKind = "reject_always"
)

// Option is one answer that the harness takes.
type Option struct {
	ID   string     `json:"optionId"`
	Name string     `json:"name"`
	Kind OptionKind `json:"kind"`
}

// Choice returns the first option of the first of the kinds that is there.
func (q *Question) Choice(kinds ...OptionKind) (id string, ok bool) {
	for _, kind := range kinds {
		for _, o := range q.Options {
			if o.Kind == kind {
				return o.ID, true
			}
		}
	}
	return "", false
}

// Error is a refusal of the harness.
type Error struct {
	Code    int
	Message string
}

func (e *Error) Error() string { return fmt.Sprintf("%s (error %d)", e.Message, e.Code) }

// authRequired is the code of a harness whose user has not logged in.
const authRequired = -32000

// NeedsLogin reports whether the harness refused because its user has not logged in.
func (e *Error) NeedsLogin() bool { return e.Code == authRequired }

// Bounds of the lists in a message of the harness.
const (
	maxOptions = 20
	maxPaths   = 64
	maxPlan    = 100
)

// wireTool is a tool call on the wire.
type wireTool struct {
	ID        string          `json:"toolCallId"`
	Title     string          `json:"title"`
	Kind      string          `json:"kind"`
	Status    string          `json:"status"`
	RawInput  json.RawMessage `json:"rawInput"`
	Locations []struct {
		Path string `json:"path"`
	} `json:"locations"`
}

// wireContent is one part of a tool call's content.
type wireContent struct {
	Type    string `json:"type"`
	Path    string `json:"path"`
	OldText string `json:"oldText"`
	NewText string `json:"newText"`
}

// tool reads a tool call and the diffs of its content.
func (w *wireTool) tool(content json.RawMessage) Tool {
	t := Tool{ID: w.ID, Title: w.Title, Kind: w.Kind, Status: w.Status, Input: w.RawInput}
	for _, l := range w.Locations[:min(len(w.Locations), maxPaths)] {
		t.Paths = append(t.Paths, l.Path)
	}
	var parts []wireContent
	_ = json.Unmarshal(content, &parts) // content of another form has no diff
	for _, p := range parts[:min(len(parts), maxPaths)] {
		if p.Type == "diff" {
			t.Diffs = append(t.Diffs, Diff{Path: p.Path, Old: p.OldText, New: p.NewText})
		}
	}
	return t
}

// update reads the parameters of session/update.
func update(params json.RawMessage) (Update, error) {
	var w struct {
		Session string `json:"sessionId"`
		Update  struct {
			wireTool
			SessionUpdate UpdateKind      `json:"sessionUpdate"`
			Content       json.RawMessage `json:"content"`
			Entries       []struct {
				Content string `json:"content"`
				Status  string `json:"status"`
			} `json:"entries"`
		} `json:"update"`
	}
	if err := json.Unmarshal(params, &w); err != nil {
		return Update{}, err
	}
	u := Update{Session: w.Session, Kind: w.Update.SessionUpdate}
	switch u.Kind {
	case UserText, AgentText, Thought:
		var block struct {
			Text string `json:"text"`
		}
		_ = json.Unmarshal(w.Update.Content, &block) // an image has no text
		u.Text = block.Text
	case ToolBegins, ToolGoesOn:
		u.Tool = w.Update.tool(w.Update.Content)
	case PlanIs:
		for _, e := range w.Update.Entries[:min(len(w.Update.Entries), maxPlan)] {
			u.Plan = append(u.Plan, e.Status+": "+e.Content)
		}
	}
	return u, nil
}

// question reads the parameters of session/request_permission.
func question(params json.RawMessage) (Question, error) {
	var w struct {
		Session string   `json:"sessionId"`
		Options []Option `json:"options"`
		Tool    struct {
			wireTool
			Content json.RawMessage `json:"content"`
		} `json:"toolCall"`
	}
	if err := json.Unmarshal(params, &w); err != nil {
		return Question{}, err
	}
	return Question{Session: w.Session, Tool: w.Tool.tool(w.Tool.Content), Options: w.Options[:min(len(w.Options), maxOptions)]}, nil
}
